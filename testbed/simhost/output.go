package simhost

import (
	"time"

	"hpnn/internal/packet"
)

// sender is the half of a connection that sends the application's data.
type sender struct {
	iss  uint32 // initial sequence number
	una  uint32 // first not acknowledged
	nxt  uint32 // to send next
	max  uint32 // behind the last ever sent
	buf  []byte // from una on, behind the SYN; a FIN follows it
	fin  bool   // the application has closed
	mss  int
	wnd  uint32 // the peer's
	wl1  uint32 // sequence number and acknowledgement
	wl2  uint32 // that the window was taken from
	pace pace
}

func newSender(iss uint32) sender {
	return sender{iss: iss, una: iss, nxt: iss, max: iss, mss: defaultMSS, pace: newPace()}
}

// setMSS takes the peer's option.
func (s *sender) setMSS(option int) {
	if option == 0 {
		option = defaultMSS
	}
	s.mss = min(max(option, 48), ownMSS)
	s.pace.cwnd = initialWindow * s.mss
}

// setWindow takes the peer's window.
func (s *sender) setWindow(seg *segment) {
	s.wnd, s.wl1, s.wl2 = seg.window, seg.seq, seg.ack
}

// updateWindow takes the peer's window from a segment that is not older than the last.
func (s *sender) updateWindow(seg *segment) {
	if before(s.wl1, seg.seq) || s.wl1 == seg.seq && !after(s.wl2, seg.ack) {
		s.setWindow(seg)
	}
}

// end is where the data ends and the FIN is.
func (s *sender) end() uint32 {
	if s.una == s.iss { // the SYN goes before
		return s.una + 1 + uint32(len(s.buf))
	}
	return s.una + uint32(len(s.buf))
}

// flight is how much is sent and not acknowledged.
func (s *sender) flight() int { return int(s.nxt - s.una) }

// sent notes that everything before seq has been sent.
func (s *sender) sent(seq uint32) {
	s.nxt = seq
	if after(seq, s.max) {
		s.max = seq
	}
}

// sendSYN sends the first segment, or repeats it.
func (c *Conn) sendSYN() {
	flags := packet.SYN
	if c.state == SynReceived {
		flags |= packet.ACK
	}
	c.transmit(flags, c.snd.iss, nil)
	c.snd.sent(c.snd.iss + 1)
	if !c.timer.armed {
		c.timer.reset(synTimeout)
	}
}

// sendACK tells the peer what has arrived.
func (c *Conn) sendACK() {
	if c.state == Closed {
		return
	}
	c.transmit(packet.ACK, c.snd.max, nil)
}

// sendReset breaks the connection off.
func (c *Conn) sendReset() {
	c.host.counters.ResetsOut++
	c.transmit(packet.RST|packet.ACK, c.snd.max, nil)
}

// push sends what the windows allow (RFC 9293 3.8.6, RFC 5681).
func (c *Conn) push() {
	switch c.state {
	case Established, FinWait1, CloseWait, Closing, LastAck:
	default:
		return
	}
	for {
		n := c.sendable()
		if n <= 0 {
			break
		}
		c.sendData(n)
	}
	if c.snd.fin && c.snd.nxt == c.snd.end() {
		c.transmit(packet.FIN|packet.ACK, c.snd.nxt, nil)
		c.snd.sent(c.snd.nxt + 1)
	}
	c.watch()
}

// sendable is how many bytes the next segment shall have. A small one that is not the last
// waits until it is not the only news of the moment.
func (c *Conn) sendable() int {
	s := &c.snd
	left := len(s.buf) - s.flight()
	n := min(left, s.mss, min(int(s.wnd), s.pace.cwnd)-s.flight())
	if n < left && n < s.mss && s.flight() > 0 {
		return 0
	}
	return n
}

// sendData sends n bytes from nxt on.
func (c *Conn) sendData(n int) {
	s := &c.snd
	at := s.flight()
	flags := packet.ACK
	if at+n == len(s.buf) {
		flags |= packet.PSH
	}
	c.transmit(flags, s.nxt, s.buf[at:at+n])
	s.sent(s.nxt + uint32(n))
}

// watch arms the timer if something has to be acknowledged, or waits for a window.
func (c *Conn) watch() {
	s := &c.snd
	switch {
	case s.flight() == 0 && len(s.buf) == 0:
		c.timer.stop()
	case !c.timer.armed && !c.timer.onHold:
		c.timer.reset(s.pace.timeout())
	}
}

// transmit sends a segment.
func (c *Conn) transmit(flags packet.Flags, seq uint32, data []byte) {
	if before(seq, c.snd.max) && (len(data) > 0 || flags&(packet.SYN|packet.FIN) != 0) {
		c.host.counters.Retransmitted++
		c.snd.pace.untime()
	} else if len(data) > 0 || flags&packet.SYN != 0 {
		c.snd.pace.time(seq, c.host.world.now)
	}
	o := outgoing{
		dst: c.remote.Addr(), key: c.key, seq: seq, flags: flags, window: c.window(),
		ttl: c.ttl, id: c.nextID(flags), data: data,
	}
	if flags&packet.ACK != 0 {
		o.ack = c.rcv.nxt
	}
	if flags&packet.SYN != 0 {
		o.mss = ownMSS
	}
	c.host.send(o.dst, o.frame(c.host))
}

// nextID is the identification of the connection's next packet; that of a SYN-ACK is 0, as
// in Linux.
func (c *Conn) nextID(flags packet.Flags) uint16 {
	if flags&(packet.SYN|packet.ACK) == packet.SYN|packet.ACK {
		return 0
	}
	c.ipID++
	return c.ipID
}

// Times and limits of retransmission in Linux.
const (
	synTimeout    = time.Second // TCP_TIMEOUT_INIT
	minTimeout    = 200 * time.Millisecond
	maxTimeout    = 120 * time.Second
	initialWindow = 10 // segments (RFC 6928)
)
