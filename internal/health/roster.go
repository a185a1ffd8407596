package health

import (
	"fmt"
	"time"

	"hpnn/model"
)

// A Roster is the members that are watched: a tracker for each, and the schedule of all. It is the runner without its
// goroutines - who has a clock of his own, as a simulation has, drives it himself:
//
//	for {
//		at, ok := roster.Wake()           // let time pass until then, or until a probe has ended
//		launch, ok := roster.Take(now)    // send the probe
//		event, ok := roster.Land(…, now)  // it has ended
//	}
//
// The zero Roster is empty and ready. It is not for use by several goroutines at a time.
type Roster struct {
	members  map[ID]*member
	order    []ID // as the last Update had them
	schedule Schedule
	started  uint64 // members planned so far, for the spread
}

// A member is one that is watched.
type member struct {
	check   Check
	tracker Tracker
}

// A Watched is a member that is watched, and its health.
type Watched struct {
	Check  Check
	Status Status
}

// An Event is one probe that ended, and what it changed.
type Event struct {
	ID         ID
	Name       string
	At         time.Time // when it ended
	Result     Result
	Transition Transition
	Status     Status        // after the result
	Lag        time.Duration // how much later than due the probe started; if it grows, too few may run at a time
}

// A Launch is a probe to be sent.
type Launch struct {
	Flight Flight
	Check  Check
	At     time.Time // when it started
}

// Statuses returns all members, in the order of the last Update.
func (r *Roster) Statuses() []Watched {
	all := make([]Watched, 0, len(r.order))
	for _, id := range r.order {
		m := r.members[id]
		all = append(all, Watched{m.check, m.tracker.Status()})
	}
	return all
}

// Wake returns when the next probe is due; false if none is.
func (r *Roster) Wake() (time.Time, bool) { return r.schedule.Wake() }

// Take returns a probe that is due, the longest waiting first; false if none is. Each must be given back to Land.
func (r *Roster) Take(now time.Time) (Launch, bool) {
	f, ok := r.schedule.Take(now)
	if !ok {
		return Launch{}, false
	}
	return Launch{Flight: f, Check: r.members[f.ID].check, At: now}, true
}

// Land takes the result of a probe that ended at the given moment, and returns what it changed; false if the result does
// not count, because the member was changed or removed meanwhile.
func (r *Roster) Land(l Launch, result Result, ended time.Time) (Event, bool) {
	id := l.Flight.ID
	if !r.schedule.Counts(l.Flight) {
		r.schedule.Land(l.Flight, ended, 0)
		return Event{}, false
	}
	m := r.members[id]
	change := m.tracker.Observe(result, ended)
	status := m.tracker.Status()
	r.schedule.Land(l.Flight, ended, PaceOf(m.check.Monitor).For(status))
	return Event{
		ID: id, Name: m.check.Name, At: ended, Result: result,
		Transition: change, Status: status, Lag: max(l.At.Sub(l.Flight.Due), 0),
	}, true
}

// Update makes the checks the ones that are watched, all of them and no others. It returns the members whose probe under
// way, if there is one, no longer counts and may be cut short.
//
// A member that was watched before keeps its state, its counts and its place in the schedule. If its monitor or target is
// another one, its next probe is planned as for a new member, and the counts go on under the new rule. A member that is no
// longer probed (type none) is up from now on.
//
// The error is that a member is there twice; then nothing has changed.
func (r *Roster) Update(checks []Check, now time.Time) (cut []ID, err error) {
	wanted := make(map[ID]bool, len(checks))
	for _, c := range checks {
		if wanted[c.ID] {
			return nil, fmt.Errorf("update health checks: %s is there twice: keep one", c.ID)
		}
		wanted[c.ID] = true
	}
	for _, id := range r.order {
		if !wanted[id] {
			delete(r.members, id)
			r.schedule.Remove(id)
			cut = append(cut, id)
		}
	}
	r.order = r.order[:0]
	for _, c := range checks {
		r.order = append(r.order, c.ID)
		if r.watch(c, now) {
			cut = append(cut, c.ID)
		}
	}
	return cut, nil
}

// watch takes up a check, and reports whether it differs from the one before, or is new.
func (r *Roster) watch(c Check, now time.Time) (anew bool) {
	m := r.members[c.ID]
	switch {
	case m == nil:
		m = &member{tracker: NewTracker(RuleOf(c.Monitor), c.Seed, now)}
		if r.members == nil {
			r.members = map[ID]*member{}
		}
		r.members[c.ID] = m
		anew = true
	case m.check.Monitor != c.Monitor || m.check.Target != c.Target:
		m.tracker.SetRule(RuleOf(c.Monitor))
		anew = true
	}
	if anew {
		r.plan(m, c, now)
	}
	m.check = c
	m.tracker.SetAdmin(c.Admin)
	return anew
}

// plan plans the first probe of a check, if its member is to be probed.
func (r *Roster) plan(m *member, c Check, now time.Time) {
	if c.Monitor.Type == model.MonitorNone {
		m.tracker = Unprobed(now)
		r.schedule.Remove(c.ID)
		return
	}
	r.schedule.Plan(c.ID, now.Add(Spread(r.started, c.Monitor.Interval)))
	r.started++
}
