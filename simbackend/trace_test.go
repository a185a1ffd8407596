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
	"hpnn/simbackend"
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

// TestTraceKeepsWhatItTold traces a frame, changes the rules, traces another, and looks at the first trace again.
func TestTraceKeepsWhatItTold(t *testing.T) {
	sw, err := simbackend.New(simbackend.Config{Ports: labPorts})
	require.NoError(t, err)
	commit := func(lines string) {
		b, err := openflow.ParseBundle("rules", strings.NewReader(lines))
		require.NoError(t, err)
		require.NoError(t, sw.Commit(t.Context(), b))
	}
	trace := func(n int) datapath.Trace {
		tr, err := sw.Trace(t.Context(), datapath.Injection{InPort: 1, Frame: syn(n)})
		require.NoError(t, err)
		return tr
	}
	commit("flow add cookie=1,priority=5,tcp actions=move:NXM_OF_TCP_SRC[]->NXM_NX_REG0[0..15],output:2")
	first := trace(0)
	text := first.String()
	require.Contains(t, text, " 0. tcp, priority 5, cookie 0x1\n")
	require.Contains(t, text, "NXM_NX_REG0[0..15] is now 0x400\n")

	commit("flow modify_strict table=0,priority=5,tcp actions=move:NXM_OF_TCP_DST[]->NXM_NX_REG0[0..15],output:3")
	require.Contains(t, trace(1).String(), "NXM_NX_REG0[0..15] is now 0x50\n")
	commit("flow add cookie=2,priority=5,tcp actions=output:4")
	require.Contains(t, trace(2).String(), " 0. tcp, priority 5, cookie 0x2\n    output:4\n")
	require.Equal(t, text, first.String())
}

// TestTraceOfLearnedLoads: zeros, and what is wider than one load, as ofproto/trace 3.1.0 writes them.
func TestTraceOfLearnedLoads(t *testing.T) {
	sw, err := simbackend.New(simbackend.Config{Ports: labPorts})
	require.NoError(t, err)
	p, err := openflow.ParseProgram("rules", strings.NewReader("ip,actions=set_field:0x1->reg4,learn(table=3,eth_type=0x800,"+
		"NXM_OF_IP_DST[]=NXM_OF_IP_SRC[],load:NXM_NX_REG1[]->NXM_NX_REG0[],load:0->NXM_NX_REG2[0..3],load:NXM_NX_XXREG1[0..99]->NXM_NX_XXREG2[0..99]),output:2"))
	require.NoError(t, err)
	require.NoError(t, sw.Commit(t.Context(), p.Bundle()))
	tr, err := sw.Trace(t.Context(), datapath.Injection{InPort: 1, Frame: syn(0)})
	require.NoError(t, err)
	require.Contains(t, tr.String(), "actions=load:0->NXM_NX_REG0[],load:0->NXM_NX_REG2[0..3],load:0->NXM_NX_XXREG2[0..63],"+
		"load:0x100000000->NXM_NX_XXREG2[64..99]\n")
}
