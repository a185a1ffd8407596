package openflow

import (
	"cmp"
	"math"
	"slices"
)

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

// sortFlows is the flows in order of their keys: flows itself, if it is sorted. Those of one key stay in order;
// again is the index of the first that has the key of the one before it, or 0.
func sortFlows(flows []Flow) (sorted []Flow, again int) {
	order := make([]ranked, len(flows))
	inOrder := true
	for i := range flows {
		order[i] = flows[i].rank(i)
		inOrder = inOrder && (i == 0 || compareRanked(flows, order[i-1], order[i]) <= 0)
	}
	sorted = flows
	if !inOrder {
		order = sortRanks(order)
		sortTies(flows, order)
		sorted = make([]Flow, len(flows))
		for i := range order {
			sorted[i] = flows[order[i].at]
		}
	}
	for i := len(order) - 1; i > 0; i-- {
		if order[i-1].ties(order[i]) && compareFlows(&sorted[i-1], &sorted[i]) == 0 {
			again = i
		}
	}
	return sorted, again
}

// ranked is where a flow stands in a list, and the beginning of its key as two numbers: of two flows
// with different numbers, the one with the lower comes first.
type ranked struct {
	number [2]uint64
	at     int32
}

func (r ranked) ties(o ranked) bool { return r.number == o.number }

func compareRanked(flows []Flow, a, b ranked) int {
	switch {
	case a.number[0] != b.number[0]:
		return cmp.Compare(a.number[0], b.number[0])
	case a.number[1] != b.number[1]:
		return cmp.Compare(a.number[1], b.number[1])
	}
	return cmp.Or(compareFlows(&flows[a.at], &flows[b.at]), int(a.at)-int(b.at))
}

func (f *Flow) rank(at int) ranked {
	r := ranked{at: int32(at)}
	r.number[0] = uint64(f.Table)<<56 | uint64(^f.Priority)<<40
	terms := f.Match.terms
	if len(terms) == 0 {
		return r
	}
	value, known := terms[0].rank()
	r.number[0] |= value
	switch {
	case !known:
	case terms[0].Mask != terms[0].Field.Mask():
		r.number[1] = math.MaxUint64 // after those that want all of the field
	case len(terms) > 1:
		r.number[1], _ = terms[1].rank()
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

// sortRanks sorts by both numbers, byte by byte from the lowest. Most bytes are the same in all, or take
// few values, and cost next to nothing.
func sortRanks(order []ranked) []ranked {
	room := make([]ranked, len(order))
	for _, n := range [...]int{1, 0} {
		all, some := ^uint64(0), uint64(0) // have a bit
		for i := range order {
			all, some = all&order[i].number[n], some|order[i].number[n]
		}
		for shift := 0; shift < 64; shift += 8 {
			if (all^some)>>shift&0xff == 0 {
				continue
			}
			var next [256]int32 // where to put the next that has this byte
			for i := range order {
				next[order[i].number[n]>>shift&0xff]++
			}
			total := int32(0)
			for b, count := range next {
				next[b] = total
				total += count
			}
			for i := range order {
				b := order[i].number[n] >> shift & 0xff
				room[next[b]] = order[i]
				next[b]++
			}
			order, room = room, order
		}
	}
	return order
}

// sortTies sorts those whose numbers are the same.
func sortTies(flows []Flow, order []ranked) {
	for len(order) > 0 {
		n := 1
		for n < len(order) && order[n].ties(order[0]) {
			n++
		}
		if n > 1 {
			slices.SortFunc(order[:n], func(a, b ranked) int { return compareRanked(flows, a, b) })
		}
		order = order[n:]
	}
}
