package control

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hpnn/datapath"
	"hpnn/internal/pipeline"
)

// lateFlush is a flush to be done once more: a switch goes on for a moment by what it has cached of the old rules (Open
// vSwitch checks its cached flows up to half a second after a change), and a connection that begins then would lead to a
// dead member for as long as its client tries.
type lateFlush struct {
	at     time.Time
	filter datapath.ConnFilter
}

// flush forgets the connections of members that went down. What could not be flushed stays to be done.
func (c *Core) flush(ctx context.Context, now time.Time) (done int, err error) {
	for len(c.flushes) > 0 {
		if err := c.forget(ctx, c.flushes[0]); err != nil {
			return done, err
		}
		c.again = append(c.again, lateFlush{now.Add(c.settings.Resync), c.flushes[0]})
		c.flushes = c.flushes[1:]
		done++
	}
	return done, c.flushAgain(ctx, now)
}

// flushAgain does what is due for the second time, but not for members that have come back.
func (c *Core) flushAgain(ctx context.Context, now time.Time) error {
	for len(c.again) > 0 && !now.Before(c.again[0].at) {
		if f := c.again[0].filter; !c.serves(f) {
			if err := c.forget(ctx, f); err != nil {
				return err
			}
		}
		c.again = c.again[1:]
	}
	return nil
}

func (c *Core) forget(ctx context.Context, f datapath.ConnFilter) error {
	if err := c.bridge.Conntrack().Flush(ctx, f); err != nil {
		return fmt.Errorf("flush connections of a member that went down: %w", err)
	}
	return nil
}

// serves tells whether the connections that a filter selects are those of a member that is up.
func (c *Core) serves(f datapath.ConnFilter) bool {
	for name, m := range c.members() {
		if !c.down[name] && slices.Contains(pipeline.Connections(m.member), f) {
			return true
		}
	}
	return false
}
