package main

import (
	"fmt"
	"strings"
)

const (
	stripWidth = 64
	stripCells = 4 * stripWidth
	nobody     = '.'
	marks      = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// mark is the letter of a pool's i-th member.
func mark(i int) string { return marks[i%len(marks) : i%len(marks)+1] }

// strip draws the slot table, a letter for every few slots: the member that owns most of them.
func (a *app) strip(p poolLayout) {
	size := (p.Slots + stripCells - 1) / stripCells
	index := map[string]int{}
	for i, k := range p.keys {
		index[k] = i
	}
	fmt.Fprintf(a.stdout, "slots 0 to %d, a letter for %s:\n", p.Slots-1, plural(size, "slot"))
	var line strings.Builder
	for from := 0; from < p.Slots; from += size {
		if i, owned := mostly(p, index, from, min(from+size, p.Slots)); owned {
			line.WriteString(a.paint.in(owners[i%len(owners)], mark(i)))
		} else {
			line.WriteString(a.paint.in(dim, string(nobody)))
		}
		if from/size%stripWidth == stripWidth-1 || from+size >= p.Slots {
			fmt.Fprintln(a.stdout, line.String())
			line.Reset()
		}
	}
}

// mostly is the member that owns most slots of a range, the first of several; false if nobody owns
// any.
func mostly(p poolLayout, index map[string]int, from, to int) (member int, owned bool) {
	counts := make([]int, len(p.keys))
	for slot := from; slot < to; slot++ {
		if key, ok := p.table.Owner(slot); ok {
			counts[index[key]]++
		}
	}
	for i, n := range counts {
		if n > counts[member] {
			member = i
		}
	}
	return member, len(counts) > 0 && counts[member] > 0
}
