package simbackend

import (
	"math"
	"time"

	"hpnn/datapath/openflow"
)

const (
	never = time.Duration(math.MaxInt64)

	// sweepInterval is how often OVS looks for flows that timed out. Until it looks, a flow that
	// is over its time goes on matching.
	sweepInterval = time.Second
)

// Now is the switch's virtual time, since New.
func (s *Switch) Now() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Advance moves virtual time on to t, since New, and expires what times out on the way, in
// sweeps a second apart. A t in the past changes nothing.
func (s *Switch) Advance(t time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.swept+sweepInterval <= t {
		s.swept += sweepInterval
		if s.expires == never && s.ct.Len() == 0 { // nothing can time out: skip to the last sweep
			s.swept += (t - s.swept) / sweepInterval * sweepInterval
		}
		s.now = max(s.now, s.swept)
		if s.swept%s.ctSweep == 0 {
			s.ct.Expire(s.now)
		}
		if s.now > s.expires {
			s.expireRules()
		}
	}
	s.now = max(s.now, t)
}

// timed notes that r, which was inserted or refreshed, may time out.
func (s *Switch) timed(r *rule) {
	if at, ok := r.expiry(); ok {
		s.expires = min(s.expires, at)
	}
}

// expireRules removes the rules whose time is over. Times are strict: a flow with hard_timeout=5
// is still there at 5 s.
func (s *Switch) expireRules() {
	s.cache.settle()
	s.expires = never
	for id := range s.tables {
		var over []*rule
		for r := range s.tables[id].all {
			if at, ok := r.expiry(); ok && s.now > at {
				over = append(over, r)
			} else {
				s.timed(r)
			}
		}
		for _, r := range over {
			s.remove(r)
		}
	}
}

// insert puts a rule into its table.
func (s *Switch) insert(r *rule) {
	s.cache.inserted(r)
	if r.seq == 0 {
		s.seq++
		r.seq = s.seq
	}
	s.place(r)
}

func (s *Switch) place(r *rule) {
	s.tables[r.flow.Table].insert(r)
	s.cookies[cookieKey{r.flow.Table, r.flow.Cookie}]++
	s.count++
	s.peak = max(s.peak, s.count)
	s.timed(r)
}

// remove takes a rule out of its table.
func (s *Switch) remove(r *rule) {
	s.cache.removed(r)
	s.tracing.forget(r)
	s.count--
	s.tables[r.flow.Table].remove(r)
	k := cookieKey{r.flow.Table, r.flow.Cookie}
	if s.cookies[k]--; s.cookies[k] == 0 {
		delete(s.cookies, k)
	}
}

// replace puts new in the place of old, which has the same key.
func (s *Switch) replace(old, new *rule) {
	s.remove(old)
	new.seq = old.seq
	s.place(new)
}

// flows counts the rules of all tables.
func (s *Switch) flows() (n int) {
	for id := range s.tables {
		n += s.tables[openflow.TableID(id)].count
	}
	return n
}
