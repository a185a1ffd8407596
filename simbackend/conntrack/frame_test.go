package conntrack_test

import (
	"encoding/binary"
	"fmt"
	"strings"

	"hpnn/internal/packet"
	"hpnn/simbackend/conntrack"
)

// Frames for tests: built by hand, so that any field can be wrong.

const (
	protoICMP = 1
	protoTCP  = 6
	protoUDP  = 17
)

// TCP flags by letter, as tcpdump prints them ('.' is ACK).
var flagLetters = map[rune]byte{'F': 1, 'S': 2, 'R': 4, 'P': 8, '.': 16, 'U': 32}

type addr = [4]byte

// flow is a packet's addresses and ports.
type flow struct {
	src, dst     addr
	sport, dport uint16
}

func (f flow) back() flow { return flow{f.dst, f.src, f.dport, f.sport} }

// ip4 is an IPv4 packet to be built.
type ip4 struct {
	src, dst addr
	proto    byte
	id       uint16
	fragment uint16 // flags and offset as on the wire
	options  []byte // a multiple of four bytes
	payload  []byte
	padding  int // bytes of Ethernet padding behind it
}

// frame puts the packet behind an Ethernet header.
func (p ip4) frame() []byte {
	f := make([]byte, 14, 14+20+len(p.options)+len(p.payload)+p.padding)
	copy(f, "\x0a\x00\x00\x00\x00\x02\x0a\x00\x00\x00\x00\x01\x08\x00")
	return append(append(f, p.bytes()...), make([]byte, p.padding)...)
}

func (p ip4) bytes() []byte {
	h := make([]byte, 20, 20+len(p.options)+len(p.payload))
	h[0] = 0x45 + byte(len(p.options)/4)
	put16(h, 2, uint16(20+len(p.options)+len(p.payload)))
	put16(h, 4, p.id)
	put16(h, 6, p.fragment)
	h[8], h[9] = 64, p.proto
	copy(h[12:], p.src[:])
	copy(h[16:], p.dst[:])
	h = append(h, p.options...)
	put16(h, 10, packet.Checksum(h))
	return append(h, p.payload...)
}

// tcp is a TCP segment to be built.
type tcp struct {
	flow
	flags    string
	seq, ack uint32
	window   uint16
	options  []byte
	payload  []byte
}

func (t tcp) ip() ip4 {
	b := make([]byte, 20, 20+len(t.options)+len(t.payload))
	put16(b, 0, t.sport)
	put16(b, 2, t.dport)
	binary.BigEndian.PutUint32(b[4:], t.seq)
	binary.BigEndian.PutUint32(b[8:], t.ack)
	b = append(b, t.options...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	b[12] = byte(len(b)/4) << 4
	for _, r := range t.flags {
		b[13] |= flagLetters[r]
	}
	put16(b, 14, t.window)
	b = append(b, t.payload...)
	put16(b, 16, l4sum(t.src, t.dst, protoTCP, b))
	return ip4{src: t.src, dst: t.dst, proto: protoTCP, payload: b}
}

func (t tcp) frame() []byte { return t.ip().frame() }

// udp is a UDP datagram to be built.
type udp struct {
	flow
	payload    []byte
	noChecksum bool
}

func (u udp) ip() ip4 {
	b := append(make([]byte, 8), u.payload...)
	put16(b, 0, u.sport)
	put16(b, 2, u.dport)
	put16(b, 4, uint16(len(b)))
	if !u.noChecksum {
		sum := l4sum(u.src, u.dst, protoUDP, b)
		if sum == 0 {
			sum = 0xffff
		}
		put16(b, 6, sum)
	}
	return ip4{src: u.src, dst: u.dst, proto: protoUDP, payload: b}
}

func (u udp) frame() []byte { return u.ip().frame() }

// icmp is an ICMP message to be built; rest is what follows the checksum.
type icmp struct {
	src, dst addr
	kind     byte
	code     byte
	rest     []byte
}

func echo(src, dst addr, kind byte, id, seq uint16) icmp {
	rest := make([]byte, 4, 12)
	put16(rest, 0, id)
	put16(rest, 2, seq)
	return icmp{src: src, dst: dst, kind: kind, rest: append(rest, "pingpong"...)}
}

// about is an error that quotes a packet, up to n bytes of it.
func about(src, dst addr, kind, code byte, quoted []byte, n int) icmp {
	quoted = quoted[:min(n, len(quoted))]
	return icmp{src: src, dst: dst, kind: kind, code: code, rest: append(make([]byte, 4), quoted...)}
}

func (i icmp) ip() ip4 {
	b := append([]byte{i.kind, i.code, 0, 0}, i.rest...)
	put16(b, 2, packet.Checksum(b))
	return ip4{src: i.src, dst: i.dst, proto: protoICMP, payload: b}
}

func (i icmp) frame() []byte { return i.ip().frame() }

func l4sum(src, dst addr, proto byte, b []byte) uint16 {
	return packet.Fold(packet.Sum(b, packet.PseudoSum(src, dst, proto, len(b))))
}

func put16(b []byte, at int, v uint16) { binary.BigEndian.PutUint16(b[at:], v) }

func ip(text string) (a addr) {
	if _, err := fmt.Sscanf(text, "%d.%d.%d.%d", &a[0], &a[1], &a[2], &a[3]); err != nil {
		panic("test address " + text)
	}
	return a
}

// newPacket puts a frame into the datapath.
func newPacket(frame []byte) *conntrack.Packet {
	p := &conntrack.Packet{Frame: frame}
	if len(frame) >= 14 {
		p.L3, p.EtherType = 14, packet.Word(frame, 12)
	}
	return p
}

// flowOf reads addresses and ports of a frame without IP options.
func flowOf(frame []byte) (f flow) {
	copy(f.src[:], frame[26:])
	copy(f.dst[:], frame[30:])
	if p := frame[23]; (p == protoTCP || p == protoUDP) && len(frame) >= 38 {
		f.sport, f.dport = packet.Word(frame, 34), packet.Word(frame, 36)
	}
	return f
}

func (f flow) String() string {
	return fmt.Sprintf("%s:%d>%s:%d", dotted(f.src), f.sport, dotted(f.dst), f.dport)
}

func dotted(a addr) string {
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(a)), "."), "[]")
}

// brief is a frame for a reader: TCP with flags and numbers, others with their start.
func brief(frame []byte) string {
	header := int(frame[14]&15) * 4
	b := frame[min(14+header, len(frame)):]
	if len(frame) < 54 || frame[23] != protoTCP || len(b) < 20 {
		return fmt.Sprintf("proto %d %s % x", frame[23], flowOf(frame), b[:min(len(b), 40)])
	}
	var flags strings.Builder
	for _, r := range "FSRP.U" {
		if b[13]&flagLetters[r] != 0 {
			flags.WriteRune(r)
		}
	}
	f := flowOf(frame)
	f.sport, f.dport = packet.Word(b, 0), packet.Word(b, 2)
	return fmt.Sprintf("tcp %s %s seq=%d ack=%d win=%d len=%d opt=%x", f, flags.String(), binary.BigEndian.Uint32(b[4:]),
		binary.BigEndian.Uint32(b[8:]), packet.Word(b, 14), int(packet.Word(frame, 16))-header-int(b[12]>>4)*4,
		b[20:min(len(b), max(20, int(b[12]>>4)*4))])
}
