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

// chooseTuple finds the reply tuple of a new connection under the mapping n: the
// mapping's address and port, and, where that tuple is taken already, another source
// port. It returns false if none is free.
//
// OVS picks from ranges by a random seed; Validate refuses those, and here the first of
// a range is taken.
func (t *Table) chooseTuple(now int64, c *conn, n NAT) bool {
	c.translated = true
	c.mapAddress(n)
	if c.orig.proto != protoTCP && c.orig.proto != protoUDP {
		return t.free(now, &c.reply)
	}
	return t.choosePorts(now, c, n)
}

// mapAddress puts the mapping's address into the reply tuple; the zero address keeps
// what is there.
func (c *conn) mapAddress(n NAT) {
	addr := binary.BigEndian.Uint32(n.AddrMin[:])
	switch n.Kind {
	case NATSrc:
		c.nat = StateSNAT
		if addr != 0 {
			c.reply.dst = c.reply.dst.withAddr(addr)
		}
	case NATDst:
		c.nat = StateDNAT
		if addr != 0 {
			c.reply.src = c.reply.src.withAddr(addr)
		}
	default: // commit,nat: OVS 3.1.0 loses the address
		c.reply.src = c.reply.src.withAddr(0)
	}
}

// choosePorts settles the ports of the reply tuple, whose destination is the packet's
// source: the mapping's port first, then the range of the packet's source port.
func (t *Table) choosePorts(now int64, c *conn, n NAT) bool {
	source := portRange{at: c.orig.src.port()}
	switch {
	case n.Kind == NATExisting || n.Kind == NATSrc && n.PortMin != 0:
		source = portRange{n.PortMin, n.PortMin, n.PortMin}
	default:
		source.min, source.max = sourceRange(source.at)
	}
	c.reply.dst = c.reply.dst.withPort(source.at)
	if n.Kind == NATDst && n.PortMin != 0 {
		c.reply.src = c.reply.src.withPort(n.PortMin)
		if t.free(now, &c.reply) {
			return true
		}
	}
	return t.chooseSource(now, &c.reply, source)
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
func (t *Table) chooseSource(now int64, reply *key, r portRange) bool {
	tries := int(r.max) - int(r.min) + 1
	if tries > 128 {
		tries = maxPortTries
	}
	for ; tries > 0; tries-- {
		reply.dst = reply.dst.withPort(r.at)
		if t.free(now, reply) {
			return true
		}
		r.next()
	}
	return false
}

func (t *Table) free(now int64, k *key) bool {
	return t.index.find(&t.conns, k, k.hash(), now).conn == nil
}

// translate applies the connection's mapping unless an earlier ct() has done so.
func (m *Meta) translate(v *view, c *conn, reply, related bool) {
	if c.nat != 0 && m.State&natted == 0 {
		m.rewrite(v, c, reply, related)
	}
}

// rewrite applies the connection's mapping to the packet and sets its bit.
func (m *Meta) rewrite(v *view, c *conn, reply, related bool) {
	k, nat := &c.reply, c.nat
	if reply {
		k, nat = &c.orig, opposite(nat)
	}
	m.State |= nat
	m.conn = nil
	v.setAddress(nat, k)
	switch {
	case nat == 0:
	case related:
		v.rewriteInner(opposite(nat), k.reverse())
	default:
		v.setPorts(k)
	}
}
