package control

import "time"

// Untouched tells the core that nobody but itself has changed the switch's flows since its last step,
// as the owner of a simulated switch can know. A comparison that is due only because time has passed
// is then put off: it would find nothing. Whatever else there is to do stays due.
func (c *Core) Untouched(now time.Time) {
	if !c.changed && c.failure == nil && len(c.flushes) == 0 && !now.Before(c.due) {
		c.due = now.Add(c.settings.Resync)
	}
}

// Pending reports whether the core knows of something that it has not brought about yet: a change, a
// step that failed, connections to forget.
func (c *Core) Pending() bool { return c.changed || c.failure != nil || len(c.flushes) > 0 }
