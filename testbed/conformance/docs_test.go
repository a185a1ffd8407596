package conformance

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the list of exclusions in docs/conformance.md")

// TestDocumentListsExclusions keeps the list in the document as Exclusions has it.
func TestDocumentListsExclusions(t *testing.T) {
	const path, begin, end = "../../docs/conformance.md", "<!-- exclusions -->\n", "<!-- end -->\n"
	doc, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(doc), begin)
	require.True(t, ok, "%s has no line %q", path, begin)
	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "%s has no line %q", path, end)
	var list strings.Builder
	for _, e := range Exclusions() {
		fmt.Fprintf(&list, "- `%s`: %s\n", e.Name, e.Why)
	}
	want := before + begin + list.String() + end + after
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
	}
	require.True(t, want == string(doc) || *update, "%s is not up to date: go test ./testbed/conformance -run Document -update", path)
}
