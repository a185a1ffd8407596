package openflow

import (
	"cmp"
	"fmt"
	"iter"
	"math"
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
	sorted := sortFlows(flows)
	for i := range sorted {
		if i > 0 && compareFlows(sorted[i-1], sorted[i]) == 0 {
			return Program{}, fmt.Errorf("make program: two flows have the same table, priority and match: %v", sorted[i])
		}
	}
	return Program{sorted, collectLearns(sorted)}, nil
}

// compareFlows orders flows by key.
func compareFlows(a, b Flow) int { return a.Key().Compare(b.Key()) }

// sortFlows is a sorted copy of flows; those of one key stay in order.
func sortFlows(flows []Flow) []Flow {
	if slices.IsSortedFunc(flows, compareFlows) {
		return slices.Clone(flows)
	}
	places := make([]ranked, len(flows))
	for i := range flows {
		places[i] = ranked{flows[i].rank(), i}
	}
	slices.SortFunc(places, func(a, b ranked) int {
		if c := cmp.Compare(a.rank, b.rank); c != 0 {
			return c
		}
		return cmp.Or(compareFlows(flows[a.at], flows[b.at]), cmp.Compare(a.at, b.at))
	})
	sorted := make([]Flow, len(flows))
	for i, p := range places {
		sorted[i] = flows[p.at]
	}
	return sorted
}

// ranked is where a flow stands in a list, and its rank.
type ranked struct {
	rank uint64
	at   int
}

// rank is the beginning of the key as a number: of two flows with different ranks, the one with the
// lower comes first.
func (f *Flow) rank() uint64 {
	rank := uint64(f.Table)<<56 | uint64(^f.Priority)<<40
	if terms := f.Match.terms; len(terms) > 0 {
		value := terms[0].Value.Lo
		if terms[0].Value.Hi != 0 || value > math.MaxUint32 {
			value = math.MaxUint32
		}
		rank |= uint64(terms[0].Field)<<32 | value
	}
	return rank
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
	b := make(Bundle, 0, len(p.flows))
	for _, f := range p.flows {
		b = append(b, FlowMod{Command: Add, Flow: f})
	}
	return b
}
