package simbackend_test

import (
	"net/netip"
	"slices"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// findings are what the tracker leaves with a frame.
type findings struct {
	state uint32
	zone  uint16
	mark  uint32
	label openflow.Value
	orig  datapath.Tuple
	conn  *connection // as long as nothing has changed that it is known by
	reply bool
}

// request is a ct action of which the fields have been read.
type request struct {
	openflow.CT
	zone        uint16
	mark, label openflow.Term // what exec writes
}

// ct sends the frame to the tracker and, if the action says so, a copy on into a table.
func (p *pass) ct(a openflow.CT) {
	q := request{CT: a, zone: a.Zone}
	if a.ZoneSrc.Width > 0 {
		q.zone = uint16(p.part(a.ZoneSrc).Lo)
	}
	for _, e := range a.Exec {
		switch e := e.(type) {
		case openflow.SetField:
			q.write(e.Field, e.Value, e.Mask)
		case openflow.Move:
			q.write(e.Dst.Field, p.part(e.Src).Shl(int(e.Dst.Offset)), e.Dst.Mask())
		}
	}
	p.commit()
	kept := header{fields: map[openflow.Field]openflow.Value{}}
	for f := openflow.Reg0; f <= openflow.InPort; f++ {
		kept.fields[f] = p.get(f)
	}
	stack, r := p.stack, p.reference
	p.steps = append(p.steps, func(x *wire) {
		r.track(x, q)
		if a.Recirc {
			c, h := *x, kept.clone()
			c.found.tell(h)
			r.walk(&c, a.Table, h, stack, true)
		}
	})
	p.ctForget()
}

// write is what one action of an exec adds.
func (q *request) write(f openflow.Field, v, mask openflow.Value) {
	t := &q.mark
	if f == openflow.CTLabel {
		t = &q.label
	}
	t.Value, t.Mask = t.Value.AndNot(mask).Or(v.And(mask)), t.Mask.Or(mask)
}

// ctForget makes the frame untracked as far as the fields tell.
func (p *pass) ctForget() {
	p.tracked = false
	for f := openflow.CTState; f <= openflow.CTTpDst; f++ {
		delete(p.fields, f)
	}
}

// ctClear forgets the tracker's findings, of a frame that has come from it.
func (p *pass) ctClear() {
	if p.tracked {
		p.steps = append(p.steps, func(x *wire) { x.found = findings{} })
		p.ctForget()
	}
}

// tell writes the findings into the fields of the pass to come.
func (m findings) tell(h header) {
	number := func(f openflow.Field, v uint64) { h.fields[f] = openflow.U64(v) }
	number(openflow.CTState, uint64(m.state))
	number(openflow.CTZone, uint64(m.zone))
	number(openflow.CTMark, uint64(m.mark))
	h.fields[openflow.CTLabel] = m.label
	if m.orig.Proto == 0 {
		return
	}
	h.fields[openflow.CTNwSrc], h.fields[openflow.CTNwDst] = openflow.Addr(m.orig.Src), openflow.Addr(m.orig.Dst)
	number(openflow.CTNwProto, uint64(m.orig.Proto))
	number(openflow.CTTpSrc, uint64(m.orig.SrcPort)|uint64(m.orig.Type))
	number(openflow.CTTpDst, uint64(m.orig.DstPort))
}

// track does what a ct action does to a frame.
func (r *reference) track(x *wire, q request) {
	m := &x.found
	if c := m.conn; c != nil && c.Zone == q.zone && !q.Force { // known from an earlier ct: it is not asked about again
		r.met["ct again"]++
		if q.NAT != nil {
			x.translate(c, m.reply)
			m.conn = nil
		}
		m.zone, m.mark, m.label = q.zone, c.Mark, c.Label
		m.exec(c, q)
		return
	}
	s, ok := segmentOf(dissect(x.bytes))
	if !ok {
		m.state = openflow.CTInv
		m.write(q.zone, nil, datapath.Tuple{})
		r.met[stateName(m.state)]++
		return
	}
	if m.zone != q.zone {
		m.state = 0
	}
	c, reply := r.find(q.zone, s.tuple, m.state)
	if c != nil && c.over { // it only holds its translated tuple
		m.state |= openflow.CTInv
		m.write(q.zone, nil, datapath.Tuple{})
		r.met[stateName(m.state)]++
		return
	}
	m.reply = reply
	c, t := r.belongs(x, c, s, q)
	m.write(q.zone, c, t)
	r.met[stateName(m.state)]++
	if c != nil {
		m.exec(c, q)
	}
	m.conn = nil
	if q.NAT == nil {
		m.conn = c
	}
}

// belongs moves the connection of a frame on, or opens one. t is the tuple that the frame has if it has none.
func (r *reference) belongs(x *wire, c *connection, s segment, q request) (_ *connection, t datapath.Tuple) {
	m := &x.found
	t = s.tuple
	if c != nil && m.state&natted != 0 {
		t = c.Orig
		if m.reply {
			t = c.Reply
		}
	}
	if c == nil && q.NAT == nil && m.state&natted != 0 && m.orig.Proto == t.Proto { // changed since it was translated
		if c, _ = r.find(m.zone, m.orig, 0); c != nil {
			r.met["by original tuple"]++
		}
	}
	if c != nil && q.Force && m.reply {
		r.met["forced"]++
		c.over = true
		c = nil
	}
	if c != nil {
		verdict := c.update(s, m.reply, r.now)
		m.judge(verdict)
		if verdict != replaced {
			if q.NAT != nil {
				x.translate(c, m.reply)
			}
			return c, t
		}
		r.met["replaced"]++
		c.over = true
	}
	if r.taken(q.zone, t) { // as it is while what is over holds its translated tuple
		return c, t
	}
	if !s.opens() {
		m.state = openflow.CTInv
		return nil, t
	}
	if m.state = openflow.CTNew; !q.Commit {
		return nil, t
	}
	c = open(t, q.zone, s, r.now)
	if q.NAT != nil {
		if !r.mapping(c, *q.NAT) {
			r.met["no mapping"]++
			return nil, t
		}
		x.translate(c, false)
	}
	r.conns = append(r.conns, c)
	return c, t
}

// judge sets the bits that a connection's verdict stands for.
func (m *findings) judge(v verdict) {
	switch v {
	case established:
		m.state = m.state&^openflow.CTNew | openflow.CTEst
		if m.reply {
			m.state |= openflow.CTRpl
		}
	case fresh:
		m.state |= openflow.CTNew
	case invalid:
		m.state = openflow.CTInv
	}
}

// write leaves the findings with the frame: the connection's, or the frame's own tuple.
func (m *findings) write(zone uint16, c *connection, t datapath.Tuple) {
	m.state |= openflow.CTTrk
	m.zone, m.mark, m.label, m.orig = zone, 0, openflow.Value{}, t
	if c != nil {
		m.mark, m.label, m.orig = c.Mark, c.Label, c.Orig
	}
}

// exec writes mark and label.
func (m *findings) exec(c *connection, q request) {
	m.mark = m.mark&^uint32(q.mark.Mask.Lo) | uint32(q.mark.Value.Lo)
	m.label = m.label.AndNot(q.label.Mask).Or(q.label.Value)
	if !q.mark.Mask.IsZero() {
		c.Mark = m.mark
	}
	if !q.label.Mask.IsZero() {
		c.Label = m.label
	}
}

const natted = openflow.CTSNAT | openflow.CTDNAT

// find is the connection of a tuple, and whether it is that of its replies. A frame that was translated is known by the answer to it.
func (r *reference) find(zone uint16, t datapath.Tuple, state uint32) (found *connection, reply bool) {
	translated := state&natted != 0
	if translated {
		t = reverse(t)
	}
	for _, c := range r.conns {
		if c.Zone != zone || !c.holds(t) {
			continue
		}
		if found != nil {
			r.unclear = true
		}
		found, reply = c, (c.Orig != t) != translated
	}
	return found, reply
}

// taken reports whether a tuple belongs to a connection.
func (r *reference) taken(zone uint16, t datapath.Tuple) bool {
	return slices.ContainsFunc(r.conns, func(c *connection) bool {
		return c.Zone == zone && c.holds(t)
	})
}

// holds reports whether a tuple leads to the connection. The translated tuple does even if it is over, until it is removed.
func (c *connection) holds(t datapath.Tuple) bool {
	if c.over {
		return c.nat != 0 && (c.Reply == t || c.Orig == t && c.same())
	}
	return c.Orig == t || c.Reply == t
}

// same reports whether the translation changes nothing.
func (c *connection) same() bool { return c.Reply == reverse(c.Orig) }

// mapping chooses the tuple that a new connection's replies shall have. It reports false if all are taken.
func (r *reference) mapping(c *connection, n openflow.NAT) bool {
	v := uint32(n.Addr[0].Lo)
	addr := netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
	end := &c.Reply.Dst
	if c.nat = openflow.CTSNAT; n.Kind == openflow.NATDst {
		c.nat, end = openflow.CTDNAT, &c.Reply.Src
	}
	if v != 0 {
		*end = addr
	}
	port := &c.Reply.DstPort // the sender's
	fixed := c.Orig.Proto == openflow.ProtoICMP
	if n.Port[0] != 0 && !fixed {
		if n.Kind == openflow.NATDst {
			c.Reply.SrcPort = n.Port[0]
		} else {
			*port, fixed = n.Port[0], true
		}
	}
	low, high := uint16(1024), uint16(65535)
	switch {
	case *port < 512:
		low, high = 1, 511
	case *port < 1024:
		low, high = 600, 1023
	}
	for range 128 {
		if !r.taken(c.Zone, c.Reply) {
			return true
		}
		if r.met["tuple taken"]++; fixed {
			return false
		}
		if *port++; *port < low || *port > high {
			*port = low
		}
	}
	r.unclear = true // OVS goes on at random
	return false
}

// translate applies a connection's mapping to a frame, unless that was done before.
func (x *wire) translate(c *connection, reply bool) {
	if c.nat == 0 || x.found.state&natted != 0 {
		return
	}
	t, did := reverse(c.Reply), c.nat
	if reply {
		t, did = reverse(c.Orig), c.nat^natted
	}
	d := dissect(x.bytes)
	m := d.places()
	m[openflow.IPSrc].set(openflow.Addr(t.Src))
	m[openflow.IPDst].set(openflow.Addr(t.Dst))
	for f, port := range map[openflow.Field]uint16{
		openflow.TCPSrc: t.SrcPort, openflow.UDPSrc: t.SrcPort, openflow.TCPDst: t.DstPort, openflow.UDPDst: t.DstPort,
	} {
		if p, ok := m[f]; ok {
			p.set(openflow.U64(uint64(port)))
		}
	}
	x.bytes = d.bytes()
	x.found.state |= did
	x.found.conn = nil
}

// reverse is the tuple of the answer.
func reverse(t datapath.Tuple) datapath.Tuple {
	t.Src, t.Dst, t.SrcPort, t.DstPort = t.Dst, t.Src, t.DstPort, t.SrcPort
	if t.Proto == openflow.ProtoICMP {
		t.Type = 8 - t.Type // echo request and reply
	}
	return t
}

// stateName is a ct_state as a match prints it.
func stateName(state uint32) string {
	return openflow.Match{}.With(openflow.CTState, openflow.U64(uint64(state))).String()
}

// connections lists the connections as a switch does.
func (r *reference) connections() (list []datapath.Conn) {
	for _, c := range r.conns {
		if !c.over {
			l := c.Conn
			l.Timeout = c.expires - r.now
			if l.Orig.Proto == openflow.ProtoTCP {
				l.State = max(c.ends[0].state, c.ends[1].state).String()
			}
			list = append(list, l)
		}
	}
	return list
}

// flush forgets connections.
func (r *reference) flush(f datapath.ConnFilter) {
	r.conns = slices.DeleteFunc(r.conns, func(c *connection) bool { return f.Match(c.Conn) })
}
