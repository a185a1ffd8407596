package pipeline

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/model"
	"hpnn/testbed/dummy"
)

// A bed is a switch that runs a program on frames.
type bed interface {
	Reset()             // forgets everything
	Install(of.Program) // keeps what is tracked, forgets what is learned
	Receive(port string, frames ...[]byte)
	Outputs() []sent        // since the last call
	Drops() map[level]int   // frames that flows without actions have taken, by level, since Install
	Learned(of.TableID) int // flows that were learned into a table
	Connections() int       // that are tracked
}

// sent is a frame that left by a port.
type sent struct {
	port  string
	frame []byte
}

func (s sent) String() string { return fmt.Sprintf("%s: %x", s.port, s.frame) }

// beds are what behaviour is tested on.
var beds = []struct {
	name string
	open func(testing.TB, model.Topology) bed
}{
	{"sim", openSim},
	{"ovs", openOVS},
}

// ovs is a real ovs-vswitchd.
type ovs struct {
	tb  testing.TB
	ctx context.Context
	sw  *dummy.Switch
}

func openOVS(tb testing.TB, t model.Topology) bed {
	var ports []dummy.Port
	for _, p := range t.Ports() {
		ports = append(ports, dummy.Port{Name: p.Name, Number: p.Number})
	}
	return &ovs{tb, context.Background(), dummy.ForTest(tb, dummy.Config{Ports: ports})}
}

func (o *ovs) Reset() {
	o.tb.Helper()
	require.NoError(o.tb, o.sw.Reset(o.ctx))
}

func (o *ovs) Install(p of.Program) {
	o.tb.Helper()
	require.NoError(o.tb, o.sw.ReplaceFlows(o.ctx, p.String()))
}

func (o *ovs) Receive(port string, frames ...[]byte) {
	o.tb.Helper()
	require.NoError(o.tb, o.sw.Receive(o.ctx, port, frames...))
}

func (o *ovs) Outputs() []sent {
	o.tb.Helper()
	outputs, err := o.sw.Outputs()
	require.NoError(o.tb, err)
	var all []sent
	for _, out := range outputs {
		all = append(all, sent{out.Port, out.Frame})
	}
	return all
}

var counted = regexp.MustCompile(`(?:table_id=(\d+), )?duration=\S+, n_packets=(\d+), n_bytes=\d+, (?:\S+, )*priority=(\d+),.*actions=(.*)`)

// flows yields table, priority, packets and actions of each flow.
func (o *ovs) flows(yield func(level, int, string)) {
	o.tb.Helper()
	text, err := o.sw.Appctl(o.ctx, "bridge/dump-flows", dummy.Local)
	require.NoError(o.tb, err)
	for line := range strings.Lines(text) {
		f := counted.FindStringSubmatch(strings.TrimSpace(line))
		if f == nil {
			continue
		}
		table, _ := strconv.Atoi("0" + f[1])
		packets, _ := strconv.Atoi(f[2])
		priority, _ := strconv.Atoi(f[3])
		yield(level{of.TableID(table), uint16(priority)}, packets, f[4])
	}
}

func (o *ovs) Drops() map[level]int {
	drops := map[level]int{}
	o.flows(func(r level, packets int, actions string) {
		if actions == "drop" && packets > 0 && r.table < 254 {
			drops[r] += packets
		}
	})
	return drops
}

func (o *ovs) Learned(table of.TableID) int {
	text, err := o.sw.DumpFlows(o.ctx)
	require.NoError(o.tb, err)
	n := 0
	for line := range strings.Lines(text) {
		if strings.Contains(line, fmt.Sprintf(" table=%d,", table)) && strings.Contains(line, "hard_timeout=") && !strings.Contains(line, "learn(") {
			n++
		}
	}
	return n
}

func (o *ovs) Connections() int {
	text, err := o.sw.Connections(o.ctx)
	require.NoError(o.tb, err)
	return strings.Count(text, "orig=")
}

// A world is a topology at work on a bed.
type world struct {
	bed
	t        *testing.T
	topology model.Topology
}

// A behaviour is something that must hold.
type behaviour struct {
	name string
	test func(*testing.T, *world)
}

// small gives the pools of a topology few slots: behaviour does not depend on their number, and a real switch is quicker.
func small(t model.Topology) model.Topology {
	for i := range t.Pools {
		t.Pools[i].Slots = 64
	}
	return t
}

// inWorlds tests behaviours on every bed, each on a fresh switch with the rules of a topology whose members are all alive.
func inWorlds(t *testing.T, topology model.Topology, behaviours []behaviour) {
	for _, b := range beds {
		t.Run(b.name, func(t *testing.T) {
			bed := b.open(t, topology)
			for _, behaviour := range behaviours {
				t.Run(behaviour.name, func(t *testing.T) {
					bed.Reset()
					bed.Install(allUp(topology))
					behaviour.test(t, &world{bed, t, topology})
				})
			}
		})
	}
}

// send lets a frame arrive and returns what leaves.
func (w *world) send(from party, frame []byte) []sent {
	w.t.Helper()
	w.Receive(from.port, frame)
	return w.Outputs()
}

// expect lets a frame arrive and demands that exactly these frames leave, in any order.
func (w *world) expect(from party, frame []byte, want ...sent) {
	w.t.Helper()
	got := w.send(from, frame)
	require.Len(w.t, got, len(want), "got %v, all drops so far %v", got, w.Drops())
	for _, s := range want {
		require.True(w.t, w.takes(&got, s), "want on %s:\n%s", s.port, closest(s, got))
	}
}

func (w *world) takes(got *[]sent, want sent) bool {
	for i, g := range *got {
		if g.port == want.port && string(g.frame) == string(want.frame) {
			*got = append((*got)[:i:i], (*got)[i+1:]...)
			return true
		}
	}
	return false
}

// closest tells how the frame that left by the wanted port differs.
func closest(want sent, got []sent) string {
	for _, g := range got {
		if g.port == want.port {
			return packet.Diff(want.frame, g.frame)
		}
	}
	return fmt.Sprintf("nothing, but %v", got)
}

// expectDrop lets a frame arrive and demands that a flow of this table and priority drops it and nothing leaves.
func (w *world) expectDrop(table of.TableID, priority uint16, from party, frame []byte) {
	w.t.Helper()
	before := w.Drops()
	require.Empty(w.t, w.send(from, frame))
	drops := w.Drops()
	for r, n := range before {
		if drops[r] -= n; drops[r] == 0 {
			delete(drops, r)
		}
	}
	require.Equal(w.t, map[level]int{{table, priority}: 1}, drops)
}
