package openflow

import (
	"fmt"
	"iter"
	"slices"
)

// Program is a set of flows with distinct keys, in canonical order: by table, higher priority
// first, then match. A Program is immutable.
type Program struct {
	flows  []Flow
	learns map[learnTarget][]learnTemplate // what its flows can learn
}

// NewProgram makes a Program. Two flows with one key are an error.
func NewProgram(flows ...Flow) (Program, error) {
	p, err := programOf(flows)
	if len(p.flows) > 0 && &p.flows[0] == &flows[0] {
		p.flows = slices.Clone(flows) // the caller may change its own
	}
	return p, err
}

// programOf is NewProgram of flows that nobody will change.
func programOf(flows []Flow) (Program, error) {
	sorted, again := sortFlows(flows)
	if again > 0 {
		return Program{}, fmt.Errorf("make program: two flows have the same table, priority and match: %v", sorted[again])
	}
	return Program{sorted, collectLearns(sorted)}, nil
}

// search finds the flow with key k, or its place, in sorted flows.
func search(sorted []Flow, k Key) (int, bool) {
	return slices.BinarySearchFunc(sorted, k, func(f Flow, k Key) int { return f.Key().Compare(k) })
}

// Len is the number of flows.
func (p Program) Len() int { return len(p.flows) }

// All yields the flows in canonical order.
func (p Program) All() iter.Seq[Flow] { return slices.Values(p.flows) }

// Get returns the flow with key k.
func (p Program) Get(k Key) (Flow, bool) {
	i, ok := search(p.flows, k)
	if !ok {
		return Flow{}, false
	}
	return p.flows[i], true
}

// Bundle adds every flow of the program.
func (p Program) Bundle() Bundle {
	b := make(Bundle, len(p.flows))
	for i := range p.flows {
		b[i].Command, b[i].Flow = Add, p.flows[i]
	}
	return b
}
