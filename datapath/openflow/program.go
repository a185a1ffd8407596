package openflow

import (
	"fmt"
	"iter"
	"slices"
)

// Program is a set of flows with distinct keys, in canonical order: by table, higher priority
// first, then match. A Program is immutable.
type Program struct{ flows []Flow }

// NewProgram makes a Program. Two flows with one key are an error.
func NewProgram(flows ...Flow) (Program, error) {
	sorted := slices.Clone(flows)
	slices.SortStableFunc(sorted, func(a, b Flow) int { return a.Key().Compare(b.Key()) })
	for i := range sorted {
		if i > 0 && sorted[i-1].Key().Compare(sorted[i].Key()) == 0 {
			return Program{}, fmt.Errorf("make program: two flows have the same table, priority and match: %v", sorted[i])
		}
	}
	return Program{sorted}, nil
}

// Len is the number of flows.
func (p Program) Len() int { return len(p.flows) }

// All yields the flows in canonical order.
func (p Program) All() iter.Seq[Flow] { return slices.Values(p.flows) }

// Get returns the flow with key k.
func (p Program) Get(k Key) (Flow, bool) {
	i, ok := slices.BinarySearchFunc(p.flows, k, func(f Flow, k Key) int { return f.Key().Compare(k) })
	if !ok {
		return Flow{}, false
	}
	return p.flows[i], true
}

// Bundle adds every flow of the program.
func (p Program) Bundle() Bundle {
	b := make(Bundle, 0, len(p.flows))
	for _, f := range p.flows {
		b = append(b, FlowMod{Command: Add, Flow: f})
	}
	return b
}
