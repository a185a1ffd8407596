package conntrack

import (
	"iter"
	"strconv"
	"time"
)

// Conn is an entry as dpctl/dump-conntrack shows it.
type Conn struct {
	Zone        uint16
	Orig, Reply Tuple    // as on the wire, in either direction
	TCP         TCPState // of the peer that is further on; TCP only
	Mark        uint32
	Label       Label
	Timeout     time.Duration // until it expires, in whole seconds
}

// Conns yields the entries that have not expired, in the order of insertion. The table
// must not be changed meanwhile.
func (t *Table) Conns(now time.Duration) iter.Seq[Conn] {
	return func(yield func(Conn) bool) {
		ms := millis(now)
		for c := range t.conns.inOrder() {
			if !c.expired(ms) && !yield(c.public(ms)) {
				return
			}
		}
	}
}

func (c *conn) public(now int64) Conn {
	orig, reply := c.orig(), c.reply()
	return Conn{
		Zone:    c.zone,
		Orig:    orig.tuple(),
		Reply:   reply.tuple(),
		TCP:     c.shownState(),
		Mark:    c.mark,
		Label:   c.label,
		Timeout: time.Duration((c.expires-now)/1000) * time.Second,
	}
}

// shownState folds two states of the userspace tracker into those of the kernel's.
func (c *conn) shownState() TCPState {
	if c.proto != protoTCP {
		return TCPClosed
	}
	switch s := max(c.peers[0].state, c.peers[1].state); s {
	case TCPFinWait2:
		return TCPTimeWait
	case TCPSynRecv:
		return TCPEstablished
	default:
		return s
	}
}

// String prints the entry as a line of dpctl/dump-conntrack.
func (c Conn) String() string { return string(c.append(nil, -1)) }

// Stats prints the entry as a line of dpctl/dump-conntrack -s, with timeout= in seconds.
func (c Conn) Stats() string { return string(c.append(nil, int(c.Timeout/time.Second))) }

func (c Conn) append(b []byte, timeout int) []byte {
	b = appendProto(b, c.Orig.Proto)
	b = append(c.Orig.append(append(b, ",orig=("...)), ')')
	b = append(c.Reply.append(append(b, ",reply=("...)), ')')
	if c.Zone != 0 {
		b = appendNumber(b, ",zone=", uint64(c.Zone))
	}
	if timeout >= 0 {
		b = appendNumber(b, ",timeout=", uint64(timeout))
	}
	if c.Mark != 0 {
		b = appendNumber(b, ",mark=", uint64(c.Mark))
	}
	if c.Label != (Label{}) {
		b = append(append(b, ",labels="...), c.Label.String()...)
	}
	if c.Orig.Proto == protoTCP {
		b = append(append(append(b, ",protoinfo=(state="...), c.TCP.String()...), ')')
	}
	return b
}

var protoNames = map[uint8]string{
	protoICMP: "icmp", protoIGMP: "igmp", protoTCP: "tcp", protoUDP: "udp",
	protoDCCP: "dccp", protoICMPv6: "icmpv6", protoSCTP: "sctp", protoLite: "udplite",
}

func appendProto(b []byte, proto uint8) []byte {
	if name, ok := protoNames[proto]; ok {
		return append(b, name...)
	}
	return strconv.AppendUint(b, uint64(proto), 10)
}
