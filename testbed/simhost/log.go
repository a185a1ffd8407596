package simhost

import (
	"fmt"
	"strings"
	"time"

	"hpnn/internal/packet"
)

// Fate is what became of a frame at a host's end of its link.
type Fate uint8

// Possible fates.
const (
	Sent     Fate = 1 + iota // by the host
	Received                 // by the host, whatever it does with it
	Lost                     // on the link or in the host's receive queue; Why says how
)

// String is an arrow as seen from the host.
func (f Fate) String() string {
	switch f {
	case Sent:
		return ">"
	case Received:
		return "<"
	case Lost:
		return "x"
	}
	return fmt.Sprintf("Fate(%d)", uint8(f))
}

// Entry is a line of the packet log. The frame must not be changed; it may be kept.
type Entry struct {
	At    time.Duration
	Host  *Host
	Fate  Fate
	Frame []byte
	Why   string // of a lost frame
}

// String is the entry in one line, the time in seconds:
//
//	0.000100 be1 < TCP 10.20.0.10:32768 > 10.20.0.2:8080 [S] seq 1 win 64240 len 0 ttl 64
func (e Entry) String() string {
	s := fmt.Sprintf("%.6f %s %s %s", e.At.Seconds(), e.Host.Name(), e.Fate, packet.Summary(e.Frame))
	if e.Why != "" {
		s += " (" + e.Why + ")"
	}
	return s
}

// Counters counts a host's frames. What is neither ARP, ICMP, UDP nor TCP is Other.
type Counters struct {
	In, Out       ByKind
	Lost          uint64 // on the link, either way, and in the receive queue
	Foreign       uint64 // received, but for another MAC or IP address
	Malformed     uint64 // received with lengths that do not fit, tagged, or a fragment
	BadChecksum   uint64 // received with a wrong IP, ICMP, UDP or TCP checksum
	Martian       uint64 // received with this host's own address as source
	Unroutable    uint64 // not sent: no route, or the next hop does not answer ARP
	Retransmitted uint64 // TCP segments sent again
	ResetsIn      uint64 // TCP segments with RST received
	ResetsOut     uint64 // and sent
}

// ByKind counts frames by what they carry.
type ByKind struct{ ARP, ICMP, UDP, TCP, Other uint64 }

// Total is all of them.
func (k ByKind) Total() uint64 { return k.ARP + k.ICMP + k.UDP + k.TCP + k.Other }

// count counts a frame.
func (k *ByKind) count(frame []byte) {
	*k.counter(frame)++
}

func (k *ByKind) counter(frame []byte) *uint64 {
	if len(frame) < 14 {
		return &k.Other
	}
	switch packet.Word(frame, 12) {
	case packet.TypeARP:
		return &k.ARP
	case packet.TypeIPv4:
		if len(frame) >= 34 {
			return k.protocol(frame[23])
		}
	}
	return &k.Other
}

func (k *ByKind) protocol(proto uint8) *uint64 {
	switch proto {
	case packet.ProtoICMP:
		return &k.ICMP
	case packet.ProtoUDP:
		return &k.UDP
	case packet.ProtoTCP:
		return &k.TCP
	}
	return &k.Other
}

// String is the counters that are not zero, as "in arp 1 tcp 5, out arp 1 tcp 6, lost 2".
func (c Counters) String() string {
	parts := []string{"in" + c.In.String(), "out" + c.Out.String()}
	for _, n := range []struct {
		name  string
		count uint64
	}{
		{"lost", c.Lost}, {"foreign", c.Foreign}, {"malformed", c.Malformed}, {"bad-checksum", c.BadChecksum},
		{"martian", c.Martian}, {"unroutable", c.Unroutable}, {"retransmitted", c.Retransmitted},
		{"resets-in", c.ResetsIn}, {"resets-out", c.ResetsOut},
	} {
		if n.count > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", n.name, n.count))
		}
	}
	return strings.Join(parts, ", ")
}

// String is the counts that are not zero, each after a space and its name; " 0" if all are.
func (k ByKind) String() string {
	var b strings.Builder
	for _, n := range []struct {
		name  string
		count uint64
	}{{"arp", k.ARP}, {"icmp", k.ICMP}, {"udp", k.UDP}, {"tcp", k.TCP}, {"other", k.Other}} {
		if n.count > 0 {
			fmt.Fprintf(&b, " %s %d", n.name, n.count)
		}
	}
	if b.Len() == 0 {
		return " 0"
	}
	return b.String()
}
