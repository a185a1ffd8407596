package conntrack

import "time"

// How long an entry lives after a packet, in milliseconds: the default timeout policy of
// the userspace datapath (ovs-vswitchd.conf.db(5), CT_Timeout_Policy).
const (
	timeoutTCPFirst       int64 = 30_000
	timeoutTCPOpening     int64 = 30_000
	timeoutTCPEstablished int64 = 24 * 3600_000
	timeoutTCPClosing     int64 = 900_000 // one side has finished
	timeoutTCPFinWait     int64 = 45_000  // both have
	timeoutTCPClosed      int64 = 30_000  // and both were acknowledged, or RST
	timeoutOtherFirst     int64 = 60_000
	timeoutOtherMultiple  int64 = 60_000
	timeoutOtherBoth      int64 = 30_000
	timeoutICMPFirst      int64 = 60_000
	timeoutICMPReply      int64 = 30_000
)

// SweepInterval is how often ovs-vswitchd removes expired entries.
const SweepInterval = 20 * time.Second

// verdict is what a protocol says of a packet of an existing connection.
type verdict uint8

const (
	verdictInvalid     verdict = iota
	verdictEstablished         // est
	verdictNew                 // still new
	verdictReplace             // the old connection is over; this packet starts another
)

// phase is the progress of a connection without a state machine of its own.
type phase uint8

const (
	phaseFirst phase = iota
	phaseMultiple
	phaseBoth // answered
)

func (c *conn) phase() phase     { return phase(c.peers[0].state) }
func (c *conn) setPhase(p phase) { c.peers[0].state = TCPState(p) }

// mayOpen tells whether the packet may be the first of a connection of its protocol.
// (OVS judges protocol 58 by its ICMPv6 rule even over IPv4, and so do we.)
func (l *lookup) mayOpen() bool {
	b := l.payload()
	switch l.key.proto {
	case protoTCP:
		return l.segment.mayOpen()
	case protoICMP:
		return b[0] == 8 || b[0] == 13 || b[0] == 15
	case protoICMPv6:
		return len(b) > 0 && b[0] == 128
	}
	return true
}

// open starts the protocol's part of a new connection.
func (c *conn) open(l *lookup, now int64) {
	switch l.key.proto {
	case protoTCP:
		c.openTCP(&l.segment)
		c.expires = now + timeoutTCPFirst
	case protoICMP, protoICMPv6:
		c.expires = now + timeoutICMPFirst
	default:
		c.expires = now + timeoutOtherFirst
	}
}

// update moves the connection on by a packet.
func (c *conn) update(l *lookup, now int64) verdict {
	switch c.proto {
	case protoTCP:
		return c.updateTCP(&l.segment, l.reply, now)
	case protoICMP, protoICMPv6:
		return c.updateICMP(l.reply, now)
	}
	return c.updateOther(l.reply, now)
}

func (c *conn) updateICMP(reply bool, now int64) verdict {
	if reply {
		c.setPhase(phaseBoth)
	}
	if c.phase() == phaseBoth {
		c.expires = now + timeoutICMPReply
		return verdictEstablished
	}
	c.expires = now + timeoutICMPFirst
	return verdictNew
}

func (c *conn) updateOther(reply bool, now int64) verdict {
	switch {
	case reply:
		c.setPhase(phaseBoth)
	case c.phase() == phaseFirst:
		c.setPhase(phaseMultiple)
	}
	if c.phase() == phaseBoth {
		c.expires = now + timeoutOtherBoth
		return verdictEstablished
	}
	c.expires = now + timeoutOtherMultiple
	return verdictNew
}
