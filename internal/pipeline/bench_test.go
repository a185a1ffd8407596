package pipeline

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath/openflow"
	"hpnn/model"
)

// manyPools is a topology with n pools of eight members and 1024 slots, each behind a listener of its own.
func manyPools(tb testing.TB, n int) model.Topology {
	uplink := model.Port{Name: "eth0", Number: 1}
	t := model.Topology{Segments: []model.Segment{
		{Name: "pub", Kind: model.Public, Prefix: netip.MustParsePrefix("198.18.0.0/15"),
			Gateway: model.Gateway{Address: netip.MustParseAddr("198.18.0.1")}, Uplink: &uplink},
		{Name: "lan", Kind: model.Private, Prefix: netip.MustParsePrefix("10.0.0.0/8"),
			Gateway: model.Gateway{Address: netip.MustParseAddr("10.0.0.1")},
			Probe:   &model.Probe{Address: netip.MustParseAddr("10.0.0.2"), Port: model.Port{Name: "hc", Number: 2}}},
	}}
	for i := range n {
		p := model.Pool{Name: fmt.Sprintf("p%d", i), Slots: 1024}
		for j := range 8 {
			name, a := fmt.Sprintf("h%d-%d", i, j), [4]byte{10, byte(1 + i>>8), byte(i), byte(10 + j)}
			t.Hosts = append(t.Hosts, model.Host{Name: name, Segment: "lan", Address: netip.AddrFrom4(a),
				MAC: model.MAC{2, 0, a[0], a[1], a[2], a[3]}, Port: model.Port{Name: name, Number: uint32(100 + 8*i + j)}})
			p.Members = append(p.Members, model.Member{Host: name, Port: 80, Weight: 1})
		}
		t.Pools = append(t.Pools, p)
		t.Listeners = append(t.Listeners, model.Listener{Name: p.Name, VIP: netip.AddrFrom4([4]byte{198, 18, byte(1 + i>>7), byte(1 + i&127)}),
			Port: 80, Segments: []string{"pub"}, Pool: p.Name})
	}
	t = model.WithDefaults(t)
	require.NoError(tb, model.Validate(t))
	return t
}

var poolCounts = []int{1, 10, 100, 1_000}

func BenchmarkRender(b *testing.B) {
	for _, n := range poolCounts {
		b.Run(fmt.Sprintf("pools=%d", n), func(b *testing.B) {
			t := manyPools(b, n)
			layouts := Layout(t, State{})
			flows := 0
			for b.Loop() {
				flows = Render(t, layouts).Len()
			}
			b.ReportMetric(float64(flows), "flows")
		})
	}
}

// BenchmarkDiff compares what is in the switch with what is wanted after the failure of one member of the first pool, flow by flow.
func BenchmarkDiff(b *testing.B) {
	for _, n := range poolCounts {
		b.Run(fmt.Sprintf("pools=%d", n), func(b *testing.B) {
			t := manyPools(b, n)
			have := slices.Collect(Render(t, Layout(t, State{})).All())
			want := Render(t, Layout(t, State{Down: map[MemberName]bool{{t.Pools[0].Name, t.Pools[0].Members[0].Name}: true}}))
			changes := 0
			for b.Loop() {
				changes = len(openflow.Diff(have, want))
			}
			b.ReportMetric(float64(changes), "changes")
		})
	}
}

func BenchmarkLint(b *testing.B) {
	for _, n := range poolCounts[:3] {
		b.Run(fmt.Sprintf("pools=%d", n), func(b *testing.B) {
			p := allUp(manyPools(b, n))
			for b.Loop() {
				if len(Lint(p)) > 0 {
					b.Fatal("findings")
				}
			}
		})
	}
}
