package pipeline

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
)

const docPath = "../../docs/pipeline.md"

// A sample of the document is what stands between a line "<!-- WORD ARGUMENTS -->" and the next "<!-- end -->". It is made by
// the function of that word.
var samples = map[string]func(t *testing.T, arguments []string) string{
	"diagram":   func(*testing.T, []string) string { return diagram() },
	"tables":    func(*testing.T, []string) string { return tableOfTables() },
	"registers": func(*testing.T, []string) string { return tableOfRegisters() },
	"zones":     func(*testing.T, []string) string { return tableOfZones() },
	"table":     declarationText,
	"flows":     flowSample,
}

func TestDocumentShowsWhatIsRendered(t *testing.T) {
	doc, err := os.ReadFile(docPath)
	require.NoError(t, err)
	fresh := refresh(t, string(doc))
	if *update {
		require.NoError(t, os.WriteFile(docPath, []byte(fresh), 0o644))
		return
	}
	require.Empty(t, difference(string(doc), fresh), "run go test ./internal/pipeline -update")
}

func difference(want, got string) string {
	if want == got {
		return ""
	}
	return firstDifference(want, got)
}

// refresh makes every sample of a document anew.
func refresh(t *testing.T, doc string) string {
	var out strings.Builder
	inside := ""
	for line := range strings.Lines(doc) {
		directive, ok := strings.CutPrefix(strings.TrimSpace(line), "<!-- ")
		directive, closed := strings.CutSuffix(directive, " -->")
		switch {
		case ok && closed && directive == "end":
			require.NotEmpty(t, inside, "an end without a beginning")
			inside = ""
		case ok && closed:
			require.Empty(t, inside, "%q has no end", inside)
			inside = directive
			words := strings.Fields(directive)
			require.Contains(t, samples, words[0], "no such sample")
			out.WriteString(line)
			out.WriteString(samples[words[0]](t, words[1:]))
			continue
		}
		if inside == "" {
			out.WriteString(line)
		}
	}
	require.Empty(t, inside, "%q has no end", inside)
	return out.String()
}

// diagram draws the jumps of the declarations in Mermaid's language: solid by goto_table, dotted by ct(table=).
func diagram() string {
	var b strings.Builder
	b.WriteString("\n```mermaid\nflowchart TD\n")
	for _, t := range Tables() {
		fmt.Fprintf(&b, "    t%d[\"%d %s\"]\n", t.ID, t.ID, t.Name)
	}
	for _, t := range Tables() {
		for _, next := range append(t.Next, t.Miss.tables()...) {
			fmt.Fprintf(&b, "    t%d --> t%d\n", t.ID, next)
		}
		for _, next := range t.Tracked {
			fmt.Fprintf(&b, "    t%d -. ct .-> t%d\n", t.ID, next)
		}
	}
	b.WriteString("```\n\n")
	return b.String()
}

func tableOfTables() string {
	var b strings.Builder
	b.WriteString("\n| Table | Name | Purpose | Else |\n|---|---|---|---|\n")
	for _, t := range Tables() {
		fmt.Fprintf(&b, "| %d | %s | %s | %v |\n", t.ID, t.Name, t.Purpose, t.Miss)
	}
	return b.String() + "\n"
}

func tableOfRegisters() string {
	var b strings.Builder
	b.WriteString("\n| Register | Name | Meaning |\n|---|---|---|\n")
	for _, r := range Registers() {
		fmt.Fprintf(&b, "| %v | %s | %s |\n", r.Field, r.Name, r.Meaning)
	}
	return b.String() + "\n"
}

func tableOfZones() string {
	var b strings.Builder
	b.WriteString("\n| Zone | Name | Meaning |\n|---|---|---|\n")
	for _, z := range Zones() {
		fmt.Fprintf(&b, "| %d | %s | %s |\n", z.ID, z.Name, z.Meaning)
	}
	return b.String() + "\n"
}

// declarationText tells what a table declares: "table 12".
func declarationText(t *testing.T, arguments []string) string {
	id, err := strconv.Atoi(arguments[0])
	require.NoError(t, err)
	for _, table := range Tables() {
		if table.ID == of.TableID(id) {
			return table.text()
		}
	}
	t.Fatalf("no table %d", id)
	return ""
}

func (t Table) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n\n", t.Purpose)
	line := func(what, list string) {
		if list != "" {
			fmt.Fprintf(&b, "- %s: %s\n", what, list)
		}
	}
	line("matches", join(t.Matches))
	line("changes", join(t.Sets))
	line("leads to", join(t.Next))
	line("leads to, tracked", join(t.Tracked))
	line("learns into", join(t.Learns))
	if t.Reports {
		line("hands to the daemon", "what it must answer itself")
	}
	line("else", t.Miss.String())
	for _, d := range t.Drops {
		if d.Last != 0 {
			line(fmt.Sprintf("drops at %d to %d", d.Priority, d.Last), d.Reason)
		} else {
			line(fmt.Sprintf("drops at %d", d.Priority), d.Reason)
		}
	}
	return b.String() + "\n"
}

func join[T any](list []T) string {
	var words []string
	for _, e := range list {
		words = append(words, fmt.Sprint(e))
	}
	return strings.Join(words, ", ")
}

// flowSample shows the flows of an example that contain all of the words: "flows hpnn table=12, priority=100".
func flowSample(t *testing.T, arguments []string) string {
	var b strings.Builder
	for line := range strings.Lines(allUp(load(t, arguments[0])).String()) { // as in the golden file
		if containsAll(" "+line, arguments[1:]) {
			b.WriteString(line)
		}
	}
	require.NotEmpty(t, b.String(), "no flow of %s has %q", arguments[0], arguments[1:])
	require.LessOrEqual(t, strings.Count(b.String(), "\n"), 8, "too many flows of %s have %q", arguments[0], arguments[1:])
	return "\n```\n" + b.String() + "```\n\n"
}

// containsAll reports whether a flow has all of the words, each whole unless it ends in a sign.
func containsAll(flow string, words []string) bool {
	for _, word := range words {
		if !regexp.MustCompile(`[ ,]`+regexp.QuoteMeta(word)+`[, \n]`).MatchString(flow) && !(endsInSign(word) && strings.Contains(flow, word)) {
			return false
		}
	}
	return true
}

func endsInSign(word string) bool { return strings.ContainsAny(word[len(word)-1:], "=,(") }

func TestDocumentExplainsEveryTable(t *testing.T) {
	doc, err := os.ReadFile(docPath)
	require.NoError(t, err)
	for _, table := range Tables() {
		require.Contains(t, string(doc), fmt.Sprintf("<!-- table %d -->", table.ID))
		require.Contains(t, string(doc), fmt.Sprintf("table=%d,", table.ID), "a real flow of table %d", table.ID)
	}
}

func TestStaleSamplesAreNoticed(t *testing.T) {
	stale := "# x\n<!-- zones -->\nold\n<!-- end -->\nrest\n"
	fresh := refresh(t, stale)
	require.NotEqual(t, stale, fresh)
	require.Contains(t, fresh, "hairpin")
	require.NotContains(t, fresh, "old")
	require.True(t, strings.HasSuffix(fresh, "<!-- end -->\nrest\n"))
	require.Equal(t, fresh, refresh(t, fresh))
}
