package simbackend_test

import (
	"net/netip"
	"time"

	"github.com/google/gopacket/layers"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// connection is one that was committed.
type connection struct {
	datapath.Conn        // but for State and Timeout
	nat           uint32 // CTSNAT or CTDNAT, what is done to frames of its own direction; 0: nothing
	ends          [2]end // of TCP: who opened it, and the other
	answered      bool
	expires       time.Duration
	over          bool // it was replaced, and waits to be removed
}

// verdict is what a connection says of a frame.
type verdict int

const (
	established verdict = iota
	fresh
	invalid
	replaced // it is over, and the frame may open another
)

// segment is what the tracker looks at in a frame.
type segment struct {
	tuple  datapath.Tuple
	tcp    *layers.TCP
	length uint32 // of TCP's data
}

// segmentOf reports false for a frame that belongs to no connection and can open none.
func segmentOf(d *dissected) (s segment, ok bool) {
	if d.ip4 == nil {
		return s, false
	}
	t := &s.tuple
	t.Proto = uint8(d.ip4.Protocol)
	t.Src, _ = netip.AddrFromSlice(d.ip4.SrcIP)
	t.Dst, _ = netip.AddrFromSlice(d.ip4.DstIP)
	switch {
	case d.tcp != nil:
		s.tcp, s.length = d.tcp, uint32(len(d.rest))
		t.SrcPort, t.DstPort = uint16(d.tcp.SrcPort), uint16(d.tcp.DstPort)
	case d.udp != nil:
		t.SrcPort, t.DstPort = uint16(d.udp.SrcPort), uint16(d.udp.DstPort)
	case d.icmp4 != nil:
		t.ID, t.Type = d.icmp4.Id, d.icmp4.TypeCode.Type()
		return s, t.Type&^8 == 0 && d.icmp4.TypeCode.Code() == 0
	}
	return s, t.SrcPort != 0 && t.DstPort != 0
}

// badFlags reports a combination that no host sends.
func (s segment) badFlags() bool {
	f := s.tcp
	return f.SYN && (f.RST || f.FIN) || !f.SYN && !f.ACK && !f.RST || !f.ACK && (f.FIN || f.PSH || f.URG)
}

// opens reports whether the frame may be the first of a connection.
func (s segment) opens() bool {
	switch {
	case s.tcp != nil:
		return !s.badFlags() && !(s.tcp.SYN && s.tcp.ACK)
	case s.tuple.Proto == openflow.ProtoICMP:
		return s.tuple.Type == 8
	}
	return true
}

// progress is the state of one end of a TCP connection.
type progress int

const (
	closed progress = iota
	synSent
	estab
	closing
	finWait
	timeWait
)

// String is the state as dpctl/dump-conntrack shows it.
func (p progress) String() string {
	return [...]string{"CLOSED", "SYN_SENT", "ESTABLISHED", "CLOSING", "TIME_WAIT", "TIME_WAIT"}[p]
}

// end is one side of a TCP connection, as pf keeps it.
type end struct {
	low, high uint32 // what it has sent, plus one; what the other side allows
	window    uint32 // largest that it has offered, not scaled
	scale     uint8
	scales    bool // it said so in its SYN
	midway    bool // its SYN was not seen
	state     progress
}

// shiftOption is the segment's window scale.
func (s segment) shiftOption() (shift uint8, ok bool) {
	for _, o := range s.tcp.Options {
		if o.OptionType == layers.TCPOptionKindWindowScale {
			return min(o.OptionData[0], 14), true
		}
	}
	return 0, false
}

// flags is how many sequence numbers SYN and FIN take.
func (s segment) flags() (n uint32) {
	if s.tcp.SYN {
		n++
	}
	if s.tcp.FIN {
		n++
	}
	return n
}

// open is the connection that a frame opens.
func open(t datapath.Tuple, zone uint16, s segment, now time.Duration) *connection {
	c := &connection{Conn: datapath.Conn{Zone: zone, Orig: t, Reply: reverse(t)}, expires: now + time.Minute}
	if s.tcp == nil {
		return c
	}
	c.expires = now + 30*time.Second
	c.ends[0] = end{low: s.tcp.Seq, high: s.tcp.Seq + s.length + s.flags() + 1, window: max(uint32(s.tcp.Window), 1), state: synSent}
	c.ends[1] = end{high: 1, window: 1}
	if s.tcp.SYN {
		c.ends[0].scale, c.ends[0].scales = s.shiftOption()
		c.ends[0].window = up(c.ends[0].window, c.ends[0].scale)
	} else {
		c.ends[0].midway, c.ends[1].midway = true, true
	}
	return c
}

// up is v >> shift, rounded up.
func up(v uint32, shift uint8) uint32 { return (v + 1<<shift - 1) >> shift }

// update moves a connection on by a frame.
func (c *connection) update(s segment, reply bool, now time.Duration) verdict {
	switch {
	case s.tcp != nil:
		return c.updateTCP(s, reply, now)
	case reply, c.answered:
		c.answered = true
		c.expires = now + 30*time.Second
		return established
	}
	c.expires = now + time.Minute
	return fresh
}

// atLeast compares sequence numbers.
func atLeast(a, b uint32) bool { return int32(a-b) >= 0 }

func (c *connection) updateTCP(s segment, reply bool, now time.Duration) verdict {
	src, dst, f := &c.ends[0], &c.ends[1], s.tcp
	if reply {
		src, dst = dst, src
	}
	if s.badFlags() {
		return invalid
	}
	if f.SYN && !f.ACK {
		if src.state >= finWait && dst.state >= finWait {
			return replaced
		}
		if src.state <= synSent {
			src.state = synSent
			c.expires = now + 30*time.Second
			return fresh
		}
	}
	var sws, dws uint8
	switch {
	case f.SYN:
	case src.midway && dst.midway:
		sws, dws = 14, 14
	case src.scales && dst.scales:
		sws, dws = src.scale, dst.scale
	}
	seq, ack, win := f.Seq, f.Ack, uint32(f.Window)
	stop := seq + s.length + s.flags() // where it ends
	anyAck := false
	if src.state < synSent {
		if f.SYN && dst.scales { // both do, or neither
			if src.scale, src.scales = s.shiftOption(); src.scales {
				sws, dws = src.scale, dst.scale
				win = up(win, sws)
			} else {
				dst.window, dst.scales = dst.window<<dst.scale&0xffff, false
			}
		}
		src.low, src.state = seq, synSent
		limit := stop + max(1, dst.window<<dws)
		if src.high == 1 || atLeast(limit, src.high) {
			src.high, anyAck = limit, true
		}
		src.window = max(src.window, win)
	}
	if !f.ACK || ack == 0 && f.RST {
		ack = dst.low
	}
	if seq == stop {
		seq, stop = src.low, src.low
	}
	skew := int64(int32(dst.low - ack))
	if anyAck {
		skew = 0
	}
	const slack = 0xffff + 1500
	inWindow := atLeast(src.high, stop) && atLeast(seq, src.low-dst.window<<dws) && skew >= -slack && skew <= slack<<sws &&
		(!f.RST || f.Seq == src.low || f.Seq == src.low+1 || f.Seq == src.low-1)
	loose := (dst.state < synSent || src.state >= finWait || dst.state >= finWait) &&
		atLeast(src.high+slack, stop) && atLeast(seq, src.low-slack)
	if !inWindow && !loose {
		return invalid
	}
	src.window = max(src.window, win)
	if atLeast(stop, src.low) {
		src.low = stop
	}
	if atLeast(ack+win<<sws, dst.high) {
		dst.high = ack + max(win<<sws, 1)
	}
	if f.FIN {
		src.state = max(src.state, closing)
	}
	if f.ACK && inWindow {
		switch dst.state {
		case synSent:
			dst.state = estab
		case closing:
			dst.state = finWait
		}
	}
	if f.RST {
		src.state, dst.state = timeWait, timeWait
	}
	if inWindow {
		c.expires = now + lifetime(src.state, dst.state)
	}
	return established
}

// lifetime is how long a TCP connection is kept behind a frame.
func lifetime(a, b progress) time.Duration {
	switch a, b = min(a, b), max(a, b); {
	case a >= finWait:
		return 30 * time.Second
	case a >= closing:
		return 45 * time.Second
	case a < estab:
		return 30 * time.Second
	case b >= closing:
		return 15 * time.Minute
	}
	return 24 * time.Hour
}
