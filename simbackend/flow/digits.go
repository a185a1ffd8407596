package flow

import (
	"math/bits"
	"strconv"
)

const hexDigits = "0123456789abcdef"

// octet is a byte in decimal, and the dot behind it.
type octet struct {
	text [4]byte
	n    uint8
}

var octets = func() (all [256]octet) {
	for i := range all {
		o := &all[i]
		o.n = uint8(copy(o.text[:], strconv.Itoa(i)+"."))
	}
	return all
}()

// appendIPv4 appends an address.
func appendIPv4(b []byte, a uint32) []byte {
	n := len(b)
	for shift := 24; shift >= 0; shift -= 8 {
		o := &octets[uint8(a>>shift)]
		b = append(b, o.text[:]...)
		n += int(o.n)
		b = b[:n]
	}
	return b[:n-1] // the last dot
}

// appendMAC appends an Ethernet address.
func appendMAC(b []byte, a uint64) []byte {
	t := [...]byte{2: ':', 5: ':', 8: ':', 11: ':', 14: ':', 16: 0}
	for i := range 6 {
		octet := uint8(a >> (40 - 8*i))
		t[3*i], t[3*i+1] = hexDigits[octet>>4], hexDigits[octet&15]
	}
	return append(b, t[:]...)
}

// AppendHex appends a number in hexadecimal, without a prefix.
func AppendHex(b []byte, v uint64) []byte {
	if v < 16 {
		return append(b, hexDigits[v])
	}
	var t [16]byte
	at := len(t)
	for ; v != 0; v >>= 4 {
		at--
		t[at] = hexDigits[v&15]
	}
	return append(b, t[at:]...)
}

// appendWide appends a number of 128 bits as C's %#x does: 0 has no prefix.
func appendWide(b []byte, hi, lo uint64) []byte {
	if hi|lo == 0 {
		return append(b, '0')
	}
	b = append(b, "0x"...)
	if hi == 0 {
		return AppendHex(b, lo)
	}
	b = AppendHex(b, hi)
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, hexDigits[lo>>shift&15])
	}
	return b
}

// appendDecimal appends a number.
func appendDecimal(b []byte, v uint64) []byte {
	if v < uint64(len(octets)) {
		return appendOctet(b, uint8(v))
	}
	if v >= 10_000 {
		if v >= 1_000_000 {
			return strconv.AppendUint(b, v, 10)
		}
		b = appendOctet(b, uint8(v/10_000))
		v %= 10_000
		b = append(b, '0'+byte(v/1000))
	} else if v >= 1000 {
		b = append(b, '0'+byte(v/1000))
	}
	return append(b, '0'+byte(v/100%10), '0'+byte(v/10%10), '0'+byte(v%10))
}

func appendOctet(b []byte, v uint8) []byte {
	o := &octets[v]
	n := len(b) + int(o.n) - 1 // without the dot
	return append(b, o.text[:]...)[:n]
}

// appendFlags appends the names of the bits of v.
func appendFlags(b []byte, v uint64, names []string) []byte {
	if v == 0 {
		return append(b, '0')
	}
	for {
		b = appendFlag(b, bits.TrailingZeros64(v), names)
		if v &= v - 1; v == 0 {
			return b
		}
		b = append(b, '|')
	}
}

// appendFlag appends the name of bit i, or the bit itself if it has none.
func appendFlag(b []byte, i int, names []string) []byte {
	if i < len(names) {
		return append(b, names[i]...)
	}
	return append(strconv.AppendUint(append(b, '['), 1<<i, 16), ']')
}
