package simhost

import (
	"encoding/binary"
	"net/netip"
	"time"

	"hpnn/internal/packet"
)

// What a segment can hold (RFC 9293 3.7.1) and what windows are.
const (
	ownMSS     = 1460
	defaultMSS = 536
	ownWindow  = 64240 // 44 segments, as Linux offers
)

// dupInterval bounds how often a segment without data is answered that is out of the window
// (tcp_invalid_ratelimit): two confused ends must not answer each other forever.
const dupInterval = 500 * time.Millisecond

// segment is a TCP segment received.
type segment struct {
	key      connKey
	src      netip.Addr
	seq, ack uint32
	flags    packet.Flags
	window   uint32
	mss      int // of the option; 0 if there is none
	data     []byte
}

// has reports whether one of the flags is set.
func (s *segment) has(f packet.Flags) bool { return s.flags&f != 0 }

// end is the sequence number behind the segment: SYN and FIN count.
func (s *segment) end() uint32 {
	end := s.seq + uint32(len(s.data))
	if s.has(packet.SYN) {
		end++
	}
	if s.has(packet.FIN) {
		end++
	}
	return end
}

// before and after compare sequence numbers, which wrap (RFC 9293 3.4).
func before(a, b uint32) bool { return int32(a-b) < 0 }
func after(a, b uint32) bool  { return before(b, a) }

// receiveTCP hands a segment to its connection, or answers that there is none.
func (h *Host) receiveTCP(d *datagram) {
	if d.frame[0]&1 != 0 { // a connection has one peer
		h.counters.Foreign++
		return
	}
	s, ok := h.parseTCP(d)
	if !ok {
		return
	}
	if s.has(packet.RST) {
		h.counters.ResetsIn++
	}
	if c := h.conns[s.key]; c != nil {
		if !c.input(&s) {
			return
		}
		// A new connection where one in TIME-WAIT was.
	}
	if a := h.acceptors[s.key.local]; a != nil && h.admit(a, &s) {
		return
	}
	h.refuse(&s)
}

// admit begins a connection at an open port; it is false if the segment does not do that.
func (h *Host) admit(a *Acceptor, s *segment) bool {
	if s.has(packet.SYN) && !s.has(packet.ACK|packet.RST) {
		h.answerSYN(a, s)
		return true
	}
	if c := h.acceptCookie(a, s); c != nil {
		c.input(s)
		return true
	}
	return false
}

// parseTCP checks a segment and counts what does not hold.
func (h *Host) parseTCP(d *datagram) (s segment, ok bool) {
	b := d.payload
	header := 0
	if len(b) >= 20 {
		header = int(b[12]>>4) * 4
	}
	if header < 20 || header > len(b) {
		h.counters.Malformed++
		return s, false
	}
	if !d.intact(packet.ProtoTCP) {
		h.counters.BadChecksum++
		return s, false
	}
	return segment{
		key:    connKey{ip: d.src.As4(), port: packet.Word(b, 0), local: packet.Word(b, 2)},
		src:    d.src,
		seq:    binary.BigEndian.Uint32(b[4:]),
		ack:    binary.BigEndian.Uint32(b[8:]),
		flags:  packet.Flags(packet.Word(b, 12) & 0x1ff),
		window: uint32(packet.Word(b, 14)),
		mss:    mssOption(b[20:header]),
		data:   b[header:],
	}, true
}

// mssOption finds the option, and gives 0 if there is none that holds.
func mssOption(b []byte) int {
	for len(b) > 0 && b[0] != 0 {
		if b[0] == 1 {
			b = b[1:]
			continue
		}
		if len(b) < 2 || b[1] < 2 || int(b[1]) > len(b) {
			return 0
		}
		if b[0] == 2 && b[1] == 4 {
			return int(packet.Word(b, 2))
		}
		b = b[b[1]:]
	}
	return 0
}

// answerSYN begins a connection that a peer asks for, unless too many wait to be accepted:
// then the peer will ask again.
func (h *Host) answerSYN(a *Acceptor, s *segment) {
	if a.full() {
		return
	}
	if a.begun() >= h.config.TCP.Backlog {
		h.sendCookie(a, s)
		return
	}
	c := h.newConn(s.key, netip.AddrPortFrom(h.ip, s.key.local), netip.AddrPortFrom(s.src, s.key.port))
	c.state = SynReceived
	c.acceptor = a
	a.pending = append(a.pending, c)
	c.synchronise(s)
	c.sendSYN()
}

// refuse answers a segment that belongs to no connection (RFC 9293 3.10.7.1).
func (h *Host) refuse(s *segment) {
	if s.has(packet.RST) {
		return
	}
	o := outgoing{dst: s.src, key: s.key, flags: packet.RST}
	if s.has(packet.ACK) {
		o.seq = s.ack
	} else {
		o.flags |= packet.ACK
		o.ack = s.end()
	}
	h.counters.ResetsOut++
	h.send(o.dst, o.frame(h))
}
