package simhost

import (
	"time"

	"hpnn/internal/packet"
)

// pace is how fast a sender sends and how soon it repeats: the round trip time (RFC 6298)
// and the congestion window (RFC 5681, RFC 6582).
type pace struct {
	srtt, rttvar time.Duration // 0: not measured yet
	timing       bool          // a segment is being timed
	timedSeq     uint32
	timedAt      time.Duration
	tries        int // timeouts in a row: each doubles the next
	unanswered   int // those since the peer was heard of

	cwnd, ssthresh int // bytes
	dups           int // duplicate acknowledgements in a row
	recovering     bool
	recover        uint32 // recovery ends when this is acknowledged
}

func newPace() pace { return pace{cwnd: initialWindow * defaultMSS, ssthresh: 1 << 30} }

// time begins to time a segment, if none is being timed.
func (p *pace) time(seq uint32, now time.Duration) {
	if !p.timing {
		p.timing, p.timedSeq, p.timedAt = true, seq, now
	}
}

// untime forgets the segment being timed: its acknowledgement would be ambiguous.
func (p *pace) untime() { p.timing = false }

// acknowledged takes a measurement, if ack covers the segment being timed.
func (p *pace) acknowledged(ack uint32, now time.Duration) {
	if !p.timing || !after(ack, p.timedSeq) {
		return
	}
	p.timing = false
	rtt := max(now-p.timedAt, 1)
	if p.srtt == 0 {
		p.srtt, p.rttvar = rtt, rtt/2
		return
	}
	p.rttvar += ((p.srtt - rtt).Abs() - p.rttvar) / 4
	p.srtt += (rtt - p.srtt) / 8
}

// timeout is how long to wait for an acknowledgement now: as in Linux the variance counts
// for at least 200 ms, and each timeout doubles it.
func (p *pace) timeout() time.Duration {
	rto := synTimeout
	if p.srtt > 0 {
		rto = p.srtt + max(4*p.rttvar, minTimeout)
	}
	return min(rto<<min(p.tries, 16), maxTimeout)
}

// acknowledge takes the acknowledgement of a segment; false drops the segment.
func (c *Conn) acknowledge(s *segment) bool {
	snd := &c.snd
	switch {
	case after(s.ack, snd.max):
		c.answerDuplicate(s)
		return false
	case after(s.ack, snd.una):
		c.progress(s.ack)
	case s.ack == snd.una:
		c.duplicate(s)
	}
	shut := snd.wnd == 0
	snd.updateWindow(s)
	if shut && snd.flight() == 0 { // the answer to a probe, or the window opens
		snd.pace.unanswered = 0
		if snd.wnd > 0 {
			snd.pace.tries = 0
			c.timer.stop()
		}
	}
	return c.state != Closed
}

// progress takes an acknowledgement of something new.
func (c *Conn) progress(ack uint32) {
	snd := &c.snd
	n := int(ack - snd.una)
	finished := snd.fin && ack == snd.end()+1
	if snd.una == snd.iss || finished {
		n-- // SYN or FIN
	}
	snd.buf = snd.buf[min(n, len(snd.buf)):]
	snd.una = ack
	if before(snd.nxt, ack) {
		snd.nxt = ack
	}
	snd.pace.acknowledged(ack, c.host.world.now)
	snd.pace.tries, snd.pace.unanswered = 0, 0
	c.grow(n, ack)
	c.timer.stop()
	c.host.confirm(c.remote.Addr())
	c.signal.broadcast()
	if finished {
		c.finAcknowledged()
		return
	}
	c.watch()
}

// grow adapts the congestion window to n bytes that have arrived.
func (c *Conn) grow(n int, ack uint32) {
	p, mss := &c.snd.pace, c.snd.mss
	p.dups = 0
	switch {
	case p.recovering && before(ack, p.recover):
		p.cwnd = max(p.cwnd-n+mss, mss)
		c.resend()
	case p.recovering:
		p.recovering = false
		p.cwnd = p.ssthresh
	case p.cwnd < p.ssthresh:
		p.cwnd += min(n, mss)
	default:
		p.cwnd += max(mss*mss/p.cwnd, 1)
	}
}

// duplicate takes an acknowledgement of nothing new: after three in a row, what is missing
// is sent again at once.
func (c *Conn) duplicate(s *segment) {
	snd, p := &c.snd, &c.snd.pace
	if len(s.data) > 0 || s.has(packet.FIN) || snd.flight() == 0 || s.window != snd.wnd {
		return
	}
	p.dups++
	switch {
	case p.recovering:
		p.cwnd += snd.mss
	case p.dups == 3:
		c.slowDown()
		p.recovering, p.recover = true, snd.max
		p.cwnd = p.ssthresh + 3*snd.mss
		c.resend()
	}
}

func (c *Conn) slowDown() {
	c.snd.pace.ssthresh = max(c.snd.flight()/2, 2*c.snd.mss)
}

// finAcknowledged goes on after our FIN has arrived.
func (c *Conn) finAcknowledged() {
	switch c.state {
	case FinWait1:
		c.state = FinWait2
		if c.orphan {
			c.timer.reset(c.host.config.TCP.TimeWait)
		}
	case Closing:
		c.timeWait()
	case LastAck:
		c.remove()
	}
}

// resend sends the first segment that is not acknowledged again, whatever the windows say,
// and tells where it ends.
func (c *Conn) resend() (end uint32) {
	snd := &c.snd
	n := min(len(snd.buf), snd.mss)
	flags := packet.ACK
	switch {
	case n == 0 && snd.fin:
		c.transmit(flags|packet.FIN, snd.una, nil)
		return snd.una + 1
	case n == len(snd.buf):
		flags |= packet.PSH
	}
	c.transmit(flags, snd.una, snd.buf[:n])
	return snd.una + uint32(n)
}

// timeout is the connection's timer.
func (c *Conn) timeout() {
	tcp := c.host.config.TCP
	switch c.state {
	case TimeWait, FinWait2:
		c.remove()
	case SynSent:
		c.repeatSYN(tcp.SYNRetries)
	case SynReceived:
		c.repeatSYN(tcp.SYNACKRetries)
	default:
		if c.orphan {
			c.repeat(min(tcp.OrphanRetries, tcp.Retries))
		} else {
			c.repeat(tcp.Retries)
		}
	}
}

func (c *Conn) repeatSYN(limit int) {
	if c.snd.pace.tries >= limit {
		c.fail(ErrTimeout)
		return
	}
	c.snd.pace.tries++
	c.timer.reset(min(synTimeout<<min(c.snd.pace.tries, 16), maxTimeout))
	c.sendSYN()
}

// repeat sends the first segment again and goes on from there, or asks whether a window that
// was shut has opened.
func (c *Conn) repeat(limit int) {
	snd, p := &c.snd, &c.snd.pace
	if p.unanswered >= limit {
		c.fail(ErrTimeout)
		return
	}
	p.tries++
	p.unanswered++
	c.timer.reset(p.timeout())
	if snd.flight() == 0 && snd.wnd == 0 {
		c.transmit(packet.ACK, snd.una-1, nil)
		return
	}
	if p.tries == 1 {
		c.slowDown()
	}
	p.cwnd, p.dups, p.recovering = snd.mss, 0, false
	snd.sent(c.resend())
}
