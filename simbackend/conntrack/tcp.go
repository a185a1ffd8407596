package conntrack

// The TCP model follows what OVS 3.1 does packet by packet: sequence windows after
// Guido van Rooij, "Real Stateful TCP Packet Filtering in IP Filter", with the loose
// acceptance and window scaling that pf added to it.

// TCPState is the state of one peer of a TCP connection, ordered by progress.
type TCPState uint8

// Possible TCPState values; the gaps are states only the kernel's tracker uses.
const (
	TCPClosed      TCPState = 0
	TCPSynSent     TCPState = 2
	TCPSynRecv     TCPState = 3
	TCPEstablished TCPState = 4
	TCPClosing     TCPState = 7
	TCPFinWait2    TCPState = 9
	TCPTimeWait    TCPState = 10
)

var tcpStateNames = [...]string{
	"CLOSED", "LISTEN", "SYN_SENT", "SYN_RECV", "ESTABLISHED", "CLOSE_WAIT",
	"FIN_WAIT_1", "CLOSING", "LAST_ACK", "FIN_WAIT_2", "TIME_WAIT",
}

// String is the name dpctl/dump-conntrack prints.
func (s TCPState) String() string {
	if int(s) < len(tcpStateNames) {
		return tcpStateNames[s]
	}
	return "[" + string(appendNumber(nil, "", uint64(s))) + "]"
}

// maxAckWindow is how far an ACK may lag or lead.
const maxAckWindow = 0xffff + 1500

// peer is one side of a tracked TCP connection.
type peer struct {
	low    uint32 // highest sequence number sent, plus one
	high   uint32 // highest sequence number the other side permits
	window uint16 // largest window seen, before scaling
	scale  scale
	state  TCPState
}

// openTCP starts both peers, which are zero, from the first segment of a connection.
func (c *conn) openTCP(s *segment) {
	src, dst := &c.peers[0], &c.peers[1]
	src.low, src.high, src.window, src.state = s.seq, s.end()+1, max(s.window, 1), TCPSynSent
	dst.high, dst.window = 1, 1
	if s.has(flagSYN) {
		src.scale = s.scaleOption()
	} else {
		src.scale, dst.scale = scaleUnknown, scaleUnknown
	}
	src.window = divideUp(src.window, src.scale.shift())
}

// divideUp is v / 2^shift, rounded up.
func divideUp(v uint16, shift uint8) uint16 {
	return uint16((uint32(v) + 1<<shift - 1) >> shift)
}

// exchange is one segment between two peers.
type exchange struct {
	*segment
	src, dst           *peer // sender and receiver
	srcShift, dstShift uint8
	seq, end, ack      uint32 // as judged, which may differ from what was sent
	window             uint16
	anyAck             bool // the acknowledgement is not judged
}

// updateTCP moves c on by one segment.
func (c *conn) updateTCP(s *segment, reply bool, now int64) verdict {
	x := exchange{segment: s, src: &c.peers[0], dst: &c.peers[1]}
	if reply {
		x.src, x.dst = x.dst, x.src
	}
	if s.badFlags() {
		return verdictInvalid
	}
	if s.flags&(flagSYN|flagACK) == flagSYN {
		if x.closed() {
			x.src.state, x.dst.state = TCPClosed, TCPClosed
			return verdictReplace
		}
		if x.src.state <= TCPSynSent {
			x.src.state = TCPSynSent
			c.expires = now + timeoutTCPFirst
			return verdictNew
		}
	}
	x.prepare()
	switch {
	case x.inWindow():
		x.slide()
		x.advance()
		c.expires = now + x.timeout()
	case x.nearWindow():
		x.slide()
		x.abandon()
	default:
		return verdictInvalid
	}
	return verdictEstablished
}

// closed: both sides have finished, so a SYN starts anew.
func (x *exchange) closed() bool {
	return x.src.state >= TCPFinWait2 && x.dst.state >= TCPFinWait2
}

// prepare sets up the numbers the segment is judged by.
func (x *exchange) prepare() {
	x.seq, x.end, x.ack, x.window = x.segment.seq, x.segment.end(), x.segment.ack, x.segment.window
	x.chooseShifts()
	if x.src.state < TCPSynSent {
		x.meetPeer()
	}
	if !x.has(flagACK) || x.ack == 0 && x.has(flagRST) {
		x.ack = x.dst.low // nothing acknowledged, or by a stack that forgets to
	}
	if x.seq == x.end {
		x.seq, x.end = x.src.low, x.src.low // no data: any sequence number will do
	}
}

// chooseShifts applies window scaling once both sides have announced it, or, when
// neither SYN was seen, as much of it as there may be.
func (x *exchange) chooseShifts() {
	if x.has(flagSYN) {
		return
	}
	switch both := x.src.scale & x.dst.scale; {
	case both&scaleKnown != 0:
		x.srcShift, x.dstShift = x.src.scale.shift(), x.dst.scale.shift()
	case both&scaleUnknown != 0:
		x.srcShift, x.dstShift = maxScale, maxScale
	}
}

// meetPeer starts the sender's side at its first segment.
func (x *exchange) meetPeer() {
	if x.has(flagSYN) && x.dst.scale&scaleKnown != 0 {
		x.negotiateScale()
	}
	x.src.low = x.seq
	x.src.state = TCPSynSent
	limit := x.end + uint32(max(1, int32(x.dst.window)<<x.dstShift))
	if x.src.high == 1 || !before(limit, x.src.high) {
		x.src.high = limit
		x.anyAck = true
	}
	x.src.window = max(x.src.window, x.window)
}

// negotiateScale settles window scaling at the answer to a SYN that offered it: both
// sides scale, or neither does and the offer's window is taken as it was.
func (x *exchange) negotiateScale() {
	x.src.scale = x.scaleOption()
	if x.src.scale&scaleKnown != 0 {
		x.srcShift, x.dstShift = x.src.scale.shift(), x.dst.scale.shift()
		x.window = divideUp(x.window, x.srcShift)
		return
	}
	x.dst.window <<= x.dst.scale.shift()
	x.dst.scale = 0
}

// inWindow is the strict judgement: inside the receiver's window, not older than one
// window, acknowledging neither too far back nor ahead, and an RST at the exact place.
func (x *exchange) inWindow() bool {
	var skew int32
	if !x.anyAck {
		skew = int32(x.dst.low - x.ack)
	}
	return !before(x.src.high, x.end) &&
		!before(x.seq, x.src.low-uint32(x.dst.window)<<x.dstShift) &&
		skew >= -maxAckWindow && skew <= maxAckWindow<<x.srcShift &&
		(!x.has(flagRST) || x.segment.seq-x.src.low+1 <= 2)
}

// nearWindow is the loose judgement, for connections picked up in the middle or just
// closed: a fixed window around what is known.
func (x *exchange) nearWindow() bool {
	return (x.dst.state < TCPSynSent || x.dst.state >= TCPFinWait2 || x.src.state >= TCPFinWait2) &&
		!before(x.src.high+maxAckWindow, x.end) &&
		!before(x.seq, x.src.low-maxAckWindow)
}

// slide moves both windows by an accepted segment.
func (x *exchange) slide() {
	x.src.window = max(x.src.window, x.window)
	if before(x.src.low, x.end) {
		x.src.low = x.end
	}
	window := uint32(x.window) << x.srcShift
	if !before(x.ack+window, x.dst.high) {
		x.dst.high = x.ack + max(window, 1)
	}
}

// advance makes the state transitions of a segment in the window.
func (x *exchange) advance() {
	if x.has(flagFIN) {
		x.src.state = max(x.src.state, TCPClosing)
	}
	if x.has(flagACK) {
		switch x.dst.state {
		case TCPSynSent:
			x.dst.state = TCPEstablished
		case TCPClosing:
			x.dst.state = TCPFinWait2
		}
	}
	if x.has(flagRST) {
		x.src.state, x.dst.state = TCPTimeWait, TCPTimeWait
	}
}

// abandon makes the transitions of a segment near the window: it may end the
// connection, but neither establishes nor prolongs it.
func (x *exchange) abandon() {
	if x.has(flagFIN) {
		x.src.state = max(x.src.state, TCPClosing)
	}
	if x.has(flagRST) {
		x.src.state, x.dst.state = TCPTimeWait, TCPTimeWait
	}
}

// timeout is how long the connection lives after this segment.
func (x *exchange) timeout() int64 {
	low, high := min(x.src.state, x.dst.state), max(x.src.state, x.dst.state)
	switch {
	case low >= TCPFinWait2:
		return timeoutTCPClosed
	case low >= TCPClosing:
		return timeoutTCPFinWait
	case low < TCPEstablished:
		return timeoutTCPOpening
	case high >= TCPClosing:
		return timeoutTCPClosing
	}
	return timeoutTCPEstablished
}

// before compares sequence numbers modulo 2^32.
func before(a, b uint32) bool { return int32(a-b) < 0 }
