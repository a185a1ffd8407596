package control

import (
	"context"
	"fmt"
	"maps"
	"time"

	"hpnn/datapath/openflow"
	"hpnn/internal/maglev"
	"hpnn/internal/pipeline"
	"hpnn/model"
)

// Step brings the switch to what it should hold, if it is time. A change of members goes out at once, as what it changes
// in the program that the switch held when it was last seen; everything else, and now and then that too, by comparing all
// that is there with all that should be.
func (c *Core) Step(ctx context.Context, now time.Time) Outcome {
	if now.Before(c.due) {
		return Outcome{}
	}
	out, err := c.sync(ctx, now)
	c.failure = err
	if err != nil {
		c.failures++
		c.trusted = false
		c.backoff = min(max(2*c.backoff, c.settings.RetryMin), c.settings.RetryMax)
		c.due = now.Add(c.backoff)
		out.Err = err
		return out
	}
	c.backoff, c.due = 0, now.Add(c.settings.Resync)
	if !now.Before(c.compared.Add(c.settings.Resync)) { // this step should have compared: the next does, whatever comes
		c.due, c.trusted = now, false
	}
	return out
}

// sync commits what is to change and forgets connections.
func (c *Core) sync(ctx context.Context, now time.Time) (Outcome, error) {
	t := c.Effective()
	layouts := c.wanted(t)
	out := Outcome{Changed: c.changed}
	var err error
	if c.trusted && c.changed {
		out.Bundle = pipeline.Change(t, c.layouts, layouts)
	} else {
		if out.Bundle, err = c.difference(ctx, t, layouts); err != nil {
			return Outcome{}, err
		}
		c.trusted, c.compared = true, now
	}
	if err := c.commit(ctx, out); err != nil {
		return Outcome{Changed: c.changed}, err
	}
	out.Pools = compareLayouts(t, c.layouts, layouts)
	for _, p := range out.Pools {
		c.moves[p.ID] = lastMove{now, p.Report}
	}
	c.layouts, c.changed = layouts, false
	out.Flushed, err = c.flush(ctx, now)
	return out, err
}

// difference compares all that the switch holds with all that it should.
func (c *Core) difference(ctx context.Context, t model.Topology, layouts pipeline.Layouts) (openflow.Bundle, error) {
	have, err := c.bridge.Flows(ctx)
	if err != nil {
		return nil, fmt.Errorf("read flows: %w", err)
	}
	return openflow.Diff(plain(have), c.rendered.program(t, layouts)), nil
}

func (c *Core) commit(ctx context.Context, out Outcome) error {
	if len(out.Bundle) == 0 {
		return nil
	}
	if err := c.bridge.Commit(ctx, out.Bundle); err != nil {
		return err
	}
	c.commits++
	if !out.Changed {
		c.repairs++
	}
	return nil
}

func plain(entries []openflow.FlowEntry) []openflow.Flow {
	flows := make([]openflow.Flow, len(entries))
	for i, e := range entries {
		flows[i] = e.Flow
	}
	return flows
}

// A rendering is the program of a topology with certain layouts, kept for as long as it is wanted again.
type rendering struct {
	layouts pipeline.Layouts // nil: none is kept
	kept    openflow.Program
}

// program is what Render makes of the topology, which must be the same each time but for who is drained.
func (r *rendering) program(t model.Topology, layouts pipeline.Layouts) openflow.Program {
	if r.layouts == nil || !sameLayouts(r.layouts, layouts) {
		r.layouts, r.kept = layouts, pipeline.Render(t, layouts)
	}
	return r.kept
}

func sameLayouts(a, b pipeline.Layouts) bool {
	return maps.EqualFunc(a, b, maglev.Table.Equal)
}
