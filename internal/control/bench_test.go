package control_test

import (
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/control"
	"hpnn/internal/health"
	"hpnn/internal/pipeline"
	"hpnn/model"
	"hpnn/ovsbackend"
	"hpnn/testbed/dummy"
)

// manyPools is a topology with n pools of four members and 1024 slots, each behind a listener of its own.
func manyPools(b *testing.B, n int) model.Topology {
	uplink := model.Port{Name: "eth0", Number: 1}
	t := model.Topology{Segments: []model.Segment{
		{Name: "pub", Kind: model.Public, Prefix: netip.MustParsePrefix("192.0.2.0/24"),
			Gateway: model.Gateway{Address: netip.MustParseAddr("192.0.2.1")}, Uplink: &uplink},
		{Name: "lan", Kind: model.Private, Prefix: netip.MustParsePrefix("10.0.0.0/16"),
			Gateway: model.Gateway{Address: netip.MustParseAddr("10.0.0.1")},
			Probe:   &model.Probe{Address: netip.MustParseAddr("10.0.0.2"), Port: model.Port{Name: "hc", Number: 2}}},
	}}
	for i := range n {
		p := model.Pool{Name: fmt.Sprintf("p%d", i), Slots: 1024}
		for j := range 4 {
			name, a := fmt.Sprintf("h%d-%d", i, j), [4]byte{10, 0, byte(1 + i), byte(10 + j)}
			t.Hosts = append(t.Hosts, model.Host{Name: name, Segment: "lan", Address: netip.AddrFrom4(a),
				MAC: model.MAC{2, 0, a[0], a[1], a[2], a[3]}, Port: model.Port{Name: name, Number: uint32(100 + 4*i + j)}})
			p.Members = append(p.Members, model.Member{Host: name, Port: 80, Weight: 1})
		}
		t.Pools = append(t.Pools, p)
		t.Listeners = append(t.Listeners, model.Listener{Name: p.Name, VIP: netip.AddrFrom4([4]byte{192, 0, 2, byte(10 + i)}),
			Port: 80, Segments: []string{"pub"}, Pool: p.Name})
	}
	t = model.WithDefaults(t)
	require.NoError(b, model.Validate(t))
	return t
}

// notingBridge notes when a bundle has taken effect.
type notingBridge struct {
	datapath.Bridge
	committed time.Time
}

// Commit notes the time.
func (b *notingBridge) Commit(ctx context.Context, bundle openflow.Bundle) error {
	err := b.Bridge.Commit(ctx, bundle)
	b.committed = time.Now()
	return err
}

// BenchmarkVerdict takes the step that follows a member's verdict, down and up in turns, on a real switch. The time per
// operation is that of the step and of the comparison after it; the median of what passes until the 256 slots are in
// the switch stands beside it.
func BenchmarkVerdict(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprintf("%dpools", n), func(b *testing.B) {
			ctx, topology := context.Background(), manyPools(b, n)
			sw := dummy.ForTest(b, dummy.Config{})
			opened, err := ovsbackend.Open(ctx, ovsbackend.Config{RunDir: sw.Dir(), Control: filepath.Join(sw.Dir(), "vswitchd.ctl"),
				Bridge: dummy.Local, Timeout: time.Minute})
			require.NoError(b, err)
			defer opened.Close()
			bridge := &notingBridge{Bridge: opened}
			core, now := control.New(bridge, topology, control.Settings{}, start), start
			for _, p := range topology.Pools {
				for _, m := range p.Members {
					core.Verdict(pipeline.MemberName{Pool: p.Name, Member: m.Name}, health.Up, now)
				}
			}
			step := func() control.Outcome {
				now = core.Due()
				out := core.Step(ctx, now)
				require.NoError(b, out.Err)
				return out
			}
			step()
			pool, states := topology.Pools[n/2], []health.State{health.Down, health.Up}
			var all []time.Duration
			b.ResetTimer()
			for i := range b.N {
				core.Verdict(pipeline.MemberName{Pool: pool.Name, Member: pool.Members[0].Name}, states[i%2], now)
				began := time.Now()
				require.Len(b, step().Bundle, 256)
				all = append(all, bridge.committed.Sub(began))
				step()
			}
			slices.Sort(all)
			b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "verdict-ms")
		})
	}
}
