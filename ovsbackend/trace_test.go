package ovsbackend_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/ovsbackend"
)

// The flow by which a frame is traced is the one that the switch takes it for, whatever the frame.
func TestFlowOfAFrameIsUnderstoodAgain(t *testing.T) {
	sw := startSwitch(t)
	b := open(t, config(sw))
	for i, frame := range oddFrames(1, 4000) {
		printed, exact, err := b.Extract(t.Context(), datapath.Injection{InPort: 2, Frame: frame})
		require.NoError(t, err, "frame %d: %x", i, frame)
		text, err := sw.Trace(t.Context(), exact, "")
		require.NoError(t, err, "frame %d: %x\n%s", i, frame, printed)
		first, _, _ := strings.Cut(text, "\n")
		require.Equal(t, matchable(printed), matchable(strings.TrimPrefix(first, "Flow: ")), "frame %d: %x\n%s", i, frame, exact)
	}
}

var (
	portless  = regexp.MustCompile(`(nw_proto=[0-9]+,.*?),tp_src.*`) // IGMP prints its type and code so
	solicited = regexp.MustCompile(`(icmp_type=135,.*?),nd_tll=[^,]*`)
	answered  = regexp.MustCompile(`(icmp_type=136,.*?),nd_sll=[^,]*`)
)

// matchable is a flow without the fields that are printed but that no flow can match.
func matchable(flow string) string {
	for _, p := range []*regexp.Regexp{portless, solicited, answered} {
		flow = p.ReplaceAllString(flow, "$1")
	}
	return flow
}

// nested has lookups within lookups, tail calls, misses, failures and an action set.
const nested = `
table=0,priority=9,in_port=1,udp,tp_dst=1 actions=resubmit(,1),resubmit(,12),output:2
table=0,priority=9,in_port=1,udp,tp_dst=2 actions=resubmit(,13)
table=0,priority=9,in_port=1,udp,tp_dst=3 actions=set_field:5->reg1,write_actions(output:3),goto_table:2
table=0,priority=9,in_port=1,udp,tp_dst=4 actions=dec_ttl,output:1,output:2,multipath(symmetric_l4,0,modulo_n,8,0,NXM_NX_REG1[]),output:NXM_NX_REG1[0..15]
table=0,priority=9,in_port=1,udp,tp_dst=5 actions=NORMAL
table=0,priority=9,in_port=1,udp,tp_dst=6 actions=ct(commit,zone=3,exec(set_field:7->ct_mark)),output:3
table=0,priority=9,in_port=1,udp,tp_dst=7 actions=clone(set_field:1.2.3.4->ip_dst,output:2),pop:NXM_NX_REG2[],output:77,output:3
table=0,priority=9,in_port=1,udp,tp_dst=8 actions=resubmit(,99),output:2
table=0,priority=9,in_port=1,udp,tp_dst=9 actions=ct(table=3,zone=4),ct(table=2,zone=5),output:2
table=0,priority=9,in_port=1,udp,tp_dst=10 actions=check_pkt_larger(30)->NXM_NX_REG0[0],resubmit(,14),push_vlan:0x8100,set_field:4101->vlan_vid,output:2
table=0,priority=9,in_port=1,udp,tp_dst=11 actions=CONTROLLER:65535,learn(table=1,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[]),output:2
table=0,priority=9,in_port=1,udp,tp_dst=12 actions=clone(ct(table=3,zone=6)),output:3
table=1,priority=3,cookie=0x77,ip actions=resubmit(,14),resubmit(,2)
table=2,priority=3,reg1=5 actions=output:2
table=3,priority=3,ip actions=ct(table=14,zone=9),output:2
table=12,priority=3 actions=set_field:3->reg3,resubmit(,1),output:3
table=13,priority=3 actions=resubmit(,13)
table=14,priority=3 actions=move:NXM_OF_ETH_SRC[0..31]->NXM_NX_REG4[],output:3`

// What was read of a trace and printed again is what ofproto/trace prints, but for a few lines.
func TestTraceIsPrintedAsItWasRead(t *testing.T) {
	sw := startSwitch(t)
	b := open(t, config(sw))
	require.NoError(t, b.Commit(t.Context(), program(t, nested).Bundle()))
	for port := range 14 {
		text, err := sw.Trace(t.Context(), fmt.Sprintf("in_port=1,udp,nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_ttl=1,udp_src=7,udp_dst=%d", port), "")
		require.NoError(t, err)
		passes, err := ovsbackend.ParseTrace(text)
		require.NoError(t, err, text)
		require.Equal(t, comparable(text), comparable(datapath.Trace{Passes: passes}.String()), text)
	}
}

func TestTraceOfAGroupHasItsBuckets(t *testing.T) {
	sw := startSwitch(t)
	b := open(t, config(sw))
	require.NoError(t, sw.Bundle(t.Context(), "group add group_id=1,type=all,bucket=output:2,bucket=set_field:1.1.1.1->ip_src,output:3\nflow ip,actions=group:1,output:1"))
	trace, err := b.Trace(t.Context(), datapath.Injection{InPort: 1, Frame: udp(client, 1, vip, 2)})
	require.NoError(t, err)
	require.Equal(t, []datapath.Node{
		{Depth: 1, Kind: datapath.NodeAction, Text: "group:1"},
		{Depth: 1, Kind: datapath.NodeBucket, Text: "bucket 0"},
		{Depth: 2, Kind: datapath.NodeAction, Text: "output:2"},
		{Depth: 1, Kind: datapath.NodeBucket, Text: "bucket 1"},
		{Depth: 2, Kind: datapath.NodeAction, Text: "set_field:1.1.1.1->ip_src"},
		{Depth: 2, Kind: datapath.NodeAction, Text: "output:3"},
		{Depth: 1, Kind: datapath.NodeAction, Text: "output:1"},
		{Depth: 1, Kind: datapath.NodeWarn, Text: "skipping output to input port"},
	}, trace.Passes[0].Nodes.Under(0).List())
}

// comparable is a trace without what only one of the two prints: names, masks, recirculation ids, the
// actions within ct() once more, and what left.
func comparable(text string) (lines []string) {
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		word := strings.TrimSpace(line)
		if strings.HasPrefix(word, "-> A clone of") || strings.HasPrefix(word, "-> Sets the packet to") {
			inside = false
		}
		switch {
		case inside, word == "":
		case strings.HasPrefix(line, "bridge"), strings.HasPrefix(line, "------"), strings.HasPrefix(line, "Megaflow: "):
		case strings.HasPrefix(line, "recirc("), strings.HasPrefix(line, "Output: "):
		case strings.HasPrefix(line, "Replacing"), strings.HasPrefix(line, " Initial"), strings.HasPrefix(line, " Modified"):
		case strings.HasPrefix(line, "This flow is handled"), strings.HasPrefix(line, "  - "):
		default:
			lines = append(lines, line)
		}
		if strings.HasPrefix(word, "ct(") {
			inside = true
		}
	}
	return lines
}

// balancer sends what comes in on port 1 to the member, and what comes back from it to port 1.
const balancer = `
table=0,priority=2,ip,in_port=1,nw_dst=10.0.0.100 actions=set_field:7->reg3,ct(table=1,zone=4)
table=0,priority=2,ip,in_port=2 actions=ct(table=5,zone=4,nat)
table=1,priority=9,ct_state=+new,ip actions=ct(commit,table=3,zone=4,nat(dst=10.0.0.3),exec(set_field:0x2a->ct_label,set_field:9->ct_mark))
table=1,priority=8,ct_state=+est,ip actions=ct(table=3,zone=4,nat)
table=3,priority=2,ct_state=+trk,ct_mark=9,ct_label=0x2a,ip,reg3=7,nw_dst=10.0.0.3 actions=output:2
table=5,priority=2,ct_state=+est+rpl,ct_label=0x2a,ip,nw_src=10.0.0.100 actions=output:1`

// A trace goes the way that the frame then goes, in both directions of a connection.
func TestTraceKnowsConnections(t *testing.T) {
	for name, talk := range map[string]struct{ there, back, again []byte }{
		"udp":  {udp(client, 1000, vip, 53), udp(member, 53, client, 1000), udp(client, 1000, vip, 53)},
		"tcp":  {tcp(client, 1000, vip, 80, packet.SYN), tcp(member, 80, client, 1000, packet.SYN|packet.ACK), tcp(client, 1000, vip, 80, packet.ACK)},
		"icmp": {ping(client, vip, packet.EchoRequest, 7), ping(member, client, packet.EchoReply, 7), ping(client, vip, packet.EchoRequest, 7)},
	} {
		t.Run(name, func(t *testing.T) {
			sw := startSwitch(t)
			b := open(t, config(sw))
			require.NoError(t, b.Commit(t.Context(), program(t, balancer).Bundle()))
			steps := []struct {
				port   openflow.PortNo
				frame  []byte
				resume string
				out    string
				passes int
			}{
				{1, talk.there, "ct_state=new|trk|dnat,ct_zone=4", "2", 3},
				{2, talk.back, "ct_state=est|rpl|trk|snat,ct_zone=4", "1", 2},
				{1, talk.again, "ct_state=est|trk|dnat,ct_zone=4", "2", 3},
			}
			for _, s := range steps {
				trace, err := b.Trace(t.Context(), datapath.Injection{InPort: s.port, Frame: s.frame})
				require.NoError(t, err)
				require.Len(t, trace.Passes, s.passes, "%v", trace)
				last := trace.Passes[len(trace.Passes)-1]
				require.Equal(t, s.resume, last.Resume, "%v", trace)
				require.Equal(t, s.out, last.Datapath, "%v", trace)
				outputs, err := sw.Outputs()
				require.NoError(t, err)
				require.Empty(t, outputs)
				require.NoError(t, sw.Receive(t.Context(), names[s.port], s.frame))
				outputs, err = sw.Outputs()
				require.NoError(t, err)
				require.Len(t, outputs, 1, "%v", trace)
				require.Equal(t, "p"+s.out, outputs[0].Port)
			}
		})
	}
}

func TestTraceOfAnUnknownPortOrAFragmentOfAFrame(t *testing.T) {
	b := open(t, config(startSwitch(t)))
	_, err := b.Trace(t.Context(), datapath.Injection{InPort: 9, Frame: udp(client, 1, vip, 2)})
	require.ErrorContains(t, err, "no port 9")
	_, err = b.Trace(t.Context(), datapath.Injection{InPort: 1, Frame: []byte{1, 2, 3}})
	require.Error(t, err)
}

func TestDatapathPortsBecomeOpenFlowPorts(t *testing.T) {
	ports := map[int]int{1: 11, 2: 22, 100: int(openflow.PortLocal)}
	for from, to := range map[string]string{
		"drop": "drop", "1": "11", "1,2,3": "11,22,3", "100": "65534",
		"set(ipv4(dst=1.2.3.4,ttl=63)),2":                      "set(ipv4(dst=1.2.3.4,ttl=63)),22",
		"clone(push_vlan(vid=1,pcp=2),2),1":                    "clone(push_vlan(vid=1,pcp=2),22),11",
		"hash(sym_l4(1)),meter(1),trunc(1),2":                  "hash(sym_l4(1)),meter(1),trunc(1),22",
		"check_pkt_len(size=1,gt(1,clone(2)),le(drop)),2":      "check_pkt_len(size=1,gt(11,clone(22)),le(drop)),22",
		"sample(sample=1.0%,actions(1)),userspace(pid=1,x(1))": "sample(sample=1.0%,actions(11)),userspace(pid=1,x(1))",
		"unbalanced((1": "unbalanced((1",
	} {
		require.Equal(t, to, ovsbackend.PortableActions(from, ports), from)
	}
}
