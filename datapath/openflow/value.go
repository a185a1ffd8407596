package openflow

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
)

// Value is an unsigned integer of up to 128 bits: the content of any field, or a mask.
// Hi holds bits 127..64, Lo bits 63..0. Values are compared with ==.
type Value struct{ Hi, Lo uint64 }

// U64 is the Value v.
func U64(v uint64) Value { return Value{Lo: v} }

// MAC is an Ethernet address as a 48-bit Value.
func MAC(a [6]byte) Value {
	return Value{Lo: uint64(binary.BigEndian.Uint16(a[:2]))<<32 | uint64(binary.BigEndian.Uint32(a[2:]))}
}

// Addr is an IPv4 (32-bit) or IPv6 (128-bit) address as a Value. The zero Addr is 0.
func Addr(a netip.Addr) Value {
	switch {
	case a.Is4():
		b := a.As4()
		return Value{Lo: uint64(binary.BigEndian.Uint32(b[:]))}
	case a.Is6():
		b := a.As16()
		return Value{Hi: binary.BigEndian.Uint64(b[:8]), Lo: binary.BigEndian.Uint64(b[8:])}
	}
	return Value{}
}

// Ones is a Value of n one bits, 0 <= n <= 128: the full mask of a field n bits wide.
func Ones(n int) Value {
	switch {
	case n >= 128:
		return Value{^uint64(0), ^uint64(0)}
	case n > 64:
		return Value{1<<(n-64) - 1, ^uint64(0)}
	case n == 64:
		return Value{0, ^uint64(0)}
	}
	return Value{0, 1<<n - 1}
}

// PrefixMask is the mask of the top n bits of a field width bits wide.
func PrefixMask(n, width int) Value { return Ones(n).Shl(width - n) }

// And is v & w.
func (v Value) And(w Value) Value { return Value{v.Hi & w.Hi, v.Lo & w.Lo} }

// Or is v | w.
func (v Value) Or(w Value) Value { return Value{v.Hi | w.Hi, v.Lo | w.Lo} }

// AndNot is v &^ w.
func (v Value) AndNot(w Value) Value { return Value{v.Hi &^ w.Hi, v.Lo &^ w.Lo} }

// Shl is v << n, bits beyond 128 lost.
func (v Value) Shl(n int) Value {
	if n >= 64 {
		return Value{v.Lo << (n - 64), 0}
	}
	return Value{v.Hi<<n | v.Lo>>(64-n), v.Lo << n}
}

// Shr is v >> n.
func (v Value) Shr(n int) Value {
	if n >= 64 {
		return Value{0, v.Hi >> (n - 64)}
	}
	return Value{v.Hi >> n, v.Lo>>n | v.Hi<<(64-n)}
}

// IsZero reports whether v is 0.
func (v Value) IsZero() bool { return v == Value{} }

// BitLen is the number of bits needed to hold v.
func (v Value) BitLen() int {
	if v.Hi != 0 {
		return 64 + bits.Len64(v.Hi)
	}
	return bits.Len64(v.Lo)
}

// PrefixLen tells how many top bits of a width-bit mask are ones, and whether the rest
// are zeros, that is, whether the mask is a CIDR prefix.
func (v Value) PrefixLen(width int) (n int, ok bool) {
	n = width - Ones(width).AndNot(v).BitLen()
	return n, v == PrefixMask(n, width)
}

// Cmp orders values as unsigned integers: -1, 0 or 1.
func (v Value) Cmp(w Value) int {
	switch {
	case v == w:
		return 0
	case v.Hi < w.Hi, v.Hi == w.Hi && v.Lo < w.Lo:
		return -1
	}
	return 1
}
