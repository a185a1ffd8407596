package pipeline

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
	"hpnn/model"
)

// ofctl has ovs-ofctl read a program and say how it understood each flow, in the order of the program.
func ofctl(t *testing.T, p of.Program) []of.Flow {
	t.Helper()
	if _, err := exec.LookPath("ovs-ofctl"); err != nil {
		t.Skip("no ovs-ofctl to compare with")
	}
	file := filepath.Join(t.TempDir(), "flows")
	require.NoError(t, os.WriteFile(file, []byte(p.String()), 0o600))
	var stderr bytes.Buffer
	cmd := exec.Command("ovs-ofctl", "-O", "OpenFlow15", "parse-flows", file)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", stderr.String())
	require.Empty(t, stderr.String(), "ovs-ofctl warns of what it widens")
	var flows []of.Flow
	for line := range strings.Lines(string(out)) {
		if _, said, ok := strings.Cut(line, ": ADD "); ok {
			f, err := of.ParseFlow(modTable.ReplaceAllString(strings.TrimSpace(said), "table=$1"))
			require.NoError(t, err, "%s", said)
			flows = append(flows, f)
		}
	}
	return flows
}

// modTable is how a message to change flows prints its table; table 0 is left out.
var modTable = regexp.MustCompile(`^table:(\d+)`)

func TestOVSUnderstandsEveryFlow(t *testing.T) {
	programs := map[string]of.Program{}
	for _, name := range examples(t) {
		programs[name] = allUp(load(t, name))
	}
	someTopologies(t, 20, func(seed uint64, topology model.Topology) {
		programs[string(rune('a'+seed))] = allUp(topology)
	})
	for name, p := range programs {
		understood := ofctl(t, p)
		require.Len(t, understood, p.Len(), name)
		for i, want := range slices.Collect(p.All()) {
			require.True(t, want.Equal(understood[i]), "%s:\nwrote      %v\nunderstood %v", name, want, understood[i])
		}
	}
}
