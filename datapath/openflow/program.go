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
func NewProgram(flows ...Flow) (Program, error) { return programOf(slices.Clone(flows)) }

// programOf is NewProgram of flows that nobody else has.
func programOf(flows []Flow) (Program, error) {
	if i := sortFlows(flows); i > 0 {
		return Program{}, fmt.Errorf("make program: two flows have the same table, priority and match: %v", flows[i])
	}
	return Program{flows, collectLearns(flows)}, nil
}

// compareFlows orders flows by key.
func compareFlows(a, b *Flow) int {
	if c := cmp.Compare(a.Table, b.Table); c != 0 {
		return c
	}
	if c := cmp.Compare(b.Priority, a.Priority); c != 0 {
		return c
	}
	return a.Match.Compare(b.Match)
}

// sortFlows sorts flows; those of one key stay in order. It returns the index of the first that has the
// key of the one before it, or 0.
func sortFlows(flows []Flow) (again int) {
	order := make([]ranked, len(flows))
	for i := range flows {
		order[i] = flows[i].rank(i)
	}
	compare := func(a, b ranked) int {
		switch {
		case a.first != b.first:
			return cmp.Compare(a.first, b.first)
		case a.second != b.second:
			return cmp.Compare(a.second, b.second)
		}
		return cmp.Or(compareFlows(&flows[a.at], &flows[b.at]), int(a.at)-int(b.at))
	}
	if !slices.IsSortedFunc(order, compare) {
		slices.SortFunc(order, compare)
	}
	for i := len(order) - 1; i > 0; i-- {
		a, b := order[i-1], order[i]
		if a.first == b.first && a.second == b.second && compareFlows(&flows[a.at], &flows[b.at]) == 0 {
			again = i
		}
	}
	arrange(flows, order)
	return again
}

// arrange puts flows in the order given, which it destroys: it goes along the cycles of the permutation.
func arrange(flows []Flow, order []ranked) {
	for start := range order {
		first := flows[start]
		i := start
		for next := int(order[i].at); next != start; next = int(order[i].at) {
			flows[i] = flows[next]
			order[i].at = int32(i)
			i = next
		}
		flows[i] = first
		order[i].at = int32(i)
	}
}

// ranked is where a flow stands in a list, and the beginning of its key as two numbers: of two flows
// with different numbers, the one with the lower comes first.
type ranked struct {
	first, second uint64
	at            int32
}

func (f *Flow) rank(at int) ranked {
	r := ranked{first: uint64(f.Table)<<56 | uint64(^f.Priority)<<40, at: int32(at)}
	terms := f.Match.terms
	if len(terms) == 0 {
		return r
	}
	value, known := terms[0].rank()
	r.first |= value
	switch {
	case !known:
	case terms[0].Mask != terms[0].Field.Mask():
		r.second = math.MaxUint64 // after those that want all of the field
	case len(terms) > 1:
		r.second, _ = terms[1].rank()
	}
	return r
}

// rank is a term's field and value in 40 bits, and whether they are all of them.
func (t *Term) rank() (rank uint64, known bool) {
	value := t.Value.Lo
	if t.Value.Hi != 0 || value >= math.MaxUint32 {
		return uint64(t.Field)<<32 | math.MaxUint32, false
	}
	return uint64(t.Field)<<32 | value, true
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
