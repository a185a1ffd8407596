//go:build linux

package realtime

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/simbackend"
	"hpnn/testbed"
)

// rules drop frames in several ways: by a flow, for want of one, by what the tracker says, and to the controller.
const rules = `flow add table=0,priority=5,udp,tp_dst=1,actions=drop
flow add table=0,priority=5,udp,tp_dst=2,actions=goto_table:3
flow add table=0,priority=5,udp,tp_dst=3,actions=CONTROLLER:65535
flow add table=0,priority=5,udp,tp_dst=4,actions=output:2
flow add table=0,priority=4,tcp,actions=ct(table=4)
flow add table=4,priority=8,ct_state=+inv,tcp,actions=drop
flow add table=4,priority=7,ct_state=+trk-inv,tcp,actions=output:2`

var (
	source      = packet.Ether{Src: packet.MAC{2, 0, 0, 0, 0, 1}, Dst: packet.MAC{2, 0, 0, 0, 0, 2}}
	destination = packet.IP{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2")}
)

// TestFatesAreWhatTheSwitchSays compares what is found out from outside with the word of a switch that tells.
func TestFatesAreWhatTheSwitchSays(t *testing.T) {
	sw, err := simbackend.New(simbackend.Config{Ports: []simbackend.Port{{Number: 1, Name: "a"}, {Number: 2, Name: "b"}}})
	require.NoError(t, err)
	b, err := openflow.ParseBundle("rules", strings.NewReader(rules))
	require.NoError(t, err)
	require.NoError(t, sw.Commit(t.Context(), b))
	wrong := packet.TCP{Eth: source, IP: destination, SrcPort: 1, DstPort: 2, Flags: packet.SYN}.Bytes()
	wrong[len(wrong)-4]++ // its checksum
	frames := [][]byte{wrong}
	for port := uint16(1); port < 6; port++ {
		frames = append(frames, packet.UDP{Eth: source, IP: destination, SrcPort: 9, DstPort: port}.Bytes())
	}
	for _, f := range frames {
		in := datapath.Injection{InPort: 1, Frame: f}
		trace, err := sw.Trace(t.Context(), in)
		require.NoError(t, err)
		before, err := sw.Flows(t.Context())
		require.NoError(t, err)
		got, err := lastLookup(trace, before)
		require.NoError(t, err)
		want := sw.Receive(in, func(datapath.Output) {})
		after, err := sw.Flows(t.Context())
		require.NoError(t, err)
		require.Equal(t, want.Matched, got.Matched, packet.Summary(f))
		require.Equal(t, want.PacketIns > 0, got.PacketIns > 0)
		dropped, ok := grown(before, after)
		require.Equal(t, want.Matched && len(want.Flow.Actions) == 0, ok)
		if ok {
			require.Equal(t, want.Flow.String(), got.Flow.String())
			require.Equal(t, want.Flow.String(), dropped.String())
			require.Equal(t, want.Table, got.Table)
		}
	}
}

// site is a Site with machines that do nothing.
type site struct {
	Site
	machines []Machine
}

func (s site) Machines() []Machine { return s.machines }

type machine struct {
	Machine
	about testbed.Machine
}

func (m machine) About() testbed.Machine { return m.about }

// TestOnlyWhatMachinesHeardHasLeft: frames that were sent, those at other ports and those from before do not count, and one
// frame does not count for two.
func TestOnlyWhatMachinesHeardHasLeft(t *testing.T) {
	h := &hosts{bed: &bed{site: site{machines: []Machine{
		machine{about: testbed.Machine{Name: "a", Port: 1, Role: testbed.Client}},
		machine{about: testbed.Machine{Name: "b", Port: 2, Role: testbed.Member}},
		machine{about: testbed.Machine{Name: "own", Port: 3, Role: testbed.Kernel}},
	}}}}
	x, y := []byte("x"), []byte("y")
	for _, f := range []testbed.Heard{
		{Host: "b", Frame: y}, {Host: "b", Frame: x}, {Host: "b", Frame: y, Sent: true}, {Host: "a", Frame: y},
	} {
		h.take(f)
	}
	require.Equal(t, 4, h.heardSoFar())
	expected := []datapath.Output{{Port: 2, Frame: x}, {Port: 2, Frame: x}, {Port: 2, Frame: y}, {Port: 1, Frame: y}, {Port: 3, Frame: y}}
	require.Equal(t, []datapath.Output{{Port: 2, Frame: x}, {Port: 1, Frame: y}, {Port: 3, Frame: y}}, h.received(1, expected))
}
