package ovsbackend

import (
	"slices"

	"hpnn/datapath/openflow"
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
		key := spellingKey(m.Flow)
		delete(s, key)
		if stored := storedActions(m.Flow.Match, m.Flow.Actions); !openflow.EqualActions(stored, m.Flow.Actions) {
			s[key] = m.Flow.Actions
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
		if ok && openflow.EqualActions(f.Actions, storedActions(f.Match, written)) {
			flows[i].Actions = written
		}
	}
}

func spellingKey(f openflow.Flow) string {
	return openflow.Flow{Table: f.Table, Priority: f.Priority, Match: f.Match}.String()
}

// storedActions is what actions become when ovs-ofctl encodes them in OpenFlow 1.5: a queue is set,
// used and reset, and a tag is pushed before it is written, unless the flow is known to have one.
func storedActions(m openflow.Match, actions []openflow.Action) []openflow.Action {
	return store(actions, hasTag(m))
}

func hasTag(m openflow.Match) bool {
	t := m.Get(openflow.VLANTCI)
	present := openflow.U64(openflow.VLANPresent)
	return t.Mask.And(present) == present && t.Value.And(present) == present
}

func store(actions []openflow.Action, tagged bool) (stored []openflow.Action) {
	for _, a := range actions {
		switch a := a.(type) {
		case openflow.Enqueue:
			stored = append(stored, openflow.SetQueue{ID: a.Queue}, openflow.Output{Port: a.Port}, openflow.PopQueue{})
		case openflow.SetVLANVID:
			stored = append(storeTag(stored, tagged), openflow.Set(openflow.VLANVID, openflow.U64(uint64(a.VID))))
			tagged = true
		case openflow.SetVLANPCP:
			stored = append(storeTag(stored, tagged), openflow.Set(openflow.VLANPCP, openflow.U64(uint64(a.PCP))))
			tagged = true
		case openflow.PushVLAN:
			stored, tagged = append(stored, a), true
		case openflow.PopVLAN:
			stored, tagged = append(stored, a), false
		case openflow.Clone:
			stored = append(stored, openflow.Clone{Actions: store(a.Actions, tagged)})
		case openflow.WriteActions:
			stored = append(stored, openflow.WriteActions{Actions: store(a.Actions, tagged)})
		default:
			stored = append(stored, a)
		}
	}
	return stored
}

func storeTag(stored []openflow.Action, tagged bool) []openflow.Action {
	if tagged {
		return stored
	}
	return append(stored, openflow.PushVLAN{EthType: openflow.EthTypeVLAN})
}

// sortFlows puts flows into the order of a Program.
func sortFlows(flows []openflow.FlowEntry) {
	slices.SortFunc(flows, func(a, b openflow.FlowEntry) int { return a.Key().Compare(b.Key()) })
}
