package openflow_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "hpnn/datapath/openflow"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the answers in testdata")

// dialogue reads a file of questions, each with its answer on the next line after "= ", and
// compares the answers.
func dialogue(t *testing.T, name string, answer func(question string) string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	var got strings.Builder
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "= ") {
			continue
		}
		got.WriteString(line)
		if question := strings.TrimRight(line, "\n"); question != "" && question[0] != '#' {
			got.WriteString("= " + answer(question) + "\n")
		}
	}
	if *rewrite {
		require.NoError(t, os.WriteFile(path, []byte(got.String()), 0o644))
	}
	require.Equal(t, string(content), got.String())
}

func TestAcceptedSpellings(t *testing.T) {
	ports := WithPorts(map[string]PortNo{"pub0": 1, "be1": 10})
	dialogue(t, "accepted.txt", func(question string) string {
		f, err := ParseFlow(question, ports)
		require.NoError(t, err, question)
		require.NoError(t, f.Validate(), question)
		return f.String()
	})
}

func TestRefusedInput(t *testing.T) {
	ports := WithPorts(map[string]PortNo{"pub0": 1, "be1": 10})
	dialogue(t, "refused.txt", func(question string) string {
		f, err := ParseFlow(question, ports)
		require.Error(t, err, "%s was read as %v", question, f)
		var fault *SyntaxError
		require.ErrorAs(t, err, &fault)
		require.LessOrEqual(t, fault.Column, len(question)+1)
		require.True(t, strings.HasPrefix(question[fault.Column-1:], fault.Token), "%v", err)
		return err.Error()
	})
}

// ovs-ofctl reads the accepted spellings, too, and understands the same.
func TestOVSUnderstandsAcceptedSpellings(t *testing.T) {
	var flows []Flow
	var lines []string
	dialogue(t, "accepted.txt", func(question string) string {
		f, err := ParseFlow(question, WithPorts(map[string]PortNo{"pub0": 1, "be1": 10}))
		require.NoError(t, err)
		if !strings.Contains(question, "be1") { // a name that only we know
			flows, lines = append(flows, f), append(lines, question)
		}
		return f.String()
	})
	for i, line := range ovsParse(t, lines) {
		e, err := ParseFlowEntry(line)
		require.NoError(t, err, "ours %v\nOVS  %s", flows[i], line)
		require.True(t, asStored(flows[i]).Equal(e.Flow), "text %s\nours %v\nOVS  %s", lines[i], flows[i], line)
	}
}
