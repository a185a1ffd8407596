package packet

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
)

// Summary is a frame in one line, in the manner of tcpdump:
//
//	TCP 192.168.5.13:40000 > 192.168.5.21:80 [S] seq 1 win 64240 len 0 ttl 64
//
// len is the payload's length in bytes as the headers tell it. Any bytes have a summary:
// what does not hold as a header is named and counted.
func Summary(frame []byte) string {
	s := summary{frame: frame, layers: dissect(frame)}
	if s.layers == nil || s.layers[0].kind != ethKind {
		return fmt.Sprintf("%d bytes, no Ethernet header", len(frame))
	}
	return s.line()
}

// summary writes the line, taking layer after layer off the front of those left.
type summary struct {
	frame  []byte
	layers []layer
}

// take gives the next layer and its bytes if it is of one of the kinds.
func (s *summary) take(kinds ...*kind) (l layer, header []byte, ok bool) {
	for _, k := range kinds {
		if len(s.layers) > 0 && s.layers[0].kind == k {
			l, s.layers = s.layers[0], s.layers[1:]
			return l, s.frame[l.at:l.end], true
		}
	}
	return layer{}, nil, false
}

// line is the whole line.
func (s *summary) line() string {
	eth, _, _ := s.take(ethKind)
	etherType, end, tags := Word(s.frame, 12), eth.end, ""
	for {
		tag, b, ok := s.take(vlanKind)
		if !ok {
			break
		}
		tags += fmt.Sprintf("vlan %d ", Word(b, 0)&0xfff)
		etherType, end = Word(b, 2), tag.end
	}
	if _, b, ok := s.take(arpKind); ok {
		return tags + arpLine(b)
	}
	if text, ok := s.ip(); ok {
		return tags + text
	}
	what := fmt.Sprintf("type %#04x", etherType)
	switch {
	case etherType == TypeIPv4 || etherType == TypeIPv6 || etherType == TypeARP:
		what += " malformed"
	case etherType < 0x600:
		what = "802.3"
	}
	return fmt.Sprintf("%s%s > %s %s len %d", tags, MAC(s.frame[6:12]), MAC(s.frame[:6]), what, len(s.frame)-end)
}

// arpLine describes an ARP message.
func arpLine(b []byte) string {
	sender, target := netip.AddrFrom4([4]byte(b[14:18])), netip.AddrFrom4([4]byte(b[24:28]))
	switch op := Word(b, 6); op {
	case OpRequest:
		return fmt.Sprintf("ARP who-has %s tell %s (%s)", target, sender, MAC(b[8:14]))
	case OpReply:
		return fmt.Sprintf("ARP reply %s is-at %s to %s", sender, MAC(b[8:14]), target)
	default:
		return fmt.Sprintf("ARP op %d %s > %s", op, sender, target)
	}
}

// network is what the transport's line needs of the IP header.
type network struct {
	src, dst netip.Addr
	ttl      uint8
	proto    uint8
	frag     string // " frag 1480+" of a fragment; "+" says more follow
	limit    int    // where the packet ends
}

// ip describes an IP packet; ok is false if there is none.
func (s *summary) ip() (text string, ok bool) {
	l, b, ok := s.take(ip4Kind, ip6Kind)
	if !ok {
		return "", false
	}
	n := network{limit: l.limit}
	next := l.end
	if l.kind == ip4Kind {
		n.src, n.dst = netip.AddrFrom4([4]byte(b[12:16])), netip.AddrFrom4([4]byte(b[16:20]))
		n.ttl, n.proto = b[8], b[9]
		n.fragment(int(Word(b, 6)&0x1fff)*8, Word(b, 6)&0x2000 != 0)
	} else {
		n.src, n.dst = netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40]))
		n.ttl, n.proto = b[7], b[6]
		next = s.extensions(&n, next)
	}
	text = s.transport(n, next) + fmt.Sprintf(" ttl %d%s", n.ttl, n.frag)
	if l.limit > len(s.frame) && !l.inner {
		text += fmt.Sprintf(" (cut: %d of %d bytes)", len(s.frame)-l.at, l.limit-l.at)
	}
	return text, true
}

// extensions steps over IPv6 extension headers and gives the end of the last.
func (s *summary) extensions(n *network, end int) int {
	for {
		l, b, ok := s.take(extKind, routingKind, fragKind)
		if !ok {
			return end
		}
		n.proto, end = b[0], l.end
		if l.kind == fragKind {
			n.fragment(int(Word(b, 2)&0xfff8), Word(b, 2)&1 != 0)
		}
	}
}

// fragment notes the place of a fragment.
func (n *network) fragment(offset int, more bool) {
	if offset == 0 && !more {
		return
	}
	n.frag = fmt.Sprintf(" frag %d", offset)
	if more {
		n.frag += "+"
	}
}

// transport describes what an IP packet carries from the offset on.
func (s *summary) transport(n network, at int) string {
	l, b, ok := s.take(tcpKind, udpKind, icmpKind, icmp6Kind)
	if !ok {
		return n.other(at)
	}
	size := n.limit - l.end
	switch l.kind {
	case tcpKind:
		return "TCP " + n.ends(b) + tcpText(b, size)
	case udpKind:
		return fmt.Sprintf("UDP %s len %d", n.ends(b), size)
	}
	text := fmt.Sprintf("%s %s > %s %s", strings.ToUpper(l.name), n.src, n.dst, icmpText(l.kind, b, size))
	if quoted, ok := s.ip(); ok {
		text += " about {" + quoted + "}"
	}
	return text
}

// other describes a packet without a transport header that is known or holds.
func (n network) other(at int) string {
	note := ""
	switch n.proto {
	case ProtoTCP, ProtoUDP, ProtoICMP, ProtoICMPv6:
		if n.frag == "" {
			note = " malformed"
		}
	}
	return fmt.Sprintf("IP %s > %s proto %d%s len %d", n.src, n.dst, n.proto, note, n.limit-at)
}

// ends is both ends of a transport header that begins with the ports.
func (n network) ends(b []byte) string {
	return fmt.Sprintf("%s > %s", netip.AddrPortFrom(n.src, Word(b, 0)), netip.AddrPortFrom(n.dst, Word(b, 2)))
}

// tcpText describes a segment, as far as an ICMP error has quoted it.
func tcpText(b []byte, size int) string {
	seq := binary.BigEndian.Uint32(b[4:])
	if len(b) < 20 {
		return fmt.Sprintf(" seq %d", seq)
	}
	flags := Flags(Word(b, 12) & 0x1ff)
	ack := ""
	if flags&ACK != 0 {
		ack = fmt.Sprintf(" ack %d", binary.BigEndian.Uint32(b[8:]))
	}
	return fmt.Sprintf(" %s seq %d%s win %d len %d", flags, seq, ack, Word(b, 14), size)
}

// icmpText describes a message.
func icmpText(k *kind, b []byte, size int) string {
	names := map[uint8]string{EchoRequest: "echo request", EchoReply: "echo reply"}
	if k == icmp6Kind {
		names = map[uint8]string{EchoRequest6: "echo request", EchoReply6: "echo reply"}
	}
	if name, ok := names[b[0]]; ok {
		return fmt.Sprintf("%s id %d seq %d len %d", name, Word(b, 4), Word(b, 6), size)
	}
	return fmt.Sprintf("type %d code %d len %d", b[0], b[1], size)
}
