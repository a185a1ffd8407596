package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/internal/pipeline"
	"hpnn/internal/replay"
	"hpnn/model"
)

// stand is the node of examples/hpnn.yaml.
func stand(t *testing.T) site {
	topology, err := model.Load("../../examples/hpnn.yaml")
	require.NoError(t, err)
	return site{replay.FromTopology(topology, pipeline.State{}), &topology}
}

// A frame that was built of a flow has the fields that the flow demands, as the switch reads them.
func TestFramesAreWhatTheFlowSays(t *testing.T) {
	n := stand(t)
	sw, err := n.Switch(t.Context())
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		text := randomFlow(random)
		frame, err := buildFrame(n, text)
		require.NoError(t, err, text)
		require.NoError(t, packet.Verify(frame.Data), text)
		trace, err := sw.Trace(t.Context(), datapath.Injection{InPort: frame.Port, Frame: frame.Data})
		require.NoError(t, err, text)
		want, err := openflow.ParseMatch(text, openflow.WithPorts(numbers(n.Ports)))
		require.NoError(t, err, text)
		flow := strings.ReplaceAll(trace.Passes[0].Flow, ",vlan_tci1=0x0000", "") // a second tag, which no match can ask for
		got, err := openflow.ParseMatch(flow)
		require.NoError(t, err, trace.Passes[0].Flow)
		require.Truef(t, want.Covers(got), "asked for %s\nbuilt %s", text, trace.Passes[0].Flow)
	}
}

// randomFlow picks a protocol and some conditions that go with it.
func randomFlow(r *rand.Rand) string {
	kinds := []struct {
		base  string
		extra []string
	}{
		{"arp,arp_tpa=192.168.5.21", []string{"arp_op=2", "arp_spa=1.2.3.4", "arp_sha=02:00:00:00:00:77", "arp_tha=02:00:00:00:00:78"}},
		{"ip,nw_dst=192.168.5.21", []string{"nw_src=1.2.3.4", "nw_proto=47", "nw_ttl=1", "nw_tos=184", "nw_ecn=3", "nw_frag=later"}},
		{"tcp,nw_dst=10.20.0.2", []string{"tp_src=1", "tp_dst=65535", "tcp_flags=+syn+ack", "nw_ttl=255", "nw_frag=first"}},
		{"udp,nw_dst=10.20.0.2", []string{"tp_src=1", "tp_dst=53", "nw_frag=no"}},
		{"icmp,nw_dst=10.20.0.2", []string{"icmp_type=3", "icmp_code=4"}},
		{"tcp6,ipv6_dst=2001:db8::2", []string{"ipv6_src=2001:db8::9", "tp_dst=443", "nw_ttl=3"}},
		{"icmp6,ipv6_dst=2001:db8::2", []string{"icmpv6_type=129", "icmpv6_code=1"}},
		{"dl_type=0x88cc", nil},
	}
	kind := kinds[r.IntN(len(kinds))]
	text := "in_port=" + []string{"pub0", "cli2", "LOCAL", "1"}[r.IntN(4)] + "," + kind.base
	for _, extra := range append(kind.extra, "dl_src=02:00:00:00:00:99", "dl_dst=02:00:00:00:00:98", "dl_vlan=5", "dl_vlan_pcp=3") {
		if r.IntN(4) == 0 {
			text += "," + extra
		}
	}
	return text
}

func TestStationsAreWhoTheTopologySays(t *testing.T) {
	n := stand(t)
	for _, test := range []struct{ flow, summary, src, dst string }{
		{"in_port=pub0,tcp,nw_dst=192.168.5.21", "TCP 192.168.5.254:40000 > 192.168.5.21:80", "02:00:00:00:00:01", "02:42:c0:a8:05:14"},
		{"in_port=pub0,tcp,nw_src=8.8.8.8,nw_dst=10.20.0.2", "TCP 8.8.8.8:40000 > 10.20.0.2:80", "02:00:00:00:00:01", "02:42:c0:a8:05:14"},
		{"in_port=cli2,tcp,nw_dst=10.20.0.100", "TCP 10.20.0.10:40000 > 10.20.0.100:80", "02:42:0a:14:00:0a", "02:42:0a:14:00:01"},
		{"in_port=cli2,tcp,nw_dst=10.20.0.3", "TCP 10.20.0.10:40000 > 10.20.0.3:80", "02:42:0a:14:00:0a", "02:42:0a:14:00:03"},
		{"in_port=cli2,tcp,nw_dst=10.30.0.3", "TCP 10.20.0.10:40000 > 10.30.0.3:80", "02:42:0a:14:00:0a", "02:42:0a:14:00:01"},
		{"in_port=be1,tcp,nw_dst=10.20.0.253", "TCP 10.20.0.2:40000 > 10.20.0.253:80", "02:42:0a:14:00:02", "02:42:0a:14:00:fd"},
		{"in_port=hcif-p3,tcp,nw_dst=10.30.0.2", "TCP 10.30.0.253:40000 > 10.30.0.2:80", "02:42:0a:1e:00:fd", "02:42:0a:1e:00:02"},
		{"in_port=p2,tcp,nw_dst=10.20.0.2", "TCP 10.20.0.254:40000 > 10.20.0.2:80", "02:00:00:00:00:01", "02:42:0a:14:00:02"},
		{"in_port=LOCAL,tcp,nw_dst=10.20.0.2", "TCP 192.0.2.1:40000 > 10.20.0.2:80", "02:00:00:00:00:01", "02:00:00:00:00:02"},
	} {
		f, err := buildFrame(n, test.flow)
		require.NoError(t, err)
		require.Contains(t, packet.Summary(f.Data), test.summary, test.flow)
		require.Equal(t, test.src, packet.MAC(f.Data[6:12]).String(), test.flow)
		require.Equal(t, test.dst, packet.MAC(f.Data[:6]).String(), test.flow)
	}
}

func TestFreeAddressesAreFree(t *testing.T) {
	n := stand(t)
	n.topology.Hosts = append(n.topology.Hosts, model.Host{Name: "last", Segment: "pub", Address: broadcast(n.topology.Segments[0].Prefix).Prev()})
	f, err := buildFrame(n, "in_port=pub0,tcp,nw_dst=192.168.5.21")
	require.NoError(t, err)
	require.Contains(t, packet.Summary(f.Data), "TCP 192.168.5.253:40000 ")
}
