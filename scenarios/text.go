package scenarios

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// table lays rows out in columns.
func table(rows [][]string) string {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(w, strings.Join(r, "\t"))
	}
	_ = w.Flush()
	return b.String()
}

// containsAll reports whether a line has all texts.
func containsAll(line string, texts []string) bool {
	return !slices.ContainsFunc(texts, func(s string) bool { return !strings.Contains(line, s) })
}

// tally is counts as "be1(3) be2(4)".
func tally(counts map[string]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s(%d)", k, counts[k]))
	}
	return strings.Join(parts, " ")
}

// sortedByCount is the keys, the largest count first.
func sortedByCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// repeats puts lines that repeat each other into one.
func repeats(lines []string) (short []string) {
	for i := 0; i < len(lines); {
		n := i + 1
		for n < len(lines) && lines[n] == lines[i] {
			n++
		}
		line := lines[i]
		if n > i+1 {
			line = fmt.Sprintf("%s (x%d)", line, n-i)
		}
		short, i = append(short, line), n
	}
	return short
}

// counted is a line for each count, the largest first.
func counted(counts map[string]int) (lines []string) {
	for _, k := range sortedByCount(counts) {
		lines = append(lines, fmt.Sprintf("%s (%d)", strings.TrimSpace(k), counts[k]))
	}
	return lines
}
