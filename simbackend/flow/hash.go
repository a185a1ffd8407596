package flow

import (
	"math/bits"

	of "hpnn/datapath/openflow"
)

// Hash is the 32-bit hash that multipath makes of a frame's current fields. For eth_src, nw_src,
// nw_dst, symmetric_l4 and symmetric_l3 every little-endian build of the switch computes the same;
// for symmetric_l3l4 this is the answer of builds without CRC32 instructions, such as Debian's.
func Hash(k *Key, fields of.HashFields, basis uint16) uint32 {
	switch b := uint32(basis); fields {
	case of.HashEthSrc:
		j := newJenkins(6, b)
		return j.final(macWords(k[wordSrc]))
	case of.HashNwSrc:
		return hashAddress(k, uint32(k[wordIPv4]>>32), wordIPv6, b)
	case of.HashNwDst:
		return hashAddress(k, uint32(k[wordIPv4]), wordIPv6+2, b)
	case of.HashSymmetricL4:
		return hashSymmetricL4(k, b)
	case of.HashSymmetricL3:
		return hashSymmetricL3(k, b)
	case of.HashSymmetricL3L4:
		return hashSymmetricL3L4(k, b, false)
	case of.HashSymmetricL3L4UDP:
		return hashSymmetricL3L4(k, b, true)
	}
	panic("flow: hash of unknown fields")
}

// le is the little-endian reading of four bytes that are big-endian in a Key.
func le(v uint64) uint32 { return bits.ReverseBytes32(uint32(v)) }

// macWords is an address as two little-endian words, padded with zeros, and a third of zeros.
func macWords(mac uint64) (a, b, c uint32) { return le(mac >> 16), le(mac << 16), 0 }

// hashAddress hashes one address. A frame without one hashes to the basis.
func hashAddress(k *Key, v4 uint32, v6 int, basis uint32) uint32 {
	switch k.ethType() {
	case of.EthTypeIPv4:
		j := newJenkins(4, basis)
		return j.final(bits.ReverseBytes32(v4), 0, 0)
	case of.EthTypeIPv6:
		j := newJenkins(16, basis)
		j.mix(le(k[v6]>>32), le(k[v6]), le(k[v6+1]>>32))
		return j.final(le(k[v6+1]), 0, 0)
	}
	return basis
}

// addressXOR is source xor destination, as 16 bytes of which IPv4 fills the first four.
func addressXOR(k *Key) (hi, lo uint64) {
	switch k.ethType() {
	case of.EthTypeIPv4:
		return (k[wordIPv4] ^ k[wordIPv4]<<32) &^ 0xffffffff, 0
	case of.EthTypeIPv6:
		return k[wordIPv6] ^ k[wordIPv6+2], k[wordIPv6+1] ^ k[wordIPv6+3]
	}
	return 0, 0
}

// typeAndVLAN is the Ethernet type and the xor of the VLAN ids.
func typeAndVLAN(k *Key) uint32 {
	return le(uint64(k.ethType())<<16 | (uint64(k.tci())^k[wordTags])&vidBits)
}

func hashSymmetricL4(k *Key, basis uint32) uint32 {
	hi, lo := addressXOR(k)
	mac := k[wordSrc] ^ k[wordDst]
	var proto uint8
	var ports uint16
	if k.isIP() {
		if proto = k.proto(); proto == of.ProtoTCP || proto == of.ProtoSCTP {
			ports = k.tpSrc() ^ k.tpDst()
		}
	}
	j := newJenkins(32, basis)
	j.mix(le(hi>>32), le(hi), le(lo>>32))
	j.mix(le(lo), typeAndVLAN(k), le(uint64(ports)<<16|mac>>32))
	return j.final(le(mac), uint32(proto), 0)
}

func hashSymmetricL3(k *Key, basis uint32) uint32 {
	hi, lo := addressXOR(k)
	j := newJenkins(20, basis)
	j.mix(le(hi>>32), le(hi), le(lo>>32))
	return j.final(le(lo), le(uint64(k.ethType())<<16), 0)
}

// hashSymmetricL3L4 takes the ports of TCP and SCTP, and of UDP if asked, unless the frame is a
// fragment. A frame that is not IP is hashed by its Ethernet header.
func hashSymmetricL3L4(k *Key, basis uint32, udp bool) uint32 {
	if !k.isIP() {
		a, b, _ := macWords(k[wordSrc] ^ k[wordDst])
		return murmurFinish(murmurAdd(murmurAdd(murmurAdd(basis, typeAndVLAN(k)), a), b), basis)
	}
	hi, lo := addressXOR(k)
	h := murmurAdd(basis, le(hi>>32))
	if k.ethType() == of.EthTypeIPv6 {
		h = murmurAdd(murmurAdd(murmurAdd(h, le(hi)), le(lo>>32)), le(lo))
	}
	proto := k.proto()
	h = murmurAdd(h, uint32(proto))
	if k.frag() == of.FragNo && (proto == of.ProtoTCP || proto == of.ProtoSCTP || proto == of.ProtoUDP && udp) {
		h = murmurAdd(h, uint32(bits.ReverseBytes16(k.tpSrc()^k.tpDst())))
	}
	return murmurFinish(h, basis)
}

// jenkins is Bob Jenkins's lookup3 as OVS uses it: three words at a time, and a final step only if
// something is left for it.
type jenkins struct{ a, b, c uint32 }

func newJenkins(bytes, basis uint32) jenkins {
	v := 0xdeadbeef + bytes + basis
	return jenkins{v, v, v}
}

func (j *jenkins) mix(x, y, z uint32) {
	a, b, c := j.a+x, j.b+y, j.c+z
	a = (a - c) ^ bits.RotateLeft32(c, 4)
	c += b
	b = (b - a) ^ bits.RotateLeft32(a, 6)
	a += c
	c = (c - b) ^ bits.RotateLeft32(b, 8)
	b += a
	a = (a - c) ^ bits.RotateLeft32(c, 16)
	c += b
	b = (b - a) ^ bits.RotateLeft32(a, 19)
	a += c
	c = (c - b) ^ bits.RotateLeft32(b, 4)
	b += a
	j.a, j.b, j.c = a, b, c
}

func (j *jenkins) final(x, y, z uint32) uint32 {
	a, b, c := j.a+x, j.b+y, j.c+z
	c = (c ^ b) - bits.RotateLeft32(b, 14)
	a = (a ^ c) - bits.RotateLeft32(c, 11)
	b = (b ^ a) - bits.RotateLeft32(a, 25)
	c = (c ^ b) - bits.RotateLeft32(b, 16)
	a = (a ^ c) - bits.RotateLeft32(c, 4)
	b = (b ^ a) - bits.RotateLeft32(a, 14)
	return (c ^ b) - bits.RotateLeft32(b, 24)
}

// murmurAdd adds a word to a hash in the manner of MurmurHash3.
func murmurAdd(h, word uint32) uint32 {
	word = bits.RotateLeft32(word*0xcc9e2d51, 15) * 0x1b873593
	return bits.RotateLeft32(h^word, 13)*5 + 0xe6546b64
}

func murmurFinish(h, x uint32) uint32 {
	h ^= x
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// murmurPair is the hash of two words.
func murmurPair(x, y uint32) uint32 { return murmurFinish(murmurAdd(murmurAdd(x, 0), y), 8) }
