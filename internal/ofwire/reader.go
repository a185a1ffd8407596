package ofwire

import (
	"encoding/binary"

	of "hpnn/datapath/openflow"
)

// A reader takes bytes from the front and remembers the first thing that it did not understand; after
// that, it reads zeros.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.b = nil
}

var zeros [16]byte

// take is the next n bytes.
func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.fail(foreign("ends early: %d bytes are left, %d are needed", len(r.b), n))
		return zeros[:min(max(n, 0), len(zeros))]
	}
	taken := r.b[:n:n]
	r.b = r.b[n:]
	return taken
}

func (r *reader) u8() uint8   { return r.take(1)[0] }
func (r *reader) u16() uint16 { return binary.BigEndian.Uint16(r.take(2)) }
func (r *reader) u32() uint32 { return binary.BigEndian.Uint32(r.take(4)) }
func (r *reader) u64() uint64 { return binary.BigEndian.Uint64(r.take(8)) }

func (r *reader) skip(n int) { r.take(n) }

// flag is a byte or a word whose bits all have a meaning.
func (r *reader) known(v, known uint16, what string) uint16 {
	if v&^known != 0 {
		r.fail(foreign("%s %#x are not supported", what, v))
	}
	return v
}

// value is an unsigned integer of n bytes, n <= 16.
func (r *reader) value(n int) of.Value {
	var all [16]byte
	copy(all[16-n:], r.take(n))
	return of.Value{Hi: binary.BigEndian.Uint64(all[:8]), Lo: binary.BigEndian.Uint64(all[8:])}
}

// section is a reader of the next n bytes.
func (r *reader) section(n int) reader {
	if n < 0 || n > len(r.b) {
		r.fail(foreign("ends early: %d bytes are left, %d are needed", len(r.b), n))
		return reader{}
	}
	return reader{b: r.take(n)}
}

// part is what follows a type and a length, up to that length, which is a multiple of eight.
func (r *reader) part() (kind uint16, body reader) {
	kind = r.u16()
	length := int(r.u16())
	if r.err == nil && (length < 8 || length%8 != 0) {
		r.fail(foreign("a part of %d bytes", length))
	}
	return kind, r.section(length - 4)
}

// join takes over what a section did not understand.
func (r *reader) join(s reader) {
	if s.err != nil {
		r.fail(s.err)
	}
}

// oxm is the next field with value and mask, its code as it was.
func (r *reader) oxm() (c code, v, mask of.Value, n int) {
	h := r.u32()
	n = int(h & 0xff)
	masked := h&(1<<8) != 0
	if masked {
		n /= 2
	}
	if n > 16 || n == 0 || masked && h&1 != 0 {
		r.fail(foreign("field %#x: %d bytes", h, h&0xff))
		return 0, of.Value{}, of.Value{}, 1
	}
	v, mask = r.value(n), of.Ones(8*n)
	if masked {
		mask = r.value(n)
	}
	return code(h >> 9), v, mask, n
}

// field finds the field of a code and the number of bytes of its value.
func (r *reader) field(c code, n int) of.Field {
	f, ok := fieldOf[c]
	switch {
	case r.err != nil:
	case !ok:
		r.fail(foreign("field %d of class %#x is not supported", c&0x7f, c>>7))
	case n != size(f):
		r.fail(foreign("%v of %d bytes", f, n))
	}
	return f
}

// name is the next four bytes: a field without a value.
func (r *reader) name() of.Field {
	h := r.u32()
	if h&(1<<8) != 0 {
		r.fail(foreign("field %#x: a mask without a value", h))
	}
	return r.field(code(h>>9), int(h&0xff))
}
