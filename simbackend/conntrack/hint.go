package conntrack

import "time"

// Hint is what a caller keeps of a packet to spare the next of the same addresses and ports the search for its
// connection. It belongs to one Table; the zero value knows nothing. It changes the time things take and nothing else.
type Hint struct {
	conn *conn
	seq  uint64 // that it had: the memory of a removed one is used again
}

// ExecuteHinted is Execute, looking first at what h knows, and leaves in h what it has found.
func (t *Table) ExecuteHinted(now time.Duration, p *Packet, r *Request, h *Hint) Outcome {
	ms := millis(now)
	if t.waiting.idle() && !p.MaybeFragment() {
		t.track(ms, p, r, h)
		return Outcome{}
	}
	held, released := t.executeFragments(ms, []*Packet{p}, r)
	return Outcome{held[0], released}
}

// recall is what the index would find under k, if the hint tells. It does of a connection that shares neither of its
// hashes: then only its own two places stand where the index would look, the one under k first.
func (h *Hint) recall(k *key, now int64) (found match, ok bool) {
	if h == nil {
		return match{}, false
	}
	c := h.conn
	if c == nil || c.seq != h.seq || c.shared() || c.expired(now) || c.zone != k.zone || c.proto != k.proto {
		return match{}, false
	}
	switch {
	case c.src == k.src && c.dst == k.dst:
		return match{conn: c}, true
	case c.reply() == *k:
		return match{conn: c, second: c.translated(), back: !c.translated()}, true
	}
	return match{}, false
}

// keep makes h a hint at c.
func (h *Hint) keep(c *conn) {
	if h != nil && (h.conn != c || h.seq != c.seq) {
		h.conn, h.seq = c, c.seq
	}
}
