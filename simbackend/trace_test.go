package simbackend_test

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/testbed/dummy"
)

// userspace is the action that sends a frame to the controller, with what only a real switch has.
var userspace = regexp.MustCompile(`userspace\(.*?\)\)`)

// floods are the programs whose order of outputs, and number of LOCAL, are the datapath's own.
var floods = regexp.MustCompile(`ALL|FLOOD|LOCAL|0xfffb`)

// comparableTrace is a trace without what two switches cannot have in common: the bridge's name, the
// megaflow, and what only a simulation can tell, which frames left.
func comparableTrace(text string) (lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "bridge"), strings.HasPrefix(line, "------"), line == "",
			strings.HasPrefix(line, "Megaflow: "), strings.HasPrefix(line, "Output: "):
		case strings.HasPrefix(line, "This flow is handled"), strings.HasPrefix(line, "  - "):
		case strings.HasPrefix(line, "Datapath actions: "):
			lines = append(lines, userspace.ReplaceAllString(line, "userspace"))
		default:
			lines = append(lines, line)
		}
	}
	return lines
}

// TestTraceAsRealSwitch compares traces of programs without ct, for which ofproto/trace makes the
// tracker's answer up, and without a limit of learned flows, for ofproto/trace really learns.
func TestTraceAsRealSwitch(t *testing.T) {
	ovs := dummy.ForTest(t, dummy.Config{Ports: dummy.NumberedPorts(pairPorts)})
	for i, c := range programs {
		if strings.Contains(c.text, "ct(") || strings.Contains(c.text, "limit=") || floods.MatchString(c.text) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, ovs)
			p.load(c.text)
			for n, f := range mix(uint16(1000 + i)) {
				in := datapath.Injection{InPort: openflow.PortNo(1), Frame: f}
				got, err := p.sim.Trace(t.Context(), in)
				require.NoError(t, err)
				want, err := ovs.Trace(t.Context(), fmt.Sprint("in_port=", in.InPort), hex.EncodeToString(f))
				require.NoError(t, err)
				require.Equal(t, comparableTrace(want), comparableTrace(got.String()), "frame %d", n)
			}
		})
	}
}
