package packet

import (
	"encoding/binary"
	"math/bits"
)

// Sum adds b, read as big-endian 16-bit words (an odd last byte is padded with
// zero), to the running one's complement sum. Fold finishes it (RFC 1071).
func Sum(b []byte, sum uint32) uint32 {
	wide, carry := uint64(sum), uint64(0)
	for len(b) >= 32 {
		wide, carry = bits.Add64(wide, binary.BigEndian.Uint64(b), carry)
		wide, carry = bits.Add64(wide, binary.BigEndian.Uint64(b[8:]), carry)
		wide, carry = bits.Add64(wide, binary.BigEndian.Uint64(b[16:]), carry)
		wide, carry = bits.Add64(wide, binary.BigEndian.Uint64(b[24:]), carry)
		b = b[32:]
	}
	for len(b) >= 8 {
		wide, carry = bits.Add64(wide, binary.BigEndian.Uint64(b), carry)
		b = b[8:]
	}
	rest := carry
	if len(b) >= 4 {
		rest += uint64(binary.BigEndian.Uint32(b))
		b = b[4:]
	}
	if len(b) >= 2 {
		rest += uint64(binary.BigEndian.Uint16(b))
		b = b[2:]
	}
	if len(b) == 1 {
		rest += uint64(b[0]) << 8
	}
	wide = wide>>32 + wide&0xffffffff + rest
	return uint32(wide&0xffff + wide>>16&0xffff + wide>>32)
}

// Fold reduces a running sum to its 16-bit one's complement checksum.
func Fold(sum uint32) uint16 {
	sum = sum&0xffff + sum>>16
	return ^uint16(sum + sum>>16)
}

// Checksum is the internet checksum of b (RFC 1071). Over data that already
// holds a correct checksum it is 0.
func Checksum(b []byte) uint16 { return Fold(Sum(b, 0)) }

// PseudoSum starts the sum of a transport checksum over IPv4: addresses, protocol
// and length in bytes of the transport header with its payload (RFC 9293 3.1, RFC 768).
func PseudoSum(src, dst [4]byte, proto uint8, length int) uint32 {
	a, b := binary.BigEndian.Uint32(src[:]), binary.BigEndian.Uint32(dst[:])
	return a>>16 + a&0xffff + b>>16 + b&0xffff + uint32(proto) + uint32(length)
}

// Update16 gives the checksum after one 16-bit word covered by it changed from
// old to new: HC' = ~(~HC + ~m + m') (RFC 1624, equation 3). A wrong checksum
// stays wrong by the same difference.
func Update16(csum, old, new uint16) uint16 {
	return Fold(uint32(^csum) + uint32(^old) + uint32(new))
}

// Update32 is Update16 for a 32-bit word, such as an IPv4 address.
func Update32(csum uint16, old, new uint32) uint16 {
	return Fold(uint32(^csum) + ^old>>16 + ^old&0xffff + new>>16 + new&0xffff)
}

// Word reads the big-endian 16-bit word at b[at:].
func Word(b []byte, at int) uint16 { return binary.BigEndian.Uint16(b[at:]) }
