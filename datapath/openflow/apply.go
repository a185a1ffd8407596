package openflow

import (
	"fmt"
	"slices"
)

// OverlapError says that a flow with CheckOverlap overlaps another of the same priority.
type OverlapError struct{ Added, Present Flow }

// Error names both flows.
func (e *OverlapError) Error() string {
	return fmt.Sprintf("add flow: %v overlaps %v", e.Added, e.Present)
}

// Apply is the flows of a switch that had p after it made the changes of b: a model of flow
// tables without counters. An invalid change or a forbidden overlap is an error that names the
// change; then nothing was changed.
//
// It does not model what Learn does by itself (DeleteLearned). And OVS 3.1 has a quirk that it
// has not: a loose command overlooks flows that the same bundle added before, if their table
// had none with the same fields and masks. So loose commands go first in a bundle.
func (p Program) Apply(b Bundle) (Program, error) {
	flows := slices.Clone(p.flows)
	for i, m := range b {
		if err := m.Validate(); err != nil {
			return p, fmt.Errorf("change %d: %w", i+1, err)
		}
		var err error
		if flows, err = m.apply(flows); err != nil {
			return p, fmt.Errorf("change %d: %w", i+1, err)
		}
	}
	return NewProgram(flows...)
}

// apply changes flows, which are sorted and stay so.
func (m FlowMod) apply(flows []Flow) ([]Flow, error) {
	if m.Command == Add {
		return m.add(flows)
	}
	from, to := 0, len(flows)
	if m.Command.isStrict() && m.Flow.Table != CurrentTable {
		i, found := search(flows, m.Flow.Key())
		if from, to = i, i; found {
			to++
		}
	}
	if m.Command.isDelete() {
		left := slices.DeleteFunc(flows[from:to:to], m.Selects)
		return slices.Delete(flows, from+len(left), to), nil
	}
	for i := from; i < to; i++ {
		if m.Selects(flows[i]) {
			flows[i].Actions = m.Flow.Actions
		}
	}
	return flows, nil
}

func (m FlowMod) add(flows []Flow) ([]Flow, error) {
	i, found := search(flows, m.Flow.Key())
	if found {
		flows[i] = m.Flow
		return flows, nil
	}
	if m.Flow.Flags&CheckOverlap != 0 {
		for _, f := range flows {
			if f.Table == m.Flow.Table && f.Priority == m.Flow.Priority && f.Match.Overlaps(m.Flow.Match) {
				return nil, &OverlapError{m.Flow, f}
			}
		}
	}
	return slices.Insert(flows, i, m.Flow), nil
}
