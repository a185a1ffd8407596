package openflow

import "slices"

// Diff is the smallest list of changes that turns the flows of a switch, in any order, into
// want: at most one a key. Flows that some Learn of want could have made stay. Flows whose
// actions alone differ are modified, which keeps counters and age; an Add keeps the counters.
// Deletes come first, then modifications, then additions, each in canonical order.
func Diff(have []Flow, want Program) Bundle {
	have, _ = sortFlows(have)
	var d changes
	for i := range want.flows {
		w := &want.flows[i]
		for len(have) > 0 && compareFlows(&have[0], w) < 0 {
			d.unwanted(have[0], want)
			have = have[1:]
		}
		if len(have) == 0 || compareFlows(&have[0], w) > 0 {
			d.adds = append(d.adds, FlowMod{Command: Add, Flow: *w})
			continue
		}
		d.changed(have[0], *w)
		have = have[1:]
	}
	for _, h := range have {
		d.unwanted(h, want)
	}
	return slices.Concat(d.deletes, d.modifies, d.adds)
}

// changes are the changes found so far, by kind.
type changes struct{ deletes, modifies, adds Bundle }

// unwanted deals with a flow that is not in want.
func (d *changes) unwanted(h Flow, want Program) {
	if !want.Learns(h) {
		d.deletes = append(d.deletes, FlowMod{Command: DeleteStrict, Flow: Flow{Table: h.Table, Priority: h.Priority, Match: h.Match}})
	}
}

// changed deals with a flow that is in want with the same key.
func (d *changes) changed(h, w Flow) {
	switch {
	case !h.sameSettings(w):
		d.adds = append(d.adds, FlowMod{Command: Add, Flow: w})
	case !EqualActions(h.Actions, w.Actions):
		d.modifies = append(d.modifies, FlowMod{Command: ModifyStrict,
			Flow: Flow{Table: w.Table, Priority: w.Priority, Match: w.Match, Actions: w.Actions}})
	}
}
