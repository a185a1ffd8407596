package conntrack

// create judges a packet without a connection and commits one if asked to. There is
// none if the packet may not open one, the table is full, or no translation is free.
func (t *Table) create(now int64, m *Meta, l *lookup, r *Request) *conn {
	if !l.mayOpen() {
		m.State = StateInv
		return nil
	}
	m.State = StateNew
	if !r.Commit || t.conns.count >= t.config.MaxConns {
		return nil
	}
	if r.NAT.Kind == NATNone {
		c := t.conns.put(&l.key)
		c.open(l, now)
		t.add(c, look{l.hash, l.gap}, look{})
		return c
	}
	if !l.mapped {
		t.mapping.make(&r.NAT, &l.key)
	}
	free, ok := t.chooseTuple(now, &t.mapping, &r.NAT)
	if !ok {
		return nil
	}
	c := t.conns.put(&l.key)
	c.translate(t.mapping.nat, &t.mapping.reply)
	c.open(l, now)
	t.add(c, look{l.hash, l.gap}, look{t.mapping.hash, free})
	m.rewrite(&l.view, c, false, l.related)
	return c
}

// add enters a connection into the index, where the looks for its tuples have ended, and into the wheel.
func (t *Table) add(c *conn, orig, reply look) {
	if c.translated() && !t.index.insert(reply.hash, placeOf(c, true), reply.gap) {
		t.index.share(&t.conns, reply.hash)
	}
	if !t.index.insert(orig.hash, placeOf(c, false), orig.gap) {
		t.index.share(&t.conns, orig.hash)
	}
	t.index.reserve()
	t.peak = max(t.peak, t.conns.count)
	t.schedule(c)
	if t.trial != nil {
		t.trial.added = append(t.trial.added, c)
	}
}

// look is one for a tuple with this hash, that has found nothing.
type look struct {
	hash uint32
	gap  gap
}

// remove takes an entry out.
func (t *Table) remove(c *conn) {
	o := t.placed(c)
	t.takeOut(&o)
}

// placed is an entry with the hashes it stands under.
type placed struct {
	conn        *conn
	orig, reply uint32
}

func (t *Table) placed(c *conn) placed {
	orig := c.orig()
	p := placed{conn: c, orig: orig.hash()}
	p.reply = p.orig
	if c.translated() {
		reply := c.reply()
		p.reply = reply.hash()
	}
	return p
}

func (t *Table) takeOut(p *placed) {
	c := p.conn
	t.index.remove(p.orig, placeOf(c, false))
	if c.translated() {
		t.index.remove(p.reply, placeOf(c, true))
	}
	c.due = never
	t.conns.drop(c)
}
