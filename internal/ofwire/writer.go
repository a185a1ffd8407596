package ofwire

import (
	"encoding/binary"

	of "hpnn/datapath/openflow"
)

// A writer appends to bytes and remembers the first thing that it could not say.
type writer struct {
	b   []byte
	err error
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *writer) u8(v uint8)   { w.b = append(w.b, v) }
func (w *writer) u16(v uint16) { w.b = binary.BigEndian.AppendUint16(w.b, v) }
func (w *writer) u32(v uint32) { w.b = binary.BigEndian.AppendUint32(w.b, v) }
func (w *writer) u64(v uint64) { w.b = binary.BigEndian.AppendUint64(w.b, v) }

// zero appends n zero bytes, 0 <= n <= 16.
func (w *writer) zero(n int) {
	var zeros [16]byte
	w.b = append(w.b, zeros[:n]...)
}

// pad appends zeros until what was written since start is a multiple of eight.
func (w *writer) pad(start int) { w.zero((8 - (len(w.b)-start)%8) % 8) }

// value appends the low n bytes of v.
func (w *writer) value(v of.Value, n int) {
	var all [16]byte
	binary.BigEndian.PutUint64(all[:8], v.Hi)
	binary.BigEndian.PutUint64(all[8:], v.Lo)
	w.b = append(w.b, all[16-n:]...)
}

// begin starts a structure of a type and a length, which finish puts in.
func (w *writer) begin(kind uint16) (start int) {
	start = len(w.b)
	w.u16(kind)
	w.u16(0)
	return start
}

// finish ends a structure with padding that counts towards its length.
func (w *writer) finish(start int) {
	w.pad(start)
	w.setLength(start, 2)
}

// setLength puts the number of bytes since start into the two at start + offset.
func (w *writer) setLength(start, offset int) {
	n := len(w.b) - start
	if n > 0xffff {
		w.fail(&UnsupportedError{"message", "is longer than 65535 bytes"})
		return
	}
	binary.BigEndian.PutUint16(w.b[start+offset:], uint16(n))
}

// exact appends a field's header and value.
func (w *writer) exact(c code, n int, v of.Value) {
	w.u32(header(c, n, false))
	w.value(v, n)
}

// masked appends a field's header, value and mask.
func (w *writer) masked(c code, n int, v, mask of.Value) {
	w.u32(header(c, n, true))
	w.value(v, n)
	w.value(mask, n)
}

// oxm appends a field's header, value and, unless all of the field is meant, mask.
func (w *writer) oxm(f of.Field, v, mask of.Value) {
	switch c := codeTable[f].modern; {
	case v.Or(mask).BitLen() > f.Width():
		w.fail(&UnsupportedError{f.String(), "value or mask is wider than the field"})
	case mask == f.Mask():
		w.exact(c, size(f), v)
	default:
		w.masked(c, size(f), v, mask)
	}
}
