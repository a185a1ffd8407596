package simhost

import (
	"slices"

	"hpnn/internal/packet"
)

// receiver is the half of a connection that takes the peer's data.
type receiver struct {
	irs  uint32 // the peer's initial sequence number
	nxt  uint32 // what is expected next
	edge uint32 // end of the window as advertised
	buf  []byte // in order, not read yet
	ooo  []span // arrived too early, by sequence number
	fin  bool   // the peer's FIN is in order
}

// span is data that arrived before what goes before it.
type span struct {
	seq  uint32
	data []byte
	fin  bool
}

// covers reports whether s makes n superfluous, which begins at the same place.
func (s span) covers(n span) bool {
	return s.seq == n.seq && len(s.data) >= len(n.data) && (s.fin || !n.fin)
}

// maxSpans bounds the memory that data out of order takes.
const maxSpans = 1024

// input takes a segment (RFC 9293 3.10.7). It is true if the segment shall be treated as if
// the connection did not exist.
func (c *Conn) input(s *segment) (anew bool) {
	switch c.state {
	case SynSent:
		c.inputSynSent(s)
	case TimeWait:
		return c.inputTimeWait(s)
	default:
		c.inputSynchronised(s)
	}
	return false
}

// synchronise takes what the peer's SYN says.
func (c *Conn) synchronise(s *segment) {
	c.rcv.irs, c.rcv.nxt = s.seq, s.seq+1
	c.rcv.edge = c.rcv.nxt + uint32(c.freeWindow())
	c.snd.setMSS(s.mss)
	c.snd.setWindow(s)
}

func (c *Conn) inputSynSent(s *segment) {
	if s.has(packet.ACK) && s.ack != c.snd.iss+1 {
		c.host.refuse(s)
		return
	}
	switch {
	case s.has(packet.RST):
		if s.has(packet.ACK) {
			c.fail(ErrRefused)
		}
	case !s.has(packet.SYN):
	case s.has(packet.ACK):
		c.synchronise(s)
		c.progress(s.ack)
		c.establish()
		if c.push(); c.snd.flight() == 0 {
			c.sendACK()
		}
	default: // both ends have called each other
		c.synchronise(s)
		c.state = SynReceived
		c.sendSYN()
	}
}

// establish ends the handshake.
func (c *Conn) establish() {
	c.state = Established
	if c.snd.fin {
		c.state = FinWait1
	}
	c.wake()
}

// inputTimeWait answers what the peer repeats, and lets a new connection replace this one
// (RFC 9293 3.6.1, as Linux does).
func (c *Conn) inputTimeWait(s *segment) (anew bool) {
	switch {
	case s.has(packet.RST):
		if s.seq == c.rcv.nxt {
			c.remove()
		}
	case s.has(packet.SYN) && !s.has(packet.ACK) && after(s.seq, c.rcv.nxt) && c.host.acceptors[c.key.local] != nil:
		c.remove()
		return true
	case s.has(packet.FIN):
		c.timer.reset(c.host.config.TCP.TimeWait)
		c.answerDuplicate(s)
	case s.has(packet.SYN) || len(s.data) > 0 || !c.acceptable(s):
		c.answerDuplicate(s)
	}
	return false
}

// acceptable reports whether a segment is in the window. As in Linux, and unlike RFC 9293,
// it may end where the window begins.
func (c *Conn) acceptable(s *segment) bool {
	return !before(s.end(), c.rcv.nxt) && !after(s.seq, c.rcv.edge)
}

func (c *Conn) inputSynchronised(s *segment) {
	switch {
	case !c.acceptable(s):
		c.inputOutside(s)
		return
	case s.has(packet.RST):
		c.inputReset(s)
		return
	case s.has(packet.SYN):
		c.inputSYN(s)
		return
	case !s.has(packet.ACK):
		return
	}
	if c.state == SynReceived && !c.completeHandshake(s) {
		return
	}
	if !c.acknowledge(s) {
		return
	}
	c.receive(s)
	if c.state != Closed {
		c.push()
	}
}

// inputOutside tells the peer where we are.
func (c *Conn) inputOutside(s *segment) {
	if !s.has(packet.RST) {
		c.answerDuplicate(s)
	}
}

// inputReset ends the connection, if the sender can be the peer (RFC 5961 3.2).
func (c *Conn) inputReset(s *segment) {
	switch {
	case s.seq != c.rcv.nxt:
		c.answerDuplicate(s)
	case c.state == SynReceived:
		c.fail(ErrRefused)
	default:
		c.fail(ErrReset)
	}
}

// inputSYN takes a SYN within a connection: the peer repeats it because our answer was lost,
// or is confused (RFC 5961 4.2).
func (c *Conn) inputSYN(s *segment) {
	if c.state == SynReceived && s.seq == c.rcv.irs {
		c.sendSYN()
		return
	}
	c.answerDuplicate(s)
}

// completeHandshake takes the peer's answer to our SYN; false drops the segment.
func (c *Conn) completeHandshake(s *segment) bool {
	if s.ack != c.snd.iss+1 {
		c.host.refuse(s)
		return false
	}
	if c.acceptor != nil && c.acceptor.full() {
		return false // the server will repeat its SYN, and the peer this
	}
	c.snd.updateWindow(s)
	c.progress(s.ack)
	c.establish()
	return true
}

// answerDuplicate sends an ACK for a segment that brings nothing new, but without data not
// too often.
func (c *Conn) answerDuplicate(s *segment) {
	if len(s.data) == 0 && !s.has(packet.FIN) {
		if c.host.since(c.lastDup) < dupInterval {
			return
		}
		c.lastDup = c.host.world.now
	}
	c.sendACK()
}

// receive takes the data and the FIN of a segment in the window.
func (c *Conn) receive(s *segment) {
	if len(s.data) == 0 && !s.has(packet.FIN) {
		return
	}
	switch c.state {
	case Established, FinWait1, FinWait2:
	default: // the peer has said that it sends no more
		c.answerDuplicate(s)
		return
	}
	if c.orphan && len(s.data) > 0 && after(s.seq+uint32(len(s.data)), c.rcv.nxt) {
		c.host.refuse(s) // nobody will ever read it
		c.remove()
		return
	}
	c.insert(span{seq: s.seq, data: s.data, fin: s.has(packet.FIN)})
	c.collect()
	c.sendACK()
}

// insert puts a span in its place, cut to the window.
func (c *Conn) insert(n span) {
	if room := int32(c.rcv.edge - n.seq); int(room) < len(n.data) {
		n.data, n.fin = n.data[:max(room, 0)], false
	}
	i, _ := slices.BinarySearchFunc(c.rcv.ooo, n, func(a, b span) int { return int(int32(a.seq - b.seq)) })
	if n.seq != c.rcv.nxt { // it stays: frames are not ours to keep
		if len(c.rcv.ooo) >= maxSpans || i < len(c.rcv.ooo) && c.rcv.ooo[i].covers(n) {
			return
		}
		n.data = slices.Clone(n.data)
	}
	c.rcv.ooo = slices.Insert(c.rcv.ooo, i, n)
}

// collect moves what is in order now to the buffer.
func (c *Conn) collect() {
	progress := false
	for len(c.rcv.ooo) > 0 && !after(c.rcv.ooo[0].seq, c.rcv.nxt) {
		first := c.rcv.ooo[0]
		c.rcv.ooo = c.rcv.ooo[1:]
		old := int(c.rcv.nxt - first.seq)
		if old < len(first.data) {
			c.rcv.buf = append(c.rcv.buf, first.data[old:]...)
			c.rcv.nxt += uint32(len(first.data) - old)
			progress = true
		}
		if first.fin && !c.rcv.fin && c.rcv.nxt == first.seq+uint32(len(first.data)) {
			c.rcv.nxt++
			c.finReceived()
			progress = true
		}
	}
	if progress {
		c.wake()
	}
}

// finReceived takes the peer's FIN.
func (c *Conn) finReceived() {
	c.rcv.fin, c.rcv.ooo = true, nil
	switch c.state {
	case Established:
		c.state = CloseWait
	case FinWait1:
		c.state = Closing
	case FinWait2:
		c.timeWait()
	}
}

// timeWait begins the wait for what may still be on its way.
func (c *Conn) timeWait() {
	c.state = TimeWait
	c.snd.buf = nil
	c.timer.reset(c.host.config.TCP.TimeWait)
}

// freeWindow is the room for data that the peer may send.
func (c *Conn) freeWindow() int {
	return min(max(c.host.config.TCP.Buffer-len(c.rcv.buf), 0), ownWindow)
}

// window is what a segment advertises. It never takes back what was advertised before
// (RFC 9293 3.8.6.2.2), and a small one opens by a segment or more.
func (c *Conn) window() uint16 {
	offered := int(int32(c.rcv.edge - c.rcv.nxt))
	free := c.freeWindow()
	if free > offered && (offered >= ownWindow/2 || free-offered >= min(ownMSS, c.host.config.TCP.Buffer/2)) {
		c.rcv.edge = c.rcv.nxt + uint32(free)
		return uint16(free)
	}
	return uint16(max(offered, 0))
}

// drained tells the peer when reading has opened a window that was shut for it.
func (c *Conn) drained() {
	switch c.state {
	case Established, FinWait1, FinWait2:
		if offered := int(int32(c.rcv.edge - c.rcv.nxt)); offered < ownMSS && c.freeWindow() >= min(2*ownMSS, c.host.config.TCP.Buffer/2) {
			c.sendACK()
		}
	}
}

// unreachable takes an error about the segment with sequence number seq. As in Linux only an
// attempt to connect fails by it.
func (c *Conn) unreachable(seq uint32, err error) {
	if c.state == SynSent && seq == c.snd.iss {
		c.fail(err)
	}
}
