package ovsbackend_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/ovsbackend"
)

var rewrite = flag.Bool("rewrite", false, "write the expected files anew")

// The traces in testdata are what Open vSwitch 3.1.0 printed. Each is read, and printed as a datapath.Trace.
func TestTracesOfOpenVSwitchAreRead(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.trace")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		passes, err := ovsbackend.ParseTrace(string(text))
		require.NoError(t, err, path)
		got := datapath.Trace{Passes: passes}.String()
		want := strings.TrimSuffix(path, ".trace") + ".want"
		if *rewrite {
			require.NoError(t, os.WriteFile(want, []byte(got), 0o600))
		}
		expected, err := os.ReadFile(want)
		require.NoError(t, err)
		require.Equal(t, string(expected), got, path)
	}
}

func TestTracesThatCannotBeRead(t *testing.T) {
	const good = "Flow: udp\n\nbridge(\"br0\")\n-------------\n 0. priority 1\n    output:2\n\nFinal flow: unchanged\nMegaflow: x\nDatapath actions: 2\n"
	_, err := ovsbackend.ParseTrace(good)
	require.NoError(t, err)
	for _, c := range []struct{ from, to, words string }{
		{good, "", `"" does not begin with "Flow: "`},
		{"Flow: udp", "Bad openflow flow syntax", "line 1"},
		{"    output:2", "                output:2", "indented by 16 blanks"},
		{"    output:2", "output:2", "is no step"},
		{"Final flow", "Last flow", `line 8 of ofproto/trace: "Last flow: unchanged" does not begin with "Final flow: "`},
		{"Datapath actions: 2\n", "", `does not begin with "Datapath actions: "`},
	} {
		_, err := ovsbackend.ParseTrace(strings.Replace(good, c.from, c.to, 1))
		require.ErrorContains(t, err, c.words)
	}
}

func FuzzParseTrace(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.trace")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(_ *testing.T, text string) { _, _ = ovsbackend.ParseTrace(text) })
}

func FuzzParseConns(f *testing.F) {
	f.Add("tcp,orig=(src=10.0.0.1,dst=10.0.0.2,sport=40000,dport=80),reply=(src=10.0.0.2,dst=10.0.0.1,sport=80,dport=40000),zone=4,timeout=30,labels=0x7,protoinfo=(state=SYN_SENT)")
	f.Fuzz(func(_ *testing.T, text string) { _, _ = ovsbackend.ParseConns(text) })
}
