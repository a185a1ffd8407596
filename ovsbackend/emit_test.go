package ovsbackend_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// rewriting changes frames in all ways that a trace follows, and in some that it does not.
const rewriting = `
table=0,priority=9,in_port=1,tcp actions=set_field:02:00:00:00:00:77->eth_src,set_field:10.9.9.9->ip_dst,set_field:81->tcp_dst,output:2,set_field:10.8.8.8->ip_src,set_field:1->tcp_src,output:3
table=0,priority=9,in_port=1,udp actions=set_field:53->udp_src,dec_ttl,output:2,set_field:0->ip_ecn,set_field:40->ip_dscp,output:3
table=0,priority=9,in_port=1,icmp actions=move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],set_field:0->icmp_type,output:2,IN_PORT
table=0,priority=9,in_port=1,arp,arp_op=1 actions=set_field:2->arp_op,set_field:1.2.3.4->arp_spa,set_field:02:00:00:00:00:99->arp_tha,output:2
table=0,priority=5,in_port=1 actions=push_vlan:0x8100,set_field:4103->vlan_vid,output:2,pop_vlan,push_vlan:0x88a8,set_field:4104->vlan_vid,set_field:3->vlan_pcp,output:3
table=0,priority=9,in_port=2,ipv6 actions=dec_ttl,output:3
table=0,priority=9,in_port=2,ip actions=clone(set_field:1.1.1.1->ip_src,output:3),output:1
table=0,priority=5,in_port=2 actions=check_pkt_larger(60)->NXM_NX_REG0[0],resubmit(,1)
table=1,priority=5,reg0=1 actions=output:3
table=1,priority=4 actions=output:1
table=0,priority=9,in_port=3,ip actions=ct(commit,zone=3,nat(dst=10.0.0.3),table=2)
table=2,priority=9,ip actions=dec_ttl,output:1,ct(commit,zone=4,nat(src=10.0.0.200),table=3)
table=3,priority=9,ip actions=output:2`

// What a trace says will leave is what leaves when the frame then comes, byte for byte.
func TestTracedOutputsLeave(t *testing.T) {
	sw := startSwitch(t)
	b := open(t, config(sw))
	require.NoError(t, b.Commit(t.Context(), program(t, rewriting).Bundle()))
	known, unknown := 0, 0
	for i, frame := range oddFrames(3, 250) {
		for port := range openflow.PortNo(3) {
			in := datapath.Injection{InPort: port + 1, Frame: frame}
			if in.InPort == 3 && !slices.Contains([]int{0, 1, 4}, i) {
				continue // the tracker calls most of them invalid, which ofproto/trace does not see
			}
			require.NoError(t, sw.FlushConnections(t.Context()))
			trace, err := b.Trace(t.Context(), in)
			require.NoError(t, err)
			require.NoError(t, sw.Receive(t.Context(), names[in.InPort], frame), "%d %x", i, frame)
			sent, err := sw.Outputs()
			require.NoError(t, err)
			slices.SortStableFunc(trace.Outputs, func(a, b datapath.Output) int { return int(a.Port) - int(b.Port) })
			require.Len(t, trace.Outputs, len(sent), "frame %d from %v: %x\n%v", i, in.InPort, frame, trace)
			for j, o := range trace.Outputs {
				require.Equal(t, numbers[sent[j].Port], o.Port)
				if o.Frame == nil {
					unknown++
					continue
				}
				known++
				require.Equal(t, sent[j].Frame, o.Frame, "frame %d from %v: %x\n%v", i, in.InPort, frame, trace)
			}
		}
	}
	require.Greater(t, known, 500)
	require.Less(t, unknown, known/4)
}
