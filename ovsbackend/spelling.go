package ovsbackend

import (
	"slices"

	"hpnn/datapath/openflow"
	"hpnn/internal/ofwire"
)

// spelling remembers, by key, the actions of flows that OpenFlow 1.5 cannot express as they were
// written, so that who compares what is wanted with what is there finds no difference. It is never wrong
// about a flow that someone else changed: the flow must still be what these actions become.
type spelling map[string][]openflow.Action

// note remembers what a bundle wrote.
func (s spelling) note(b openflow.Bundle) {
	for _, m := range b {
		if m.Command != openflow.Add && m.Command != openflow.ModifyStrict {
			continue
		}
		stored := ofwire.Spell(m.Flow.Match, m.Flow.Actions)
		switch same := openflow.EqualActions(stored, m.Flow.Actions); {
		case !same:
			s[spellingKey(m.Flow)] = m.Flow.Actions
		case len(s) > 0:
			delete(s, spellingKey(m.Flow))
		}
	}
}

// restore gives the flows of a dump their actions as they were written.
func (s spelling) restore(flows []openflow.FlowEntry) {
	if len(s) == 0 {
		return
	}
	for i, f := range flows {
		written, ok := s[spellingKey(f.Flow)]
		if ok && openflow.EqualActions(f.Actions, ofwire.Spell(f.Match, written)) {
			flows[i].Actions = written
		}
	}
}

func spellingKey(f openflow.Flow) string {
	return openflow.Flow{Table: f.Table, Priority: f.Priority, Match: f.Match}.String()
}

// sortFlows puts flows into the order of a Program.
func sortFlows(flows []openflow.FlowEntry) {
	slices.SortFunc(flows, func(a, b openflow.FlowEntry) int { return a.Key().Compare(b.Key()) })
}
