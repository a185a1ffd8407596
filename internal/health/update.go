package health

import (
	"fmt"
	"time"

	"hpnn/model"
)

// A Watched is a member that a runner watches, and its health.
type Watched struct {
	Check  Check
	Status Status
}

// Statuses returns all members, in the order of the last Update.
func (r *Runner) Statuses() []Watched {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Watched, 0, len(r.order))
	for _, id := range r.order {
		m := r.members[id]
		all = append(all, Watched{m.check, m.tracker.Status()})
	}
	return all
}

// Update makes the checks the ones that are watched, all of them and no others.
//
// A member that was watched before keeps its state, its counts and its place in the schedule. If its monitor or target is
// another one, a probe under way no longer counts, and the next one is planned as for a new member; counts go on under the
// new rule. A member that is no longer probed (type none) is up from now on. A probe of a member that is gone is cut short.
// Nothing of this is reported as an event: who updates can ask for the statuses. An event that was already on its way may
// still arrive after Update returned.
//
// The error is that a member is there twice; then nothing has changed.
func (r *Runner) Update(checks []Check) error {
	wanted := make(map[ID]bool, len(checks))
	for _, c := range checks {
		if wanted[c.ID] {
			return fmt.Errorf("update health checks: %s is there twice: keep one", c.ID)
		}
		wanted[c.ID] = true
	}
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.order = r.order[:0]
	for _, c := range checks {
		r.order = append(r.order, c.ID)
		r.watch(c, now)
	}
	for id := range r.members {
		if !wanted[id] {
			delete(r.members, id)
			r.unplan(id)
		}
	}
	select {
	case r.changed <- struct{}{}:
	default: // the loop has not yet seen the change before this one
	}
	return nil
}

// watch takes up a check, new or not.
func (r *Runner) watch(c Check, now time.Time) {
	m := r.members[c.ID]
	if m == nil {
		m = &member{tracker: NewTracker(RuleOf(c.Monitor), c.Seed, now)}
		r.members[c.ID] = m
		r.equip(m, c, now)
	} else if m.check.Monitor != c.Monitor || m.check.Target != c.Target {
		m.tracker.SetRule(RuleOf(c.Monitor))
		r.equip(m, c, now)
	}
	m.check = c
	m.tracker.SetAdmin(c.Admin)
}

// equip gives a member the prober of its monitor and plans its next probe.
func (r *Runner) equip(m *member, c Check, now time.Time) {
	if c.Monitor.Type == model.MonitorNone {
		m.prober = nil
		m.tracker = Unprobed(now)
		r.unplan(c.ID)
		return
	}
	m.prober = r.config.Prober(c.Monitor)
	r.cut(c.ID)
	r.schedule.Plan(c.ID, now.Add(Spread(r.started, c.Monitor.Interval)))
	r.started++
}

// unplan ends the probing of a member.
func (r *Runner) unplan(id ID) {
	r.cut(id)
	r.schedule.Remove(id)
}

// cut ends a probe under way.
func (r *Runner) cut(id ID) {
	if cancel := r.flying[id]; cancel != nil {
		cancel()
	}
}
