package dummybridge_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/testbed/dummy"
	"hpnn/testbed/dummybridge"
)

func commit(t *testing.T, b datapath.Bridge, lines string) {
	t.Helper()
	bundle, err := openflow.ParseBundle("test", strings.NewReader(lines))
	require.NoError(t, err)
	require.NoError(t, b.Commit(t.Context(), bundle))
}

// segment is a TCP segment from port 1.
func segment(flags packet.Flags) datapath.Injection {
	a, b := packet.MAC{2, 0, 0, 0, 0, 1}, packet.MAC{2, 0, 0, 0, 0, 2}
	return datapath.Injection{InPort: 1, Frame: packet.Pad(packet.TCP{
		Eth: packet.Ether{Src: a, Dst: b}, IP: packet.IP{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2")},
		SrcPort: 1000, DstPort: 80, Flags: flags, Window: 1000,
	}.Bytes())}
}

func ignore(datapath.Output) {}

func TestExamineTellsWhichFlowDropped(t *testing.T) {
	b := open(t, dummy.ForTest(t, dummy.Config{Ports: ports}))
	commit(t, b, `flow add table=0,priority=9,tcp,actions=ct(table=1,zone=1)
flow add table=0,priority=8,dl_type=0x88b5,actions=drop
flow add table=0,priority=7,dl_type=0x88b6,actions=goto_table:1
flow add table=1,priority=9,ct_state=+trk+inv,tcp,actions=drop
flow add table=1,priority=8,ct_state=+trk+new,tcp,actions=ct(commit,zone=1),output:2`)
	v := b.Examine(segment(packet.SYN|packet.ACK|packet.RST), ignore)
	require.True(t, v.Matched)
	require.Equal(t, openflow.TableID(1), v.Table)
	require.EqualValues(t, 9, v.Flow.Priority, "the tracker calls it invalid: %v", v.Flow)
	require.Equal(t, 1, b.Examine(segment(packet.SYN), ignore).Outputs)

	other := segment(packet.SYN)
	other.Frame[12], other.Frame[13] = 0x88, 0xb5
	v = b.Examine(other, ignore)
	require.True(t, v.Matched)
	require.EqualValues(t, 8, v.Flow.Priority)
	other.Frame[13] = 0xb6
	require.False(t, b.Examine(other, ignore).Matched)
}

// TestLearnedFlowsTimeOut: the clock is late, and never too late.
func TestLearnedFlowsTimeOut(t *testing.T) {
	b := open(t, dummy.ForTest(t, dummy.Config{Ports: ports}))
	commit(t, b, "flow add table=0,priority=9,tcp,actions=learn(table=1,hard_timeout=10,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[])")
	learned := func(at time.Duration) int {
		b.Advance(at)
		flows, err := b.Flows(t.Context())
		require.NoError(t, err)
		return len(flows) - 1
	}
	require.Zero(t, learned(time.Hour))
	b.Receive(segment(packet.SYN), ignore)
	require.Equal(t, 1, learned(time.Hour+9*time.Second))
	require.Equal(t, 1, learned(time.Hour+9900*time.Millisecond))
	require.Zero(t, learned(time.Hour+10200*time.Millisecond))
}

func TestRestartLosesEverything(t *testing.T) {
	b := open(t, dummy.ForTest(t, dummy.Config{Ports: ports}))
	commit(t, b, "flow add ip,actions=ct(commit,zone=1),output:2")
	passes := func() (n int) {
		b.Receive(segment(packet.SYN), func(datapath.Output) { n++ })
		return n
	}
	require.Equal(t, 1, passes())
	require.NoError(t, b.Restart(t.Context()))
	require.Zero(t, passes())
	conns, err := b.Conntrack().Connections(t.Context(), datapath.ConnFilter{})
	require.NoError(t, err)
	require.Empty(t, conns)
	commit(t, b, "flow add actions=output:2")
	require.Equal(t, 1, passes())
}

// TestAbortIsTold: the switch is there again after a frame that ended it, and Close tells of it.
func TestAbortIsTold(t *testing.T) {
	sw := dummy.ForTest(t, dummy.Config{Ports: ports})
	b, err := dummybridge.New(t.Context(), sw, ports)
	require.NoError(t, err)
	commit(t, b, "flow add tcp,actions=write_actions(output:2),goto_table:1\nflow add table=1,tcp,actions=ct(table=2)")
	b.Receive(segment(packet.SYN), ignore)
	flows, err := b.Flows(t.Context())
	require.NoError(t, err)
	if len(flows) > 0 {
		t.Skip("this OVS does not abort where 3.1.0 does")
	}
	require.ErrorIs(t, b.Close(), dummy.ErrAborted)
}
