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

// sample is a fenced block of a document that shows a command line and what it prints. The line may go on after a backslash.
var sample = regexp.MustCompile("(?s)```console\n\\$ ((?:[^\n]*\\\\\n)*[^\n]*)\n(.*?)```\n")

// documents are the README and docs.
func documents(t *testing.T) []string {
	all, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	return append(all, "README.md")
}

// TestSamplesOfDocuments runs the command lines that documents show. Their samples cannot rot: -update rewrites them.
func TestSamplesOfDocuments(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("samples are lines of a shell, and here is none")
	}
	bin := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "./cmd/lbctl", "./cmd/hcd").CombinedOutput()
	require.NoError(t, err, string(out))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, file := range documents(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			refreshFile(t, file, func(text string) string {
				return sample.ReplaceAllStringFunc(text, func(block string) string {
					line := sample.FindStringSubmatch(block)[1]
					out, err := exec.CommandContext(t.Context(), sh, "-c", line).CombinedOutput()
					require.NoErrorf(t, err, "%s\n%s", line, out)
					return "```console\n$ " + line + "\n" + string(out) + "```\n"
				})
			})
		})
	}
}

// refreshFile requires that a document is what refresh makes of it, or with -update writes that.
func refreshFile(t *testing.T, file string, refresh func(string) string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	fresh := refresh(string(text))
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(fresh), 0o644))
		return
	}
	require.Equal(t, fresh, string(text), "run go test . -update")
}

// TestLinksOfDocuments follows the relative links of the README and of docs, to the heading if they name one.
func TestLinksOfDocuments(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]*)(?:#([^):]+))?\)`)
	for _, file := range append(documents(t), "examples/README.md") {
		for _, m := range link.FindAllStringSubmatch(readFile(t, file), -1) {
			target := file
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(file), m[1])
			}
			_, err := os.Stat(target)
			require.NoErrorf(t, err, "%s links to %s", file, m[1])
			if m[2] != "" {
				require.Containsf(t, anchors(readFile(t, target)), m[2], "%s links to a heading of %s", file, target)
			}
		}
	}
}

var notInAnchors = regexp.MustCompile(`[^a-z0-9 _-]`)

// anchors are the headings of a document as links name them.
func anchors(text string) (all []string) {
	for line := range strings.Lines(text) {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			name := notInAnchors.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			all = append(all, strings.ReplaceAll(name, " ", "-"))
		}
	}
	return all
}
