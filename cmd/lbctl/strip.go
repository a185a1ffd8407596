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

// strip draws the slot table, or every so many slots of it, a letter for the owner of each.
func (a *app) strip(p poolLayout) {
	step := (p.Slots + stripCells - 1) / stripCells
	index := map[string]int{}
	for i, k := range p.keys {
		index[k] = i
	}
	if step == 1 {
		fmt.Fprintln(a.stdout, "the owners of the slots:")
	} else {
		fmt.Fprintf(a.stdout, "the owners of every %s slot:\n", ordinal(step))
	}
	var line strings.Builder
	for cell, slot := 1, 0; slot < p.Slots; cell, slot = cell+1, slot+step {
		if key, owned := p.table.Owner(slot); owned {
			i := index[key]
			line.WriteString(a.paint.in(owners[i%len(owners)], mark(i)))
		} else {
			line.WriteString(a.paint.in(dim, string(nobody)))
		}
		if cell%stripWidth == 0 || slot+step >= p.Slots {
			fmt.Fprintln(a.stdout, line.String())
			line.Reset()
		}
	}
}

// ordinal is "2nd", "3rd", "4th" and so on.
func ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n) + suffix
}
