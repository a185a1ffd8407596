package conntrack

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"strconv"
)

// IP protocol numbers the tracker treats specially (IANA).
const (
	protoICMP   = 1
	protoIGMP   = 2
	protoTCP    = 6
	protoUDP    = 17
	protoDCCP   = 33
	protoICMPv6 = 58
	protoSCTP   = 132
	protoLite   = 136
)

// Tuple names one direction of a connection. It is comparable.
//
// For ICMP, SrcPort holds the type and DstPort the code, as OVS puts them into
// ct_tp_src and ct_tp_dst, and ID the identifier. Protocols other than TCP, UDP and
// ICMP have zero ports.
type Tuple struct {
	Src, Dst         [4]byte
	SrcPort, DstPort uint16
	ID               uint16
	Proto            uint8
}

// String prints the tuple as dpctl/dump-conntrack does between its parentheses.
func (t Tuple) String() string { return string(t.append(nil)) }

func (t Tuple) append(b []byte) []byte {
	b = netip.AddrFrom4(t.Src).AppendTo(append(b, "src="...))
	b = netip.AddrFrom4(t.Dst).AppendTo(append(b, ",dst="...))
	if t.Proto == protoICMP || t.Proto == protoICMPv6 {
		b = appendNumber(b, ",id=", uint64(t.ID))
		b = appendNumber(b, ",type=", uint64(t.SrcPort))
		return appendNumber(b, ",code=", uint64(t.DstPort))
	}
	b = appendNumber(b, ",sport=", uint64(t.SrcPort))
	return appendNumber(b, ",dport=", uint64(t.DstPort))
}

func appendNumber(b []byte, name string, v uint64) []byte {
	return strconv.AppendUint(append(b, name...), v, 10)
}

// endpoint is one end of a key: address, port (or ICMP id), ICMP type, ICMP code.
type endpoint uint64

func newEndpoint(addr uint32, port uint16) endpoint {
	return endpoint(addr)<<32 | endpoint(port)<<16
}

func (e endpoint) addr() uint32   { return uint32(e >> 32) }
func (e endpoint) port() uint16   { return uint16(e >> 16) }
func (e endpoint) icmpType() byte { return byte(e >> 8) }

func (e endpoint) withAddr(a uint32) endpoint { return e&0xffffffff | endpoint(a)<<32 }
func (e endpoint) withPort(p uint16) endpoint { return e&^(0xffff<<16) | endpoint(p)<<16 }
func (e endpoint) withType(t byte) endpoint   { return e&^0xff00 | endpoint(t)<<8 }

// key is what a packet is looked up by: both ends, in the packet's direction.
type key struct {
	src, dst endpoint
	zone     uint16
	proto    uint8
}

func (k key) reverse() key {
	k.src, k.dst = k.dst, k.src
	return k
}

// hash is the same for a key and its reverse, so that one chain holds both. Its lowest bits, those of the place within a
// page of the index, follow the sum of the ports: so neighbouring ports of two hosts lie in neighbouring lines of one page,
// each in its own.
func (k *key) hash() uint32 {
	const near = 1<<pageBits - 1
	h := mix(uint64(k.src&^(near<<16))) + mix(uint64(k.dst&^(near<<16)))
	h = mix(h + uint64(k.zone)<<8 + uint64(k.proto))
	a, b := uint32(k.src.port()), uint32(k.dst.port())
	return uint32(h)&^near ^ (a^b)<<(32-pageBits) | (a+b+uint32(h>>32))&near
}

// pageBits is the number of lines of the index in a page of 4096 bytes, as a power of two.
const pageBits = 6

// mix spreads the bits of x over the whole word (a folded multiplication).
func mix(x uint64) uint64 {
	hi, lo := bits.Mul64(x^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return hi ^ lo
}

// tuple is the public form of the key.
func (k *key) tuple() (t Tuple) {
	k.write(&t)
	return t
}

// write makes t the public form of the key.
func (k *key) write(t *Tuple) {
	binary.BigEndian.PutUint32(t.Src[:], k.src.addr())
	binary.BigEndian.PutUint32(t.Dst[:], k.dst.addr())
	t.SrcPort, t.DstPort, t.ID, t.Proto = k.src.port(), k.dst.port(), 0, k.proto
	if k.proto == protoICMP {
		t.ID, t.SrcPort, t.DstPort = k.src.port(), uint16(k.src.icmpType()), uint16(byte(k.src))
	}
}

// keyOf is the key of a tuple in a zone; ok is false for an ICMP type that is not a
// query or its answer, which no connection has.
func keyOf(t Tuple, zone uint16) (k key, ok bool) {
	src, dst := binary.BigEndian.Uint32(t.Src[:]), binary.BigEndian.Uint32(t.Dst[:])
	k = key{zone: zone, proto: t.Proto}
	if t.Proto != protoICMP {
		k.src, k.dst = newEndpoint(src, t.SrcPort), newEndpoint(dst, t.DstPort)
		return k, true
	}
	back, ok := pairedType(byte(t.SrcPort))
	k.src = newEndpoint(src, t.ID).withType(byte(t.SrcPort)) | endpoint(byte(t.DstPort))
	k.dst = newEndpoint(dst, t.ID).withType(back) | endpoint(byte(t.DstPort))
	return k, ok
}
