package conntrack

import "encoding/binary"

// opposite is a NAT bit on the way back: what was done to the source is undone at the
// destination, and the other way round.
func opposite(nat State) State {
	switch nat {
	case StateSNAT:
		return StateDNAT
	case StateDNAT:
		return StateSNAT
	}
	return 0
}

// mapping is the reply tuple that a new connection gets, if that is free.
type mapping struct {
	reply key
	hash  uint32
	nat   State
}

// make turns a tuple round and puts the address and port of a nat argument into it; the zero address, and the port 0,
// keep what is there.
//
// OVS picks from ranges by a random seed; Validate refuses those, and here the first of
// a range is taken.
func (m *mapping) make(n *NAT, orig *key) {
	m.reply, m.nat = orig.reverse(), 0
	addr, ports := binary.BigEndian.Uint32(n.AddrMin[:]), orig.proto == protoTCP || orig.proto == protoUDP
	switch n.Kind {
	case NATSrc:
		m.nat = StateSNAT
		if addr != 0 {
			m.reply.dst = m.reply.dst.withAddr(addr)
		}
		if ports && n.PortMin != 0 {
			m.reply.dst = m.reply.dst.withPort(n.PortMin)
		}
	case NATDst:
		m.nat = StateDNAT
		if addr != 0 {
			m.reply.src = m.reply.src.withAddr(addr)
		}
		if ports && n.PortMin != 0 {
			m.reply.src = m.reply.src.withPort(n.PortMin)
		}
	default: // commit,nat: OVS 3.1.0 loses the address
		m.reply.src = m.reply.src.withAddr(0)
		if ports {
			m.reply.dst = m.reply.dst.withPort(n.PortMin)
		}
	}
	m.hash = m.reply.hash()
}

// chooseTuple settles the reply tuple of a new connection: what the mapping wants or, where that is taken already,
// the same with another source port. It returns false if none is free.
func (t *Table) chooseTuple(now int64, m *mapping, n *NAT) (gap, bool) {
	if g, ok := t.free(now, m); ok {
		return g, true
	}
	if m.reply.proto != protoTCP && m.reply.proto != protoUDP {
		return gap{}, false
	}
	source := portRange{at: m.reply.dst.port()}
	if n.Kind == NATExisting || n.Kind == NATSrc && n.PortMin != 0 {
		source.min, source.max = n.PortMin, n.PortMin
	} else {
		source.min, source.max = sourceRange(source.at)
	}
	return t.chooseSource(now, m, source)
}

// portRange is where to look for a port: first at, which may lie outside, then upwards
// and round.
type portRange struct{ at, min, max uint16 }

func (r *portRange) next() {
	if r.at < r.min || r.at >= r.max {
		r.at = r.min
		return
	}
	r.at++
}

// sourceRange keeps low ports low, as servers that ask for a reserved port expect.
func sourceRange(port uint16) (low, high uint16) {
	switch {
	case port < 512:
		return 1, 511
	case port < 1024:
		return 600, 1023
	}
	return 1024, 65535
}

// OVS tries 128 ports in order, then 64, 32, 16 and 8 from random places. Here the
// latter follow on in order too.
const maxPortTries = 128 + 64 + 32 + 16 + 8

// chooseSource tries source ports until the reply tuple is free.
func (t *Table) chooseSource(now int64, m *mapping, r portRange) (gap, bool) {
	tries := int(r.max) - int(r.min) + 1
	if tries > 128 {
		tries = maxPortTries
	}
	for ; tries > 0; tries-- {
		m.reply.dst = m.reply.dst.withPort(r.at)
		m.hash = m.reply.hash()
		if g, ok := t.free(now, m); ok {
			return g, true
		}
		r.next()
	}
	return gap{}, false
}

func (t *Table) free(now int64, m *mapping) (gap, bool) {
	found, g := t.index.find(&t.conns, &m.reply, m.hash, now)
	return g, found.conn == nil
}

// translate applies the connection's mapping unless an earlier ct() has done so.
func (m *Meta) translate(v *view, c *conn, reply, related bool) {
	if c.nat() != 0 && m.State&natted == 0 {
		m.rewrite(v, c, reply, related)
	}
}

// rewrite applies the connection's mapping to the packet and sets its bit.
func (m *Meta) rewrite(v *view, c *conn, reply, related bool) {
	var k key
	nat := c.nat()
	if reply {
		k, nat = c.orig(), opposite(nat)
	} else {
		k = c.reply()
	}
	m.State |= nat
	m.conn = nil
	if nat != 0 && !related && k.proto == protoTCP && v.proto() == protoTCP && v.end-v.l4 >= tcpHeader {
		v.translateTCP(nat, &k)
		return
	}
	v.setAddress(nat, &k)
	switch {
	case nat == 0:
	case related:
		v.rewriteInner(opposite(nat), k.reverse())
	default:
		v.setPorts(&k)
	}
}
