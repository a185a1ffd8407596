package control_test

import (
	"context"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/datapathtest"
	"hpnn/datapath/openflow"
	"hpnn/internal/control"
	"hpnn/internal/health"
	"hpnn/internal/packet"
	"hpnn/internal/pipeline"
	"hpnn/model"
	"hpnn/simbackend"
)

// desk is a core at work on a simulated switch, with a clock of its own.
type desk struct {
	*control.Core
	t    *testing.T
	sw   *simbackend.Switch
	topo model.Topology
	now  time.Time
}

var start = time.Date(2026, 8, 17, 12, 0, 0, 0, time.UTC)

func load(t *testing.T, example string) model.Topology {
	topology, err := model.Load(filepath.Join("..", "..", "examples", example))
	require.NoError(t, err)
	return topology
}

func newSwitch(t *testing.T, topology model.Topology) *simbackend.Switch {
	var ports []simbackend.Port
	for _, p := range topology.Ports() {
		ports = append(ports, simbackend.Port{Number: openflow.PortNo(p.Number), Name: p.Name})
	}
	sw, err := simbackend.New(simbackend.Config{Ports: ports})
	require.NoError(t, err)
	return sw
}

func newDesk(t *testing.T, topology model.Topology) *desk {
	sw := newSwitch(t, topology)
	return &desk{Core: control.New(sw, topology, control.Settings{}, start), t: t, sw: sw, topo: topology, now: start}
}

// settle steps until nothing is left to do within a second.
func (d *desk) settle() (outcomes []control.Outcome) {
	d.t.Helper()
	for end := d.now.Add(time.Second); !d.Due().After(end); {
		d.now = d.Due()
		out := d.Step(d.t.Context(), d.now)
		require.NoError(d.t, out.Err)
		if len(out.Bundle) > 0 || len(out.Pools) > 0 || out.Flushed > 0 {
			outcomes = append(outcomes, out)
		}
	}
	return outcomes
}

func (d *desk) verdict(member string, h health.State) {
	names, err := pipeline.FindMembers(d.topo, member)
	require.NoError(d.t, err)
	for _, n := range names {
		d.Verdict(n, h, d.now)
	}
}

func (d *desk) allUp() {
	for _, p := range d.topo.Pools {
		for _, m := range p.Members {
			d.Verdict(pipeline.MemberName{Pool: p.Name, Member: m.Name}, health.Up, d.now)
		}
	}
	d.settle()
}

func (d *desk) flows() []openflow.FlowEntry {
	flows, err := d.sw.Flows(d.t.Context())
	require.NoError(d.t, err)
	return flows
}

// holds checks that the switch holds exactly what it should.
func (d *desk) holds() {
	d.t.Helper()
	var have []openflow.Flow
	for _, f := range d.flows() {
		have = append(have, f.Flow)
	}
	require.Empty(d.t, openflow.Diff(have, d.Program()))
}

func web(client string, port uint16) []byte {
	return packet.TCP{
		Eth:     packet.Ether{Src: packet.MAC{2, 0, 0, 0, 9, 9}, Dst: packet.MAC{2, 0x42, 0xc0, 0xa8, 5, 0x14}},
		IP:      packet.IP{Src: netip.MustParseAddr(client), Dst: netip.MustParseAddr("192.168.5.21")},
		SrcPort: port, DstPort: 80, Flags: packet.SYN, Seq: 1, Window: 64240,
	}.Bytes()
}

// ask sends a SYN to the public VIP and returns the port it left on, 0 if it did not.
func (d *desk) ask(port uint16) (out openflow.PortNo) {
	d.sw.Receive(datapath.Injection{InPort: 1, Frame: web("192.168.5.13", port)}, func(o datapath.Output) { out = o.Port })
	return out
}

func TestMembersAreDownUntilTheFirstVerdict(t *testing.T) {
	d := newDesk(t, load(t, "hpnn.yaml"))
	d.settle()
	d.holds()
	require.Zero(t, d.ask(1000))
	d.verdict("be3", health.Up)
	d.settle()
	require.EqualValues(t, 11, d.ask(1001))
}

func TestSeveralChangesBecomeOneBundle(t *testing.T) {
	d := newDesk(t, load(t, "hpnn.yaml"))
	d.settle()
	for _, m := range []string{"be1", "be2", "be3", "be4"} {
		d.verdict(m, health.Up)
	}
	outcomes := d.settle()
	require.Len(t, outcomes, 1)
	require.Len(t, outcomes[0].Bundle, 1024)
	require.True(t, outcomes[0].Changed)
	d.holds()
}

func TestDrainMovesOnlyTheMembersOwnSlots(t *testing.T) {
	d := newDesk(t, load(t, "hpnn.yaml"))
	d.allUp()
	name := pipeline.MemberName{Pool: "web", Member: "be1"}
	require.NoError(t, d.SetAdmin(name, model.Drained, d.now))
	out := d.settle()
	require.Len(t, out, 1)
	require.Len(t, out[0].Bundle, 256)
	require.Equal(t, 256, out[0].Pools[0].Report.Moved)
	require.Zero(t, out[0].Pools[0].Report.Foreign)
	require.Zero(t, out[0].Flushed, "a drained member keeps its connections")
	before := out[0].Pools[0].Before
	require.NoError(t, d.SetAdmin(name, model.Enabled, d.now))
	out = d.settle()
	require.Equal(t, before, out[0].Pools[0].After)
}

func TestSetAdminNamesTheMemberItDoesNotKnow(t *testing.T) {
	d := newDesk(t, load(t, "hpnn.yaml"))
	require.ErrorContains(t, d.SetAdmin(pipeline.MemberName{Pool: "web", Member: "be9"}, model.Drained, d.now), "web/be9")
}

func TestMemberThatGoesDownHasItsConnectionsForgotten(t *testing.T) {
	d := newDesk(t, load(t, "hpnn.yaml"))
	d.allUp()
	port := uint16(1000)
	for d.ask(port) != 10 {
		port++
	}
	d.verdict("be1", health.Down)
	d.settle()
	again := d.ask(port) // the client retransmits its SYN
	require.NotZero(t, again)
	require.NotEqualValues(t, 10, again)
}

func TestDrainedMemberKeepsItsConnections(t *testing.T) {
	d := newDesk(t, load(t, "hpnn.yaml"))
	d.allUp()
	port := uint16(1000)
	for d.ask(port) != 10 {
		port++
	}
	require.NoError(t, d.SetAdmin(pipeline.MemberName{Pool: "web", Member: "be1"}, model.Drained, d.now))
	d.settle()
	require.EqualValues(t, 10, d.ask(port))
}

func TestPoolWithoutLiveMembers(t *testing.T) {
	for policy, want := range map[model.Policy]bool{model.Drop: false, model.LastKnown: true} {
		t.Run(policy.String(), func(t *testing.T) {
			topology := load(t, "hpnn.yaml")
			topology.Pools[0].NoLiveMember = policy
			d := newDesk(t, topology)
			d.allUp()
			for _, m := range []string{"be1", "be2", "be3", "be4"} {
				d.verdict(m, health.Down)
			}
			d.settle()
			require.Equal(t, want, d.ask(2000) != 0)
			d.holds()
			d.allUp()
			require.NotZero(t, d.ask(2001))
		})
	}
}

func TestRestartChangesNothing(t *testing.T) {
	d := newDesk(t, load(t, "hpnn.yaml"))
	d.allUp()
	d.verdict("be2", health.Down)
	d.settle()
	next := &desk{Core: control.New(d.sw, d.topo, control.Settings{}, d.now), t: t, sw: d.sw, topo: d.topo, now: d.now}
	adopted, err := next.Adopt(t.Context(), d.now)
	require.NoError(t, err)
	require.Len(t, adopted, 3)
	for _, out := range next.settle() {
		require.Empty(t, out.Bundle)
		require.Zero(t, out.Flushed)
	}
	next.holds()
}

func TestAdoptOfAnEmptySwitchLeavesTheInitialState(t *testing.T) {
	d := newDesk(t, load(t, "hpnn.yaml"))
	adopted, err := d.Adopt(t.Context(), start)
	require.NoError(t, err)
	require.Empty(t, adopted)
}

func TestRepairsExactlyWhatDiffers(t *testing.T) {
	damages := map[string]struct {
		bundle string
		want   int
	}{
		"a flow deleted":     {"flow delete_strict table=20,priority=0", 1},
		"a flow added":       {"flow add table=11,priority=7,actions=drop", 1},
		"a flow altered":     {"flow modify_strict table=11,priority=100,reg3=1,reg1=5 actions=drop", 1},
		"two tables emptied": {"flow delete table=12\nflow delete table=6", -1},
	}
	for name, c := range damages {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, load(t, "hpnn.yaml"))
			d.allUp()
			d.ask(77)
			counted := counters(d.flows())
			require.NoError(t, d.sw.Commit(t.Context(), parseBundle(t, c.bundle)))
			out := d.settle()
			require.Len(t, out, 1)
			require.True(t, out[0].Repaired())
			if c.want > 0 {
				require.Len(t, out[0].Bundle, c.want)
			}
			d.holds()
			for key, n := range counters(d.flows()) {
				require.LessOrEqual(t, n, counted[key])
			}
		})
	}
}

func counters(flows []openflow.FlowEntry) map[string]uint64 {
	all := map[string]uint64{}
	for _, f := range flows {
		all[f.Flow.String()] = f.Packets
	}
	return all
}

func TestSwitchThatLostEverythingIsFilledAtOnce(t *testing.T) {
	d := newDesk(t, load(t, "hpnn.yaml"))
	d.allUp()
	require.NoError(t, d.sw.Commit(t.Context(), openflow.Bundle{{Command: openflow.Delete, Flow: openflow.Flow{Table: openflow.CurrentTable}}}))
	d.Event(datapath.Event{Kind: datapath.Connected}, d.now)
	require.Equal(t, d.now, d.Due())
	d.settle()
	d.holds()
}

func TestLearnedFlowsSurvive(t *testing.T) {
	d := newDesk(t, load(t, "hpnn.yaml"))
	d.allUp()
	before := len(d.flows())
	direct := packet.TCP{
		Eth:     packet.Ether{Src: packet.MAC{2, 0, 0, 0, 9, 9}, Dst: packet.MAC{2, 0x42, 0xc0, 0xa8, 5, 0x14}},
		IP:      packet.IP{Src: netip.MustParseAddr("192.168.5.13"), Dst: netip.MustParseAddr("10.20.0.2")},
		SrcPort: 4000, DstPort: 8080, Flags: packet.SYN, Window: 1000,
	}.Bytes()
	d.sw.Receive(datapath.Injection{InPort: 1, Frame: direct}, nil)
	require.Len(t, d.flows(), before+1)
	d.verdict("be1", health.Down)
	d.settle()
	d.Reapply(d.now)
	d.settle()
	require.Equal(t, 1, len(d.flows())-(before))
}

func TestTopologyChangeKeepsWhatIsKnown(t *testing.T) {
	d := newDesk(t, load(t, "hpnn.yaml"))
	d.allUp()
	d.verdict("be4", health.Down)
	d.settle()
	next := load(t, "hpnn.yaml")
	next.Pools[0].Members = slices.DeleteFunc(slices.Clone(next.Pools[0].Members), func(m model.Member) bool { return m.Name == "be2" })
	d.SetTopology(next, d.now)
	d.settle()
	d.holds()
	owners := pipeline.Owners(next, flowsOf(d.flows()))
	require.Equal(t, []pipeline.MemberName{{Pool: "web", Member: "be1"}, {Pool: "web", Member: "be3"}}, owners)
}

func flowsOf(entries []openflow.FlowEntry) (flows []openflow.Flow) {
	for _, e := range entries {
		flows = append(flows, e.Flow)
	}
	return flows
}

// TestFaultsDelayButDoNotDecide drives the core through random changes over a bridge that fails often:
// in the end the switch holds what a bridge that never fails would hold.
func TestFaultsDelayButDoNotDecide(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		topology := load(t, "two-pools.yaml")
		sw := newSwitch(t, topology)
		faulty := datapathtest.NewFaulty(sw, seed, 0.4)
		d := &desk{Core: control.New(faulty, topology, control.Settings{}, start), t: t, sw: sw, topo: topology, now: start}
		failed := 0
		for step := range 60 {
			for _, p := range topology.Pools {
				m := p.Members[(step+int(seed))%len(p.Members)]
				h := health.Up
				if (step*7+int(seed))%3 == 0 {
					h = health.Down
				}
				d.Verdict(pipeline.MemberName{Pool: p.Name, Member: m.Name}, h, d.now)
			}
			d.now = d.Due()
			if out := d.Step(t.Context(), d.now); out.Err != nil {
				failed++
				require.ErrorIs(t, out.Err, datapath.ErrUnavailable)
				require.True(t, d.Due().After(d.now), "a failure is not retried at once")
			}
		}
		require.Positive(t, failed)
		for tries := 0; ; tries++ {
			d.now = d.Due()
			if d.Step(t.Context(), d.now).Err == nil {
				break
			}
			require.Less(t, tries, 100)
		}
		d.holds()
	}
}

func TestBackoffDoublesUpToItsLimit(t *testing.T) {
	topology := load(t, "minimal.yaml")
	faulty := datapathtest.NewFaulty(newSwitch(t, topology), 1, 1)
	c := control.New(faulty, topology, control.Settings{RetryMin: time.Second, RetryMax: 5 * time.Second}, start)
	now := start
	var waits []time.Duration
	for range 5 {
		require.Error(t, c.Step(context.Background(), now).Err)
		waits = append(waits, c.Due().Sub(now))
		now = c.Due()
	}
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second}, waits)
}

func parseBundle(t *testing.T, text string) openflow.Bundle {
	b, err := openflow.ParseBundle("damage", strings.NewReader(text))
	require.NoError(t, err)
	return b
}
