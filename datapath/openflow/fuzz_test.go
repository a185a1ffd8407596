package openflow_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "hpnn/datapath/openflow"
	"hpnn/datapath/openflow/openflowtest"
)

// seedLines adds the lines of the accepted and refused spellings and some random flows.
func seedLines(f *testing.F, prefix string) {
	for _, name := range []string{"testdata/accepted.txt", "testdata/refused.txt"} {
		content, err := os.ReadFile(name)
		require.NoError(f, err)
		for line := range strings.Lines(string(content)) {
			f.Add(prefix + strings.TrimRight(strings.TrimPrefix(line, "= "), "\n"))
		}
	}
	g := openflowtest.New(20)
	for range 50 {
		f.Add(prefix + g.Flow().String())
	}
}

// Whatever is read is valid, and prints as something that reads the same.
func FuzzParseFlow(f *testing.F) {
	seedLines(f, "")
	f.Fuzz(func(t *testing.T, line string) {
		requireSameSlowly(t, line)
		flow, err := ParseFlow(line)
		if err != nil {
			var fault *SyntaxError
			require.ErrorAs(t, err, &fault)
			require.True(t, fault.Column >= 1 && fault.Column <= len(line)+1, "%v", err)
			return
		}
		require.NoError(t, flow.Validate(), line)
		again, err := ParseFlow(flow.String())
		require.NoError(t, err, flow.String())
		require.True(t, flow.Equal(again), "%s\n%v\n%v", line, flow, again)
	})
}

// A dump, whose flows may lack prerequisites, reads or is refused, but nothing panics.
func FuzzParseFlowEntry(f *testing.F) {
	seedLines(f, " cookie=0x1, duration=5.012s, table=0, n_packets=3, n_bytes=129, ")
	f.Fuzz(func(t *testing.T, line string) {
		e, err := ParseFlowEntry(line)
		if err != nil {
			return
		}
		again, err := ParseFlowEntry(e.String())
		require.NoError(t, err, e.String())
		require.True(t, e.Flow.Equal(again.Flow), "%s\n%v\n%v", line, e, again)
		require.Equal(t, e.Stats, again.Stats, line)
	})
}

func FuzzParseBundle(f *testing.F) {
	seedLines(f, "flow add ")
	f.Add("flow delete\n# nothing\nflow modify_strict table=1,priority=5,ip actions=drop\nflow delete cookie=5/-1,out_port=LOCAL")
	f.Fuzz(func(t *testing.T, file string) {
		b, err := ParseBundle("fuzz", strings.NewReader(file))
		if err != nil {
			return
		}
		again, err := ParseBundle("again", strings.NewReader(b.String()))
		require.NoError(t, err, b.String())
		require.Equal(t, b.String(), again.String())
	})
}
