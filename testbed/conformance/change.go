package conformance

import (
	"context"
	"slices"

	"hpnn/datapath/openflow"
)

// change commits a random bundle.
func (m *maker) change() []Event {
	flows, err := m.world.sim.Flows(context.Background())
	if err != nil || len(flows) == 0 {
		return nil
	}
	present := make([]openflow.Flow, len(flows))
	for i, f := range flows {
		present[i] = f.Flow
	}
	var b openflow.Bundle
	for range 1 + m.IntN(3) {
		if mod, ok := m.flowMod(present); ok && mod.Validate() == nil {
			b = append(b, mod)
			present = append(present, mod.Flow)
		}
	}
	if looseAfterAdd(Case{Events: []Event{Commit{b}}}) {
		slices.Reverse(b)
	}
	if len(b) == 0 || looseAfterAdd(Case{Events: []Event{Commit{b}}}) || m.world.commit(0, b) != nil {
		return nil
	}
	return []Event{Commit{b}}
}

// flowMod is a random change that speaks of one of the flows present, mostly.
func (m *maker) flowMod(present []openflow.Flow) (openflow.FlowMod, bool) {
	f := pick(m, present...)
	table := f.Table
	switch m.IntN(6) {
	case 0:
		f, ok := m.flow(openflow.TableID(m.IntN(m.tables)), present)
		return openflow.FlowMod{Command: openflow.Add, Flow: f}, ok
	case 1:
		f.Actions, f.Flags = m.actions(f.Match, f.Table, 4), pick(m, 0, openflow.ResetCounts)
		return openflow.FlowMod{Command: openflow.Add, Flow: f}, true
	case 2, 3:
		mod := openflow.FlowMod{Command: pick(m, openflow.Modify, openflow.ModifyStrict)}
		mod.Flow = openflow.Flow{Table: table, Match: f.Match, Priority: f.Priority, Actions: m.actions(f.Match, f.Table, 4), Flags: pick(m, 0, 0, openflow.ResetCounts)}
		if contains(mod.Flow.Actions, commits) || contains(mod.Flow.Actions, pushesTag) {
			mod.Command = openflow.ModifyStrict
		}
		return m.finish(mod, f, present)
	}
	mod := openflow.FlowMod{Command: pick(m, openflow.Delete, openflow.DeleteStrict)}
	mod.Flow = openflow.Flow{Table: pick(m, table, table, openflow.CurrentTable), Match: f.Match, Priority: f.Priority}
	if m.chance(20) {
		mod.OutPort = openflow.PortNo(1 + m.IntN(Ports))
	}
	return m.finish(mod, f, present)
}

// finish adds what modifies and deletes have in common: a cookie, and for loose ones a wider match.
func (m *maker) finish(mod openflow.FlowMod, f openflow.Flow, present []openflow.Flow) (openflow.FlowMod, bool) {
	if m.chance(25) {
		mod.CookieMask = pick[uint64](m, 1, 3, 0xffffffffffffffff)
		mod.Flow.Cookie = f.Cookie & mod.CookieMask
	}
	if mod.Command == openflow.Modify || mod.Command == openflow.Delete {
		mod.Flow.Priority = 0
		if terms := f.Match.Terms(); len(terms) > 1 && m.chance(40) {
			wider := openflow.Match{}
			for _, t := range terms[:len(terms)-1] {
				wider = wider.WithMask(t.Field, t.Value, t.Mask)
			}
			mod.Flow.Match = wider
		}
	}
	// A modify that finds nothing may add its flow.
	key := openflow.Flow{Table: mod.Flow.Table, Priority: mod.Flow.Priority, Match: mod.Flow.Match}
	same := slices.ContainsFunc(present, func(p openflow.Flow) bool { return p.Key().Compare(key.Key()) == 0 })
	return mod, same || !overlaps(key, present)
}
