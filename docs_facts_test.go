package hpnn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/pipeline"
)

// A fact of a document is what stands between a line "<!-- fact WORD ARGUMENTS -->" and the next "<!-- end -->". The function of
// that word makes it, from the code and the text that is there.
var facts = map[string]func(t *testing.T, arguments []string, old string) string{
	"sequence":  sequenceDiagram,
	"way":       wayOfFrames,
	"drops":     dropTable,
	"metrics":   metricTable,
	"log-lines": logTable,
	"alerts":    alertTable,
}

func TestFactsOfDocuments(t *testing.T) {
	for _, file := range documents(t) {
		t.Run(file, func(t *testing.T) {
			refreshFile(t, file, func(text string) string { return refreshFacts(t, text) })
		})
	}
}

// refreshFacts makes every fact of a document anew.
func refreshFacts(t *testing.T, text string) string {
	t.Helper()
	var out, old strings.Builder
	inside := ""
	for line := range strings.Lines(text) {
		directive, opens := strings.CutPrefix(strings.TrimSpace(line), "<!-- fact ")
		switch {
		case opens:
			require.Empty(t, inside, "%q has no end", inside)
			inside = strings.TrimSuffix(directive, " -->")
			out.WriteString(line)
			continue
		case inside != "" && strings.TrimSpace(line) == "<!-- end -->":
			words := strings.Fields(inside)
			require.Contains(t, facts, words[0], "no such fact")
			out.WriteString("\n" + facts[words[0]](t, words[1:], old.String()) + "\n")
			inside = ""
			old.Reset()
		}
		if inside == "" {
			out.WriteString(line)
		} else {
			old.WriteString(line)
		}
	}
	require.Empty(t, inside, "%q has no end", inside)
	return out.String()
}

func TestFactsThatAreStaleAreMadeAnew(t *testing.T) {
	stale := "# x\n<!-- fact drops -->\nold\n<!-- end -->\nrest\n"
	fresh := refreshFacts(t, stale)
	require.NotContains(t, fresh, "old")
	require.Contains(t, fresh, "a VLAN tag on an access port")
	require.True(t, strings.HasSuffix(fresh, "<!-- end -->\nrest\n"))
	require.Equal(t, fresh, refreshFacts(t, fresh))
}

// A grid is a table whose last column people write and whose others come from the code. The first keys columns tell rows apart.
type grid struct {
	head []string
	keys int
	rows [][]string // without the last column
}

// text is the table, with what people wrote into the old one.
func (g grid) text(old string) string {
	notes := map[string]string{}
	for line := range strings.Lines(old) {
		if cells := cellsOf(line); len(cells) == len(g.head) {
			notes[strings.Join(cells[:g.keys], "|")] = cells[len(cells)-1]
		}
	}
	var b strings.Builder
	b.WriteString("| " + strings.Join(g.head, " | ") + " |\n" + strings.Repeat("|---", len(g.head)) + "|\n")
	for _, row := range g.rows {
		note := notes[strings.Join(row[:g.keys], "|")]
		b.WriteString("| " + strings.Join(append(row, note), " | ") + " |\n")
	}
	return b.String()
}

func cellsOf(line string) []string {
	line, found := strings.CutPrefix(strings.TrimSpace(line), "| ")
	line, closed := strings.CutSuffix(line, "|")
	if !found || !closed {
		return nil
	}
	var cells []string
	for cell := range strings.SplitSeq(line, "|") {
		cells = append(cells, strings.TrimSpace(cell))
	}
	return cells
}

// requireNotes requires that people have written something to each row of a document's grids.
func requireNotes(t *testing.T, file, text string) {
	inside := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "<!-- fact "):
			inside = true
		case strings.HasPrefix(line, "<!-- end"):
			inside = false
		}
		if cells := cellsOf(line); inside && len(cells) > 0 {
			require.NotEmptyf(t, cells[len(cells)-1], "%s: write a note to %s", file, line)
		}
	}
}

func TestEveryRowOfDocumentsHasItsNote(t *testing.T) {
	for _, file := range []string{"docs/dataflow.md", "docs/operations.md"} {
		requireNotes(t, file, readFile(t, file))
	}
}

// dropTable lists where a frame can end.
func dropTable(_ *testing.T, _ []string, old string) string {
	g := grid{head: []string{"Table", "Priority", "What ended", "What it means"}, keys: 2}
	for _, table := range pipeline.Tables() {
		for _, d := range table.Drops {
			priority := fmt.Sprint(d.Priority)
			if d.Last != 0 {
				priority = fmt.Sprintf("%d to %d", d.Priority, d.Last)
			}
			g.rows = append(g.rows, []string{fmt.Sprintf("%d %s", table.ID, table.Name), priority, d.Reason})
		}
	}
	return g.text(old)
}
