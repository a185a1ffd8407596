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

func (e endpoint) addrBytes() (a [4]byte) {
	binary.BigEndian.PutUint32(a[:], e.addr())
	return a
}

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

// hash is the same for a key and its reverse, so that one chain holds both.
func (k *key) hash() uint64 {
	h := mix(uint64(k.src)) + mix(uint64(k.dst))
	return mix(h + uint64(k.zone)<<8 + uint64(k.proto))
}

// mix spreads the bits of x over the whole word (a folded multiplication).
func mix(x uint64) uint64 {
	hi, lo := bits.Mul64(x^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return hi ^ lo
}

// tuple is the public form of the key.
func (k *key) tuple() Tuple {
	t := Tuple{Src: k.src.addrBytes(), Dst: k.dst.addrBytes(), Proto: k.proto}
	if k.proto == protoICMP {
		t.ID = k.src.port()
		t.SrcPort = uint16(k.src.icmpType())
		t.DstPort = uint16(byte(k.src))
		return t
	}
	t.SrcPort, t.DstPort = k.src.port(), k.dst.port()
	return t
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
