package pipeline

import (
	"slices"

	of "hpnn/datapath/openflow"
	"hpnn/internal/maglev"
	"hpnn/model"
)

// Change is the difference that it makes to the program of a topology when other members own its slots: the same bundle
// as [of.Diff] finds between Render(t, before) and Render(t, after). It takes time in proportion to what changes, not to
// all that there is.
func Change(t model.Topology, before, after Layouts) of.Bundle {
	var c change
	for _, p := range t.Pools {
		if old, now := before[p.ID], after[p.ID]; !old.Equal(now) {
			c.pool(p, old, now)
		}
	}
	for _, list := range []of.Bundle{c.deletes, c.modifies, c.adds} {
		slices.SortFunc(list, func(a, b of.FlowMod) int { return a.Flow.Key().Compare(b.Flow.Key()) })
	}
	return slices.Concat(c.deletes, c.modifies, c.adds)
}

// A change is a list of changes by their kind.
type change struct{ deletes, modifies, adds of.Bundle }

func (c *change) pool(p model.Pool, before, after maglev.Table) {
	choices := choicesOf(p)
	old, now := slotsOf(p, before), slotsOf(p, after)
	for slot := range max(old, now) {
		a, _ := before.Owner(slot)
		if b, _ := after.Owner(slot); a == b && slot < min(old, now) {
			continue
		}
		had, owned := choices.flow(before, slot)
		has, owns := choices.flow(after, slot)
		c.slot(had, has, owned && slot < old, owns && slot < now)
	}
}

func (c *change) slot(had, has of.Flow, owned, owns bool) {
	switch {
	case owned && owns && !of.EqualActions(had.Actions, has.Actions):
		c.modifies = append(c.modifies, of.FlowMod{Command: of.ModifyStrict, Flow: has})
	case owned && !owns:
		had.Actions = nil
		c.deletes = append(c.deletes, of.FlowMod{Command: of.DeleteStrict, Flow: had})
	case owns && !owned:
		c.adds = append(c.adds, of.FlowMod{Command: of.Add, Flow: has})
	}
}
