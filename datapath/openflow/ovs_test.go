package openflow_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "hpnn/datapath/openflow"
	"hpnn/datapath/openflow/openflowtest"
)

// ovsParse has ovs-ofctl read flows and say how it understood each, in OpenFlow 1.5.
func ovsParse(t *testing.T, lines []string) []string {
	t.Helper()
	if _, err := exec.LookPath("ovs-ofctl"); err != nil {
		t.Skip("no ovs-ofctl here")
	}
	file := filepath.Join(t.TempDir(), "flows.txt")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600))
	var stderr bytes.Buffer
	cmd := exec.Command("ovs-ofctl", "-O", "OpenFlow15", "parse-flows", file)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", stderr.String())
	var flows []string
	for line := range strings.Lines(string(out)) {
		if _, rest, ok := strings.Cut(line, "): ADD"); ok {
			flows = append(flows, understood(strings.TrimSpace(rest)))
		} else if strings.Contains(line, "decode error") {
			flows = append(flows, strings.TrimSpace(line)+"\n"+stderr.String())
		}
	}
	require.Len(t, flows, len(lines))
	return flows
}

var modWord = regexp.MustCompile(`\b(table|cookie|idle|hard|importance):`)

// understood turns the print of a FLOW_MOD message into the syntax of flows.
func understood(s string) string {
	before, actions, _ := strings.Cut(s, "actions=")
	before = modWord.ReplaceAllStringFunc(before, func(w string) string {
		return map[string]string{"table:": "table=", "cookie:": "cookie=", "idle:": "idle_timeout=",
			"hard:": "hard_timeout=", "importance:": "importance="}[w]
	})
	return before + "actions=" + actions
}

// asStored is the flow as OpenFlow 1.5 can express it: a queue is chosen by three actions, and a
// tag that may not be there is pushed.
func asStored(f Flow) Flow {
	f.Actions = storedActions(f.Actions)
	return f
}

func storedActions(actions []Action) []Action {
	var stored []Action
	for _, a := range actions {
		switch a := a.(type) {
		case Enqueue:
			stored = append(stored, SetQueue{a.Queue}, Output{a.Port}, PopQueue{})
		case SetVLANVID:
			stored = append(stored, PushVLAN{EthTypeVLAN}, Set(VLANVID, U64(uint64(a.VID))))
		case SetVLANPCP:
			stored = append(stored, PushVLAN{EthTypeVLAN}, Set(VLANPCP, U64(uint64(a.PCP))))
		case Clone:
			stored = append(stored, Clone{storedActions(a.Actions)})
		case WriteActions:
			stored = append(stored, WriteActions{storedActions(a.Actions)})
		default:
			stored = append(stored, a)
		}
	}
	return stored
}

// Everything we print is accepted by ovs-ofctl and means the same to it.
func TestOVSUnderstandsOurFlows(t *testing.T) {
	g := openflowtest.New(6)
	for range 3 {
		var flows []Flow
		var lines []string
		for range 1000 {
			f := g.Flow()
			flows = append(flows, f)
			lines = append(lines, f.String())
		}
		for i, line := range ovsParse(t, lines) {
			e, err := ParseFlowEntry(line)
			require.NoError(t, err, "ours %v\nOVS  %s", flows[i], line)
			want := asStored(flows[i])
			require.True(t, want.Equal(e.Flow), "ours %v\nOVS  %s\nread %v", want, line, e.Flow)
		}
	}
}
