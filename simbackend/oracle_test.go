package simbackend_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/simbackend"
	"hpnn/testbed/dummy"
)

// pair is a simulator and a real switch that are given the same.
type pair struct {
	t    *testing.T
	sim  *simbackend.Switch
	ovs  *dummy.Switch
	sent map[openflow.PortNo][]string // by the simulator
}

const pairPorts = 4

// newPair returns a pair with ports p1 to p4. The simulator is fresh, the real switch reset.
func newPair(t *testing.T, ovs *dummy.Switch) *pair {
	require.NoError(t, ovs.Reset(t.Context()))
	_, err := ovs.Outputs()
	require.NoError(t, err)
	p := &pair{t: t, ovs: ovs, sent: map[openflow.PortNo][]string{}}
	var ports []simbackend.Port
	for i := range pairPorts {
		ports = append(ports, simbackend.Port{Number: openflow.PortNo(i + 1), Name: fmt.Sprintf("p%d", i+1)})
	}
	p.sim, err = simbackend.New(simbackend.Config{Ports: ports, ConntrackSweep: time.Second})
	require.NoError(t, err)
	return p
}

func (p *pair) load(program string) {
	p.t.Helper()
	parsed, err := openflow.ParseProgram("program", strings.NewReader(program))
	require.NoError(p.t, err)
	require.NoError(p.t, p.sim.Commit(p.t.Context(), parsed.Bundle()))
	require.NoError(p.t, p.ovs.ReplaceFlows(p.t.Context(), parsed.String()))
}

func (p *pair) receive(port openflow.PortNo, frames ...[]byte) {
	p.t.Helper()
	for _, f := range frames {
		p.sim.Receive(datapath.Injection{InPort: port, Frame: f}, func(o datapath.Output) {
			p.sent[o.Port] = append(p.sent[o.Port], string(o.Frame))
		})
	}
	require.NoError(p.t, p.ovs.Receive(p.t.Context(), fmt.Sprintf("p%d", port), frames...))
}

func (p *pair) advance(d time.Duration) {
	p.sim.Advance(p.sim.Now() + d)
	require.NoError(p.t, p.ovs.Warp(p.t.Context(), d))
}

// agree compares all that can be seen: frames by port, flows with counters, connections.
func (p *pair) agree() {
	p.t.Helper()
	p.agreeOnFrames()
	require.Equal(p.t, p.ovsFlows(), p.simFlows(), "flows")
	require.Equal(p.t, p.ovsConnections(), p.simConnections(), "connections")
}

func (p *pair) agreeOnFrames() {
	p.t.Helper()
	outputs, err := p.ovs.Outputs()
	require.NoError(p.t, err)
	real := map[openflow.PortNo][]string{}
	for _, o := range outputs {
		number := openflow.PortLocal
		if o.Port != dummy.Local {
			_, err := fmt.Sscanf(o.Port, "p%d", &number)
			require.NoError(p.t, err)
		}
		real[number] = append(real[number], string(o.Frame))
	}
	for _, port := range []openflow.PortNo{1, 2, 3, 4, openflow.PortLocal} {
		want, got := real[port], p.sent[port]
		for i := range min(len(want), len(got)) {
			require.Emptyf(p.t, packet.Diff([]byte(want[i]), []byte(got[i])), "port %v, frame %d", port, i)
		}
		require.Lenf(p.t, got, len(want), "frames sent on port %v", port)
	}
	p.sent = map[openflow.PortNo][]string{}
}

// shown is a flow and its counters, without ages.
func shown(entries []openflow.FlowEntry) (lines []string) {
	for _, e := range entries {
		e.Flags = 0
		lines = append(lines, fmt.Sprintf("%d %d %v", e.Packets, e.Bytes, e.Flow))
	}
	slices.Sort(lines)
	return lines
}

func (p *pair) simFlows() []string {
	flows, err := p.sim.Flows(p.t.Context())
	require.NoError(p.t, err)
	return shown(flows)
}

func (p *pair) ovsFlows() []string {
	text, err := p.ovs.DumpFlows(p.t.Context())
	require.NoError(p.t, err)
	flows, err := openflow.ParseDump("dump", strings.NewReader(text))
	require.NoError(p.t, err)
	return shown(flows)
}

func (p *pair) simConnections() []string {
	lines := p.sim.ConnectionLines()
	slices.Sort(lines)
	return lines
}

func (p *pair) ovsConnections() (lines []string) {
	text, err := p.ovs.Connections(p.t.Context())
	require.NoError(p.t, err)
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSpace(line))
	}
	slices.Sort(lines)
	return lines
}
