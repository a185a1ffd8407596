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
func (t *Table) chooseTuple(now int64, c *conn, n NAT) (l look, ok bool) {
	reply, nat := mapAddress(&key{c.dst, c.src, c.zone, c.proto}, n)
	if c.proto != protoTCP && c.proto != protoUDP {
		l, ok = t.free(now, &reply)
	} else {
		l, ok = t.choosePorts(now, &reply, n)
	}
	c.translate(nat, &reply)
	return l, ok
}

// mapAddress puts the mapping's address into a reply tuple; the zero address keeps
// what is there.
func mapAddress(k *key, n NAT) (reply key, nat State) {
	reply = *k
	addr := binary.BigEndian.Uint32(n.AddrMin[:])
	switch n.Kind {
	case NATSrc:
		nat = StateSNAT
		if addr != 0 {
			reply.dst = reply.dst.withAddr(addr)
		}
	case NATDst:
		nat = StateDNAT
		if addr != 0 {
			reply.src = reply.src.withAddr(addr)
		}
	default: // commit,nat: OVS 3.1.0 loses the address
		reply.src = reply.src.withAddr(0)
	}
	return reply, nat
}

// choosePorts settles the ports of the reply tuple, whose destination is the packet's
// source: the mapping's port first, then the range of the packet's source port.
func (t *Table) choosePorts(now int64, reply *key, n NAT) (look, bool) {
	source := portRange{at: reply.dst.port()}
	switch {
	case n.Kind == NATExisting || n.Kind == NATSrc && n.PortMin != 0:
		source = portRange{n.PortMin, n.PortMin, n.PortMin}
	default:
		source.min, source.max = sourceRange(source.at)
	}
	reply.dst = reply.dst.withPort(source.at)
	if n.Kind == NATDst && n.PortMin != 0 {
		reply.src = reply.src.withPort(n.PortMin)
		if l, ok := t.free(now, reply); ok {
			return l, true
		}
	}
	return t.chooseSource(now, reply, source)
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
func (t *Table) chooseSource(now int64, reply *key, r portRange) (look, bool) {
	tries := int(r.max) - int(r.min) + 1
	if tries > 128 {
		tries = maxPortTries
	}
	for ; tries > 0; tries-- {
		reply.dst = reply.dst.withPort(r.at)
		if l, ok := t.free(now, reply); ok {
			return l, true
		}
		r.next()
	}
	return look{}, false
}

func (t *Table) free(now int64, k *key) (look, bool) {
	hash := k.hash()
	found, gap := t.index.find(&t.conns, k, hash, now)
	return look{hash, gap}, found.conn == nil
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
