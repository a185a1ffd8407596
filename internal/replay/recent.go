package replay

import "time"

// session is what retransmissions of one SYN have in common.
type session struct {
	client, vip end
	seq         uint32
}

// Bounds of what recent remembers. A SYN is retransmitted for about two minutes (RFC 9293, 3.8.3).
const (
	generationAge  = 2 * time.Minute
	generationSize = 1 << 16
)

// recent remembers the sessions of the last minutes in two generations: when the young one is full or
// old, it becomes the old one, and the old one is forgotten.
type recent struct {
	young, old map[session]struct{}
	born       time.Duration
}

// add reports whether s is new, and remembers it.
func (r *recent) add(now time.Duration, s session) bool {
	if r.young == nil || now-r.born > generationAge || len(r.young) >= generationSize {
		r.young, r.old, r.born = map[session]struct{}{}, r.young, now
	}
	_, young := r.young[s]
	_, old := r.old[s]
	r.young[s] = struct{}{}
	return !young && !old
}
