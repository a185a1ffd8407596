package packet

import (
	"errors"
	"fmt"
)

// Verify checks every checksum of a frame that can be checked: that of the IPv4 header,
// and those of TCP, UDP, ICMP and ICMPv6 unless the packet is a fragment, cut, or on its
// way along a source route. UDP over IPv4 may do without. What is no IP or does not hold
// as a header passes, as do packets quoted in ICMP errors. The error names every wrong
// checksum and the right one.
func Verify(frame []byte) error {
	v := verifier{frame: frame}
	for _, l := range dissect(frame) {
		if !l.inner {
			v.layer(l)
		}
	}
	return errors.Join(v.faults...)
}

// verifier walks the layers of a frame.
type verifier struct {
	frame    []byte
	src, dst []byte // addresses of the IP header met last
	whole    bool   // the packet is all there and for dst
	faults   []error
}

func (v *verifier) layer(l layer) {
	header := v.frame[l.at:l.end]
	switch l.kind {
	case ip4Kind:
		v.check(l.name, header, 10, 0)
		v.src, v.dst = header[12:16], header[16:20]
		v.whole = Word(header, 6)&0x3fff == 0 && l.limit <= len(v.frame)
	case ip6Kind:
		v.src, v.dst = header[8:24], header[24:40]
		v.whole = l.limit <= len(v.frame)
	case fragKind:
		v.whole = v.whole && Word(header, 2)&0xfff9 == 0
	case routingKind:
		v.whole = v.whole && header[3] == 0
	case tcpKind, udpKind, icmpKind, icmp6Kind:
		if v.whole {
			v.transport(l, v.frame[l.at:l.limit])
		}
	}
}

// transport checks a whole transport header with its payload.
func (v *verifier) transport(l layer, segment []byte) {
	switch l.kind {
	case tcpKind:
		v.check(l.name, segment, 16, pseudo(v.src, v.dst, ProtoTCP, len(segment)))
	case icmpKind:
		v.check(l.name, segment, 2, 0)
	case icmp6Kind:
		v.check(l.name, segment, 2, pseudo(v.src, v.dst, ProtoICMPv6, len(segment)))
	case udpKind:
		v.udp(l, segment)
	}
}

// udp checks a datagram of the length it claims, and passes one that claims nonsense.
func (v *verifier) udp(l layer, segment []byte) {
	size := int(Word(segment, 4))
	if size < 8 || size > len(segment) {
		return
	}
	if Word(segment, 6) == 0 {
		if len(v.src) == 16 {
			v.faults = append(v.faults, errors.New("udp checksum 0 is not allowed in IPv6"))
		}
		return
	}
	v.check(l.name, segment[:size], 6, pseudo(v.src, v.dst, ProtoUDP, size))
}

// check checks the checksum at an even offset of b, sum being what else it covers. It is
// judged as a receiver does, by adding up everything, since 0 has two spellings.
func (v *verifier) check(name string, b []byte, at int, sum uint32) {
	rest := Sum(b[at+2:], Sum(b[:at], sum))
	if have := Word(b, at); Fold(rest+uint32(have)) != 0 {
		v.faults = append(v.faults, fmt.Errorf("%s checksum %#04x, want %#04x", name, have, Fold(rest)))
	}
}
