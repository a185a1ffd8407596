package conntrack

import (
	"time"

	"hpnn/internal/packet"
)

// Outcome says what continues behind a ct(): the packet itself unless it is Held, and
// then each of Released, in order, through the same remaining actions.
type Outcome struct {
	Held     bool     // a fragment that waits for the rest of its datagram
	Released []Packet // fragments that wait no longer; their frames are the caller's
}

// Execute runs ct(r) on p at the virtual time now, which must not run backwards: it sets
// p.Meta and rewrites p.Frame in place. The outcome is the zero value unless fragments
// are about.
func (t *Table) Execute(now time.Duration, p *Packet, r *Request) Outcome {
	return t.ExecuteHinted(now, p, r, nil)
}

// ExecuteTogether runs ct(r) on packets that reach it together, as fragments do that have been let go: all
// are looked at before any is tracked, and those let go by this ct() continue behind all that are not held.
func (t *Table) ExecuteTogether(now time.Duration, packets []*Packet, r *Request) (held []bool, released []Packet) {
	return t.executeFragments(millis(now), packets, r)
}

// track runs one whole packet through the tracker.
func (t *Table) track(now int64, p *Packet, r *Request, h *Hint) {
	m := &p.Meta
	if m.State == StateInv { // so marked by the reassembly
		m.write(r.Zone, nil, nil)
		return
	}
	if c := m.conn; c != nil && c.zone == r.Zone && !r.Force && !helperPort(p) {
		t.trackCached(p, c, r)
		return
	}
	var l lookup
	if !l.extract(p, r.Zone) {
		m.State = StateInv
		m.write(r.Zone, nil, nil)
		return
	}
	t.trackFound(now, m, &l, r, h)
}

// helperPort tells the packets OVS takes for FTP or TFTP control by their port, with or
// without alg=. They are never served from the packet's memory of an earlier ct().
func helperPort(p *Packet) bool {
	v, ok := p.view()
	if !ok || len(v.payload()) < 4 {
		return false
	}
	src, dst := packet.Word(v.payload(), 0), packet.Word(v.payload(), 2)
	switch v.proto() {
	case protoTCP:
		return src == 21 || dst == 21
	case protoUDP:
		return dst == 69
	}
	return false
}

// trackCached serves a second ct() in the same zone: the connection is known, so only
// its mark and label, the translation and exec() remain.
func (t *Table) trackCached(p *Packet, c *conn, r *Request) {
	m := &p.Meta
	if r.NAT.Kind != NATNone {
		if v, ok := p.view(); ok {
			m.translate(&v, c, m.reply, m.related)
		}
		m.conn = nil
	}
	m.Zone, m.Mark, m.Label = r.Zone, c.mark, c.label
	t.touch(c)
	m.exec(c, r)
}

// trackFound serves a packet with a key.
func (t *Table) trackFound(now int64, m *Meta, l *lookup, r *Request, h *Hint) {
	if m.State != 0 && m.Zone != r.Zone {
		m.State = 0
	}
	found := t.find(now, m, l, r, h)
	if found.conn != nil && r.Force && l.reply {
		if !found.second { // a translated connection found under its reply tuple stays in force
			t.expire(found.conn)
		}
		found = match{}
	}
	c, ok := t.resolve(now, found, l)
	if !ok {
		m.State |= StateInv
		m.write(r.Zone, nil, nil)
		return
	}
	c = t.updateOrCreate(now, m, l, c, r)
	m.write(r.Zone, c, l)
	if c != nil {
		h.keep(c)
		t.touch(c)
		m.exec(c, r)
	}
	m.conn = nil
	if r.NAT.Kind == NATNone {
		m.conn, m.reply, m.related = c, l.reply, l.related
	}
}

// foresee asks for what of the index a packet needs that opens a connection with a mapping, so that the processor
// waits for both places at a time.
func (t *Table) foresee(l *lookup, r *Request) {
	t.mapping.make(&r.NAT, &l.key)
	l.mapped = true
	t.index.fetch(l.hash)
	t.index.fetch(t.mapping.hash)
}

// find looks l up. A packet that was translated by an earlier ct() is in no tuple; the
// answer to it is, so that is looked for and the direction turned round.
func (t *Table) find(now int64, m *Meta, l *lookup, r *Request, h *Hint) match {
	if m.State&natted == 0 {
		found, ok := h.recall(&l.key, now)
		if !ok {
			l.hash = l.key.hash()
			if t.opening && r.NAT.Kind > NATExisting {
				t.foresee(l, r)
			}
			found, l.gap = t.index.find(&t.conns, &l.key, l.hash, now)
			l.absent = found.conn == nil
		}
		l.reply = found.back
		return found
	}
	l.hash = l.key.hash()
	back := l.key.reverse()
	found, _ := t.index.find(&t.conns, &back, l.hash, now)
	l.reply = found.back
	if found.conn == nil {
		return found
	}
	l.reply = !found.back
	l.key = found.other()
	return found
}

// resolve gives the connection that was found. The reply tuple of a translated connection
// only leads to it, through the original tuple; ok is false if that has expired.
func (t *Table) resolve(now int64, found match, l *lookup) (c *conn, ok bool) {
	if found.conn == nil || !found.second {
		return found.conn, true
	}
	l.reply = true
	if c = found.conn; !c.shared() && !c.expired(now) { // nothing else is there
		l.reply = l.key.src != c.src || l.key.dst != c.dst
		return c, true
	}
	orig := found.conn.orig()
	first := t.index.findAt(&t.conns, &l.key, &orig, orig.hash(), now)
	if first.conn == nil || t.aborted(first) {
		return nil, false
	}
	l.reply = first.back
	return first.conn, true
}

// updateOrCreate runs the state machine of c, if there is one, and commits a connection
// for a packet that starts one. It returns the packet's connection or nil.
func (t *Table) updateOrCreate(now int64, m *Meta, l *lookup, c *conn, r *Request) *conn {
	if c == nil && r.NAT.Kind == NATNone && m.State&natted != 0 {
		c = t.byOriginal(now, m, l)
	}
	if c == nil && l.related {
		m.State = StateInv // an error about a connection we do not know
		return nil
	}
	t.opening = c == nil
	if c != nil && !t.updateState(now, m, l, c) {
		if r.NAT.Kind != NATNone {
			m.translate(&l.view, c, l.reply, l.related)
		}
		return c
	}
	if !l.absent {
		l.hash = l.key.hash()
		found, gap := t.index.find(&t.conns, &l.key, l.hash, now)
		if found.conn != nil {
			return c // its tuple is still owned by the connection that is over
		}
		l.gap = gap
	}
	return t.create(now, m, l, r)
}

// byOriginal finds the connection of a translated packet by the original tuple it
// carries, when the answer to it is in no tuple either.
func (t *Table) byOriginal(now int64, m *Meta, l *lookup) *conn {
	orig := m.Orig
	if orig.Proto != l.key.proto || orig.Proto == 0 {
		return nil
	}
	if orig.Proto == protoICMP {
		orig.ID, orig.DstPort = l.key.src.port(), 0
	}
	k, ok := keyOf(orig, m.Zone)
	if !ok {
		return nil
	}
	found, _ := t.index.find(&t.conns, &k, k.hash(), now)
	if found.conn == nil || t.aborted(found) {
		return nil
	}
	return found.conn
}

// aborted notes that OVS would run the state machine on what stands for a connection under
// its reply tuple, which it asserts never to do.
func (t *Table) aborted(found match) bool {
	if found.second {
		t.aborts++
	}
	return found.second
}

// updateState moves c on by the packet and sets the state bits. It returns true if the
// connection is over and the packet may start another.
func (t *Table) updateState(now int64, m *Meta, l *lookup, c *conn) (fresh bool) {
	if l.related {
		m.State |= StateRel
		if l.reply {
			m.State |= StateRpl
		}
		return false
	}
	t.touch(c)
	v := c.update(l, now)
	t.schedule(c)
	switch v {
	case verdictEstablished:
		m.State = m.State&^StateNew | StateEst
		if l.reply {
			m.State |= StateRpl
		}
	case verdictNew:
		m.State |= StateNew
	case verdictInvalid:
		m.State = StateInv
	case verdictReplace:
		t.expire(c)
		return true
	}
	return false
}
