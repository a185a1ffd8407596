package simbackend_test

import (
	"fmt"
	"net/netip"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/pipeline"
	"hpnn/model"
	"hpnn/simbackend"
)

// others is the text of n rules with the masks of the lab's: slots of other pools, routes and neighbours.
func others(n int) string {
	var text strings.Builder
	for i := range n {
		a, b, c := i>>16&255, i>>8&255, i&255
		switch i % 8 {
		case 6:
			fmt.Fprintf(&text, "table=20,priority=32,ip,nw_dst=11.%d.%d.%d,actions=dec_ttl,set_field:02:42:0a:14:00:01->eth_src,goto_table:21\n", a, b, c)
		case 7:
			fmt.Fprintf(&text, "table=21,priority=100,ip,nw_dst=11.%d.%d.%d,actions=set_field:02:42:0a:%02x:%02x:%02x->eth_dst,output:10\n", a, b, c, a, b, c)
		default:
			fmt.Fprintf(&text, "table=11,priority=100,reg1=%d,reg3=%d,actions=set_field:%d->reg2,goto_table:12\n", i&1023, 2+i>>10, i&3)
		}
	}
	return text.String()
}

func parsed(tb testing.TB, text string) openflow.Program {
	p, err := openflow.ParseProgram("rules", strings.NewReader(text))
	require.NoError(tb, err)
	return p
}

func added(tb testing.TB, text string) openflow.Bundle { return parsed(tb, text).Bundle() }

// poolTopology has n pools of two members and 64 slots, each behind a listener of its own; the first is the one that syn calls.
func poolTopology(tb testing.TB, n int) model.Topology {
	uplink := model.Port{Name: "eth0", Number: 1}
	t := model.Topology{Segments: []model.Segment{
		{Name: "pub", Kind: model.Public, Prefix: netip.MustParsePrefix("192.168.0.0/16"), Uplink: &uplink,
			Gateway: model.Gateway{Address: netip.MustParseAddr("192.168.5.20"), MAC: model.MAC{2, 0x42, 0xc0, 0xa8, 5, 0x14}}},
		{Name: "lan", Kind: model.Private, Prefix: netip.MustParsePrefix("10.0.0.0/16"),
			Gateway: model.Gateway{Address: netip.MustParseAddr("10.0.0.1")},
			Probe:   &model.Probe{Address: netip.MustParseAddr("10.0.0.2"), Port: model.Port{Name: "hc", Number: 2}}},
	}}
	for i := range n {
		p := model.Pool{Name: fmt.Sprintf("p%d", i), Slots: 64}
		for j := range 2 {
			name, a := fmt.Sprintf("h%d-%d", i, j), [4]byte{10, 0, byte(1 + i>>7), byte(2*i&254 | j)}
			t.Hosts = append(t.Hosts, model.Host{Name: name, Segment: "lan", Address: netip.AddrFrom4(a),
				MAC: model.MAC{2, 0, a[0], a[1], a[2], a[3]}, Port: model.Port{Name: name, Number: uint32(100 + 2*i + j)}})
			p.Members = append(p.Members, model.Member{Host: name, Port: 80, Weight: 1})
		}
		t.Pools = append(t.Pools, p)
		vip := netip.AddrFrom4([4]byte{192, 168, byte(100 + i>>7), byte(1 + i&127)})
		if i == 0 {
			vip = netip.MustParseAddr("192.168.5.21")
		}
		t.Listeners = append(t.Listeners, model.Listener{Name: p.Name, VIP: vip, Port: 80, Segments: []string{"pub"}, Pool: p.Name})
	}
	t = model.WithDefaults(t)
	require.NoError(tb, model.Validate(t))
	return t
}

func poolSwitch(tb testing.TB, n int) *simbackend.Switch {
	t := poolTopology(tb, n)
	return programmed(tb, portsOf(t), pipeline.Render(t, pipeline.Layout(t, pipeline.State{})))
}

// BenchmarkCommit adds n rules to an empty switch.
func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run("flows="+strconv.Itoa(n), func(b *testing.B) {
			bundle := added(b, others(n))
			b.ReportAllocs()
			for b.Loop() {
				sw, err := simbackend.New(simbackend.Config{Ports: labPorts})
				require.NoError(b, err)
				require.NoError(b, sw.Commit(b.Context(), bundle))
			}
		})
	}
}

// BenchmarkCommitChange gives 256 of n rules other actions, as a member's failure does.
func BenchmarkCommitChange(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run("flows="+strconv.Itoa(n), func(b *testing.B) {
			bundle := added(b, others(n))
			sw, err := simbackend.New(simbackend.Config{Ports: labPorts})
			require.NoError(b, err)
			require.NoError(b, sw.Commit(b.Context(), bundle))
			var changes [2]openflow.Bundle
			for i, m := range bundle[:256] {
				changes[0] = append(changes[0], m)
				m.Flow.Actions = bundle[(i+1)%256].Flow.Actions
				changes[1] = append(changes[1], m)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i ^= 1
				require.NoError(b, sw.Commit(b.Context(), changes[i]))
			}
		})
	}
}

// BenchmarkLoad makes a switch of a program's text: the lab's 1,071 rules, or 100,000 of its masks.
func BenchmarkLoad(b *testing.B) {
	for name, text := range map[string]string{"rules=1071": others(1071), "rules=100000": others(100_000)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				programmed(b, labPorts, parsed(b, text))
			}
		})
	}
}

// BenchmarkMemory is the memory that a switch needs for a rule of 100,000, when the text and the program are gone.
func BenchmarkMemory(b *testing.B) {
	const rules = 100_000
	text := others(rules)
	for b.Loop() {
		before := heap()
		sw := programmed(b, labPorts, parsed(b, text))
		b.ReportMetric(float64(heap()-before)/rules, "bytes/flow")
		runtime.KeepAlive(sw)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkIdleHour lets an hour pass, second by second, on a node that holds 1,000 connections and what it has learned. The
// connections are committed but silent, so most time out on the way.
func BenchmarkIdleHour(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		sw, _ := nodeSwitch(b, "hpnn.yaml")
		for _, f := range syns(1_000) {
			sw.Receive(datapath.Injection{InPort: 1, Frame: f}, nil)
		}
		b.StartTimer()
		for second := range 3600 {
			sw.Advance(time.Duration(second+1) * time.Second)
		}
	}
}

// BenchmarkStory is what a small story costs: a switch with the example's rules, then 1,000 frames.
func BenchmarkStory(b *testing.B) {
	topology, err := model.Load("../examples/hpnn.yaml")
	require.NoError(b, err)
	program := pipeline.Render(topology, pipeline.Layout(topology, pipeline.State{}))
	frames := syns(100)
	for b.Loop() {
		sw := programmed(b, portsOf(topology), program)
		for i := range 1_000 {
			sw.Receive(datapath.Injection{InPort: 1, Frame: frames[i%len(frames)]}, nil)
		}
	}
}
