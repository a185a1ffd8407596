package main

import (
	"fmt"
	"strings"
)

// tables are the figures of docs/slot-table.md.
func (m measurements) tables() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Foreign moves in per cent of %d slots, the mean and the worst of %d random pools of equal members; and the farthest\n", slots, tries)
	b.WriteString("that any share was from the fair one, in slots:\n\n| Members | Layout |")
	for _, c := range changes {
		fmt.Fprintf(&b, " %s |", c.name)
	}
	b.WriteString(" unfair |\n|--:|---|" + strings.Repeat("--:|", len(changes)+1) + "\n")
	for _, r := range m.rows {
		fmt.Fprintf(&b, "| %d | %v |", r.members, r.algorithm)
		for _, f := range r.foreign {
			fmt.Fprintf(&b, " %s |", f)
		}
		fmt.Fprintf(&b, " %.1f |\n", r.unfair)
	}
	fmt.Fprintf(&b, "\nThe first failure, by other ways to share out slots, of %d random pools:\n\n", walkTries)
	b.WriteString("| Members | Way | foreign, mean | 99 of 100 below | worst | largest share above fair, mean | worst |\n|--:|---|--:|--:|--:|--:|--:|\n")
	for _, r := range m.walks {
		fmt.Fprintf(&b, "| %d | %s | %.2f %% | %.2f %% | %.2f %% | %.1f %% | %.1f %% |\n",
			r.members, r.way, r.foreign.mean, r.p99, r.foreign.worst, r.over.mean, r.over.worst)
	}
	return b.String()
}

// String is "0.74, 1.56", or "-" if nothing was measured.
func (s spread) String() string {
	switch {
	case s.mean < 0:
		return "-"
	case s.worst == 0:
		return "0"
	}
	return fmt.Sprintf("%.2f, %.2f", s.mean, s.worst)
}
