package simhost

import (
	"net/netip"
	"time"

	"hpnn/internal/packet"
)

// A port that is flooded with SYNs answers those that it cannot remember with a sequence
// number from which the third segment of the handshake lets it make up the connection: a SYN
// cookie (RFC 4987 3.6), as Linux does by default.

// cookieAge is how long a cookie is good for, at least; at most twice that.
const cookieAge = time.Minute

// cookieMSS are the segment sizes that the last two bits of a cookie stand for.
var cookieMSS = [4]int{defaultMSS, 1300, 1440, ownMSS}

// cookie is the sequence number for a SYN with sequence number irs in a period of time.
func (h *Host) cookie(k connKey, irs uint32, period time.Duration, mss uint32) uint32 {
	tuple := uint64(k.ip[0])<<56 | uint64(k.ip[1])<<48 | uint64(k.ip[2])<<40 | uint64(k.ip[3])<<32 | uint64(k.port)<<16 | uint64(k.local)
	return uint32(mix(mix(h.seed+tuple)+uint64(irs)<<32+uint64(period)))&^3 | mss
}

// sendCookie answers a SYN without remembering it.
func (h *Host) sendCookie(a *Acceptor, s *segment) {
	a.flooded, a.floodedAt = true, h.world.now
	var mss uint32
	for i, size := range cookieMSS {
		if size <= s.mss {
			mss = uint32(i)
		}
	}
	o := outgoing{
		dst: s.src, key: s.key, flags: packet.SYN | packet.ACK,
		seq: h.cookie(s.key, s.seq, h.world.now/cookieAge, mss), ack: s.seq + 1,
		window: ownWindow, mss: ownMSS,
	}
	h.send(o.dst, o.frame(h))
}

// acceptCookie makes the connection that an ACK completes, if it acknowledges a cookie that
// the port gave lately.
func (h *Host) acceptCookie(a *Acceptor, s *segment) *Conn {
	if !a.flooded || h.since(a.floodedAt) > 2*cookieAge || a.full() || s.has(packet.SYN|packet.RST) || !s.has(packet.ACK) {
		return nil
	}
	irs, iss := s.seq-1, s.ack-1
	period := h.world.now / cookieAge
	if mss := iss & 3; iss == h.cookie(s.key, irs, period, mss) || iss == h.cookie(s.key, irs, period-1, mss) {
		return h.cookieConn(a, s, irs, iss, cookieMSS[mss])
	}
	return nil
}

func (h *Host) cookieConn(a *Acceptor, s *segment, irs, iss uint32, mss int) *Conn {
	c := h.newConn(s.key, netip.AddrPortFrom(h.ip, s.key.local), netip.AddrPortFrom(s.src, s.key.port))
	c.snd = newSender(iss)
	c.snd.sent(iss + 1)
	c.state = SynReceived
	c.acceptor = a
	a.pending = append(a.pending, c)
	c.synchronise(&segment{seq: irs, window: s.window, mss: mss})
	return c
}
