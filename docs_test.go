package hpnn_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the samples in the documents")

// sample is a fenced block of a document that shows a command and what it prints.
var sample = regexp.MustCompile("(?s)```console\n\\$ lbctl ([^\n]*)\n(.*?)```\n")

// TestSamplesOfREADME runs the commands that the README shows. Its samples cannot rot: -update rewrites them.
func TestSamplesOfREADME(t *testing.T) {
	lbctl := filepath.Join(t.TempDir(), "lbctl")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", lbctl, "./cmd/lbctl").CombinedOutput()
	require.NoError(t, err, string(out))
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	shown := sample.ReplaceAllStringFunc(string(text), func(block string) string {
		args := sample.FindStringSubmatch(block)[1]
		out, err := exec.CommandContext(t.Context(), lbctl, strings.Fields(args)...).CombinedOutput()
		require.NoError(t, err, string(out))
		return "```console\n$ lbctl " + args + "\n" + string(out) + "```\n"
	})
	if *update {
		require.NoError(t, os.WriteFile("README.md", []byte(shown), 0o644))
		return
	}
	require.Equal(t, shown, string(text), "run go test . -update")
}

// TestLinksOfDocuments follows the relative links of the README and of docs.
func TestLinksOfDocuments(t *testing.T) {
	documents, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	link := regexp.MustCompile(`\]\(([^)#:]+)\)`)
	for _, file := range append(documents, "README.md", "examples/README.md") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			_, err := os.Stat(filepath.Join(filepath.Dir(file), m[1]))
			require.NoErrorf(t, err, "%s links to %s", file, m[1])
		}
	}
}
