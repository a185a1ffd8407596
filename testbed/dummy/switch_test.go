package dummy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFlowForwardsAndDrops(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(3)}), t.Context()
	require.NoError(t, sw.ReplaceFlows(ctx, "# forwards\nin_port=1,actions=output:3\n\nin_port=2,actions=drop\n"))
	require.NoError(t, sw.Receive(ctx, "p1", numbered(1), numbered(2)))
	require.NoError(t, sw.Receive(ctx, "p2", numbered(3)))
	require.NoError(t, sw.Receive(ctx, Local, numbered(4)))
	requireOutputs(t, sw, Output{"p3", numbered(1)}, Output{"p3", numbered(2)})
	requireOutputs(t, sw)
	text, err := sw.DumpFlows(ctx)
	require.NoError(t, err)
	require.Contains(t, text, "n_packets=2, n_bytes=120, idle_age=0, in_port=1 actions=output:3")
	require.Contains(t, text, "n_packets=1, n_bytes=60, idle_age=0, in_port=2 actions=drop")
}

func TestLocalPortSendsAndReceives(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(1)}), t.Context()
	require.NoError(t, sw.ReplaceFlows(ctx, "in_port=LOCAL,actions=1\nin_port=1,actions=LOCAL"))
	require.NoError(t, sw.Receive(ctx, Local, numbered(1)))
	require.NoError(t, sw.Receive(ctx, "p1", numbered(2)))
	requireOutputs(t, sw, Output{Local, numbered(2)}, Output{"p1", numbered(1)})
}

func TestFramesKeepTheirOrderInLargeBatches(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(2)}), t.Context()
	require.NoError(t, sw.ReplaceFlows(ctx, "in_port=1,actions=output:2"))
	var frames [][]byte
	var want []Output
	for n := range 3*receiveBatch + 1 {
		frames = append(frames, numbered(n))
		want = append(want, Output{"p2", numbered(n)})
	}
	for _, n := range []int{0, 1, 2, 3, receiveBatch - 1, receiveBatch, receiveBatch + 1, len(frames)} {
		for range 10 {
			require.NoError(t, sw.Receive(ctx, "p1", frames[:n]...))
			requireOutputs(t, sw, want[:n:n]...)
		}
	}
}

func TestNamesAndNumbersAreTheCallers(t *testing.T) {
	ports := []Port{{"uplink", 7}, {"be1", 65279}}
	sw, ctx := ForTest(t, Config{Ports: ports}), t.Context()
	require.NoError(t, sw.ReplaceFlows(ctx, "in_port=7,actions=output:65279"))
	require.NoError(t, sw.Receive(ctx, "uplink", numbered(1)))
	requireOutputs(t, sw, Output{"be1", numbered(1)})
}

func TestLearnedFlowTakesEffectWithTheNextFrame(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(3)}), t.Context()
	require.NoError(t, sw.ReplaceFlows(ctx, `
		table=0,actions=learn(table=1,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[]),resubmit(,1)
		table=1,priority=0,actions=output:3`))
	there, back := tcp(t, client, vip, "S"), tcp(t, vip, client, "SA")
	require.NoError(t, sw.Receive(ctx, "p1", there))
	require.NoError(t, sw.Receive(ctx, "p2", back))
	requireOutputs(t, sw, Output{"p1", back}, Output{"p3", there})
	text, err := sw.DumpFlows(ctx)
	require.NoError(t, err)
	require.Contains(t, text, "dl_dst=02:00:00:00:00:01 actions=output:1")
}

func TestConnectionIsTranslatedThereAndBack(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(2)}), t.Context()
	require.NoError(t, sw.ReplaceFlows(ctx, `
		in_port=1,tcp,nw_dst=10.0.0.100,actions=ct(commit,nat(dst=10.0.0.2:8080)),output:2
		in_port=2,tcp,actions=ct(nat,table=1)
		table=1,ct_state=+trk+est,tcp,actions=output:1`))
	require.NoError(t, sw.Receive(ctx, "p1", tcp(t, client, vip, "S")))
	require.NoError(t, sw.Receive(ctx, "p2", tcp(t, member, client, "SA")))
	requireOutputs(t, sw, Output{"p1", tcp(t, vip, client, "SA")}, Output{"p2", tcp(t, client, member, "S")})
	text, err := sw.Connections(ctx)
	require.NoError(t, err)
	require.Contains(t, text, "reply=(src=10.0.0.2,dst=10.0.0.1,sport=8080,dport=40000")
	require.NoError(t, sw.FlushConnections(ctx))
	text, err = sw.Connections(ctx)
	require.NoError(t, err)
	require.Empty(t, text)
}

func TestWarpExpiresFlows(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(2)}), t.Context()
	require.NoError(t, sw.ReplaceFlows(ctx, "idle_timeout=5,in_port=1,actions=2\nhard_timeout=7,in_port=2,actions=1"))
	steps := []struct {
		warp time.Duration
		want int
	}{{4999 * time.Millisecond, 2}, {time.Millisecond, 2}, {time.Millisecond, 1}, {1999 * time.Millisecond, 1}, {time.Millisecond, 0}}
	for _, step := range steps {
		require.NoError(t, sw.Warp(ctx, step.warp))
		text, err := sw.DumpFlows(ctx)
		require.NoError(t, err)
		require.Equal(t, step.want, strings.Count(text, "actions="), "after %v: %s", step.warp, text)
	}
	require.Error(t, sw.Warp(ctx, 0))
	require.Error(t, sw.Warp(ctx, time.Microsecond))
}

func TestTrafficKeepsAnIdleFlowAlive(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(2)}), t.Context()
	require.NoError(t, sw.ReplaceFlows(ctx, "idle_timeout=5,in_port=1,actions=2"))
	for n := range 4 {
		require.NoError(t, sw.Warp(ctx, 5*time.Second))
		require.NoError(t, sw.Receive(ctx, "p1", numbered(n)))
		requireOutputs(t, sw, Output{"p2", numbered(n)})
	}
}

func TestWarpExpiresConnections(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(2)}), t.Context()
	require.NoError(t, sw.ReplaceFlows(ctx, "tcp,actions=ct(commit),2"))
	require.NoError(t, sw.Receive(ctx, "p1", tcp(t, client, vip, "S")))
	require.NoError(t, sw.Warp(ctx, 29*time.Second))
	text, err := sw.Connections(ctx)
	require.NoError(t, err)
	require.Contains(t, text, "timeout=1,protoinfo=(state=SYN_SENT)")
	require.NoError(t, sw.Warp(ctx, 2*time.Second))
	text, err = sw.Connections(ctx)
	require.NoError(t, err)
	require.Empty(t, text)
}

func TestRefusalCarriesTheWordsOfOVSAndChangesNothing(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(2)}), t.Context()
	require.NoError(t, sw.ReplaceFlows(ctx, "in_port=1,actions=output:2"))
	for text, words := range map[string]string{
		"in_port=1,actions=dance":                          "unknown action dance",
		"in_port=2,actions=output:1\nactions=group:7":      "OFPBAC_BAD_OUT_GROUP",
		"in_port=2,actions=output:1\nfrobnicate,actions=1": "frobnicate",
	} {
		err := sw.ReplaceFlows(ctx, text)
		var refused *RefusedError
		require.ErrorAs(t, err, &refused, text)
		require.Contains(t, refused.Words, words)
	}
	var refused *RefusedError
	require.ErrorAs(t, sw.Receive(ctx, "p9", numbered(1)), &refused)
	require.ErrorAs(t, sw.Receive(ctx, "p1", numbered(1), []byte{1, 2, 3}), &refused)
	require.NoError(t, sw.Receive(ctx, "p1", numbered(5)))
	requireOutputs(t, sw, Output{"p2", numbered(5)})
}

func TestBundleKeepsWhatItDoesNotName(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(2)}), t.Context()
	require.NoError(t, sw.ReplaceFlows(ctx, "in_port=1,actions=output:2"))
	require.NoError(t, sw.Receive(ctx, "p1", numbered(1)))
	require.NoError(t, sw.Bundle(ctx, "group add group_id=1,type=all,bucket=output:1\nflow in_port=2,actions=group:1"))
	require.NoError(t, sw.Bundle(ctx, "packet-out in_port=CONTROLLER,packet="+strings.Repeat("ab", 60)+",actions=output:1"))
	text, err := sw.DumpFlows(ctx)
	require.NoError(t, err)
	require.Contains(t, text, "n_packets=1, n_bytes=60, idle_age=0, in_port=1 actions=output:2")
	outputs, err := sw.Outputs()
	require.NoError(t, err)
	require.Len(t, outputs, 2)
}

func TestPortNamesAreUnderstood(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: []Port{{"uplink", 7}, {"be1", 9}}}), t.Context()
	require.NoError(t, sw.ReplaceFlows(ctx, "in_port=uplink,actions=output:be1"))
	text, err := sw.DumpFlows(ctx)
	require.NoError(t, err)
	require.Contains(t, text, "in_port=7 actions=output:9")
}

func TestTraceTellsTables(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(2)}), t.Context()
	require.NoError(t, sw.ReplaceFlows(ctx, "tcp,actions=resubmit(,4)\ntable=4,tp_dst=80,tcp,actions=output:2"))
	byFlow, err := sw.Trace(ctx, "in_port=1,tcp,tp_dst=80", "")
	require.NoError(t, err)
	require.Contains(t, byFlow, "\n 4. tcp,tp_dst=80, priority 32768\n    output:2\n")
	byPacket, err := sw.Trace(ctx, "in_port=1", fmt.Sprintf("%x", tcp(t, client, vip, "S")))
	require.NoError(t, err)
	require.Contains(t, byPacket, "nw_src=10.0.0.1,nw_dst=10.0.0.100")
	require.Contains(t, byPacket, "Datapath actions: 2")
}

func TestResetLeavesNothing(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(3)}), t.Context()
	for range 2 {
		require.NoError(t, sw.Bundle(ctx, `
			group add group_id=1,type=all,bucket=output:2
			flow in_port=1,tcp,actions=ct(commit),learn(table=3,NXM_OF_ETH_SRC[]),group:1
			flow in_port=3,actions=NORMAL`))
		require.NoError(t, sw.Receive(ctx, "p1", tcp(t, client, vip, "S")))
		require.NoError(t, sw.Receive(ctx, "p3", numbered(1)))
		require.NoError(t, sw.Reset(ctx))
		requireOutputs(t, sw)
		for _, command := range [][]string{{"bridge/dump-flows", Local}, {"dpctl/dump-conntrack"}, {"fdb/show", Local}} {
			text, err := sw.Appctl(ctx, command[0], command[1:]...)
			require.NoError(t, err)
			for line := range strings.Lines(text) {
				require.True(t, strings.Contains(line, "table_id=254") || strings.Contains(line, "VLAN"), line)
			}
		}
	}
}

func TestCaptureDoesNotGrowWithoutBound(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(2)}), t.Context()
	require.NoError(t, sw.ReplaceFlows(ctx, "in_port=1,actions=output:2"))
	frame := make([]byte, 1500)
	batch := make([][]byte, 200)
	for round := range 8 {
		for i := range batch {
			batch[i] = append(numbered(round*len(batch)+i), frame[60:]...)
		}
		require.NoError(t, sw.Receive(ctx, "p1", batch...))
		outputs, err := sw.Outputs()
		require.NoError(t, err)
		require.Len(t, outputs, len(batch))
		for i, o := range outputs {
			require.Equal(t, batch[i], o.Frame)
		}
	}
	info, err := os.Stat(filepath.Join(sw.Dir(), "p2.pcap"))
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(2*shrinkAbove))
}

func TestSwitchesDoNotDisturbEachOther(t *testing.T) {
	left, right := ForTest(t, Config{Ports: NumberedPorts(2)}), ForTest(t, Config{Ports: NumberedPorts(2)})
	var group sync.WaitGroup
	for i, sw := range []*Switch{left, right} {
		group.Go(func() {
			ctx := context.Background()
			if err := sw.ReplaceFlows(ctx, fmt.Sprintf("in_port=%d,actions=output:%d", i+1, 2-i)); err != nil {
				t.Error(err)
			}
			for n := range 50 {
				if err := sw.Receive(ctx, "p1", numbered(n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	outputs, err := left.Outputs()
	require.NoError(t, err)
	require.Len(t, outputs, 50)
	requireOutputs(t, right)
}

func TestCallBrokenOffByItsContextLeavesAUsableSwitch(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(2)}), t.Context()
	over, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, sw.Receive(over, "p1", numbered(1)), context.Canceled)
	require.ErrorIs(t, sw.ReplaceFlows(over, "actions=drop"), context.Canceled)
	require.ErrorIs(t, sw.Warp(over, time.Second), context.Canceled)
	require.NoError(t, sw.Reset(ctx))
	require.NoError(t, sw.ReplaceFlows(ctx, "in_port=1,actions=output:2"))
	require.NoError(t, sw.Warp(ctx, time.Second))
	require.NoError(t, sw.Receive(ctx, "p1", numbered(2)))
	requireOutputs(t, sw, Output{"p2", numbered(2)})
}

func requireOutputs(t *testing.T, sw *Switch, want ...Output) {
	t.Helper()
	got, err := sw.Outputs()
	require.NoError(t, err)
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i], got[i], "output %d", i)
	}
}
