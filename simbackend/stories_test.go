package simbackend_test

import (
	"net/netip"
	"testing"
	"time"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/testbed/dummy"
)

var (
	ether  = packet.Ether{Src: packet.MAC{2, 0, 0, 0, 0, 1}, Dst: packet.MAC{2, 0, 0, 0, 0, 2}}
	client = netip.MustParseAddr("10.0.0.1")
	vip    = netip.MustParseAddr("10.0.0.100")
)

func tcp(src, dst netip.Addr, sport, dport uint16, flags packet.Flags, seq, ack uint32) []byte {
	return packet.TCP{
		Eth: ether, IP: packet.IP{Src: src, Dst: dst, Dont: true}, SrcPort: sport, DstPort: dport,
		Flags: flags, Seq: seq, Ack: ack, Window: 64240,
	}.Bytes()
}

func udp(src, dst netip.Addr, sport, dport uint16) []byte {
	return packet.UDP{Eth: ether, IP: packet.IP{Src: src, Dst: dst}, SrcPort: sport, DstPort: dport, Payload: []byte("hello")}.Bytes()
}

func ttl(n uint8) []byte {
	return packet.UDP{Eth: ether, IP: packet.IP{Src: client, Dst: vip, TTL: n}, SrcPort: 7, DstPort: 9}.Bytes()
}

func tagged(frame []byte, vid uint16) []byte {
	return append(append(append([]byte{}, frame[:12]...), 0x81, 0, byte(vid>>8), byte(vid)), frame[12:]...)
}

var (
	arpRequest = packet.ARPRequest(ether.Src, client, vip).Bytes()
	ping       = packet.ICMP{Eth: ether, IP: packet.IP{Src: client, Dst: vip}, Type: packet.EchoRequest, ID: 77, Seq: 1, Payload: []byte("abcdefgh")}.Bytes()
	web        = tcp(client, vip, 40000, 80, packet.SYN, 1, 0)
	dns        = udp(client, vip, 5000, 53)
)

// mix is frames of many kinds. The real switch remembers fragments of earlier tests, so each
// mix has a datagram number of its own.
func mix(id uint16) [][]byte {
	fragment := func(offset int) []byte {
		ip := packet.IP{Src: client, Dst: vip, ID: id, Offset: offset, More: offset == 0}
		return packet.Datagram{Eth: ether, IP: ip, Proto: packet.ProtoUDP, Payload: append([]byte{0x13, 0x88, 0, 53}, make([]byte, 60)...)}.Bytes()
	}
	return [][]byte{arpRequest, ping, web, dns, fragment(1480), fragment(0), ttl(1), ttl(2), tagged(web, 5), tagged(dns, 0x3005)}
}

// TestProgramsAsRealSwitch runs small programs, each about one habit of the switch, on both.
func TestProgramsAsRealSwitch(t *testing.T) {
	ovs := dummy.ForTest(t, dummy.Config{Ports: dummy.NumberedPorts(pairPorts)})
	for i, c := range programs {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, ovs)
			p.load(c.text)
			for round := range 2 {
				p.receive(1, mix(uint16(2*i+round))...)
				p.receive(2, web, dns)
				p.agree()
				p.advance(time.Second)
			}
		})
	}
}

// programs are about one habit of the switch each.
var programs = []struct{ name, text string }{
	{"empty switch", ""},
	{"output twice, modified in between", "actions=output:2,mod_dl_src:02:00:00:00:00:77,output:3,output:3"},
	{"output to the ingress port is suppressed", "actions=output:1,output:2"},
	{"in_port sends back", "actions=IN_PORT"},
	{"set in_port first, then the ingress port works", "actions=load:0->NXM_OF_IN_PORT[],output:1"},
	{"all and flood skip the ingress port", "actions=ALL,FLOOD"},
	{"local", "actions=LOCAL"},
	{"port that does not exist", "actions=output:77,output:2"},
	{"output to a register", "actions=load:3->NXM_NX_REG0[],output:NXM_NX_REG0[],load:0xfff8->NXM_NX_REG0[],output:NXM_NX_REG0[0..15],load:0x10003->NXM_NX_REG0[],output:NXM_NX_REG0[]"},
	{"output to a register that names flood, local, none", "actions=load:0xfffb->NXM_NX_REG0[],output:NXM_NX_REG0[],load:0xfffe->NXM_NX_REG0[],output:NXM_NX_REG0[],load:0xffff->NXM_NX_REG0[],output:NXM_NX_REG0[],output:2"},
	{"resubmit changes the port for the lookup only", "in_port=1,actions=resubmit(3,1)\ntable=1,in_port=3,actions=output:1,output:3\ntable=1,priority=1,actions=output:4"},
	{"what a resubmit changes stays", "actions=resubmit(,1),output:2\ntable=1,actions=load:5->NXM_NX_REG0[],mod_dl_src:02:00:00:00:00:99"},
	{"a miss in a resubmitted table is no end", "actions=resubmit(,1),output:2"},
	{"a miss in a goto is one, but the action set runs", "actions=write_actions(output:3),goto_table:5"},
	{"exit ends the callers too", "actions=resubmit(,1),output:2\ntable=1,actions=output:3,exit,output:4"},
	{"exit drops the action set", "actions=write_actions(output:3),goto_table:1\ntable=1,actions=resubmit(,2),output:2\ntable=2,actions=exit"},
	{"recursion too deep cancels outputs", "actions=output:2,resubmit(,0)"},
	{"depth 64 is allowed", "actions=load:0->NXM_NX_REG0[],resubmit(,1),output:2\ntable=1,reg1=0,actions=load:1->NXM_NX_REG1[],resubmit(,1),output:3"},
	{"dec_ttl ends its table only", "actions=resubmit(,1),output:2\ntable=1,ip,actions=dec_ttl,output:3\ntable=1,priority=1,actions=output:4"},
	{"ttl is set and decremented", "ip,actions=mod_nw_ttl:9,dec_ttl,dec_ttl,output:2"},
	{"fields that are not there are left alone", "priority=9,tcp,actions=mod_tp_dst:99,mod_nw_src:8.8.8.8,output:2\npriority=9,udp,actions=mod_tp_src:99,mod_nw_tos:8,output:2\npriority=1,ip,actions=mod_nw_ecn:2,output:2"},
	{"back to the old value is no change", "actions=move:NXM_OF_ETH_SRC[]->NXM_NX_XXREG1[0..47],load:0->NXM_OF_ETH_SRC[],load:0->NXM_OF_ETH_DST[],move:NXM_NX_XXREG1[0..47]->NXM_OF_ETH_SRC[],output:2"},
	{"push and pop", "ip,actions=push:NXM_OF_IP_SRC[],push:NXM_OF_IP_DST[],pop:NXM_OF_IP_SRC[],pop:NXM_OF_IP_DST[],output:2"},
	{"pop from an empty stack goes on", "actions=pop:NXM_NX_REG0[],output:2"},
	{"vlan of a tagged frame", "vlan_tci=0x1000/0x1000,actions=mod_vlan_vid:7,output:2,mod_vlan_pcp:3,output:3,strip_vlan,output:4"},
	{"vlan of an untagged frame", "vlan_tci=0,actions=push_vlan:0x8100,set_field:4103->vlan_vid,output:2,mod_vlan_pcp:3,output:3,strip_vlan,output:4"},
	{"push and pop vlan", "actions=push_vlan:0x8100,set_field:4101->vlan_vid,output:2,push_vlan:0x88a8,output:3,pop_vlan,output:4"},
	{"fragments have no ports in lookups", "priority=9,udp,tp_dst=53,actions=output:2\npriority=8,udp,tp_dst=0,actions=output:3\npriority=7,ip,nw_frag=later,actions=output:4"},
	{"but their ports can be moved", "udp,actions=move:NXM_OF_UDP_DST[]->NXM_NX_REG0[0..15],resubmit(,1)\ntable=1,reg0=53,actions=output:2\ntable=1,priority=1,actions=output:3"},
	{"arp responder", "arp,arp_op=1,arp_tpa=10.0.0.100,actions=move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],mod_dl_src:02:00:00:00:00:aa,load:2->NXM_OF_ARP_OP[],move:NXM_NX_ARP_SHA[]->NXM_NX_ARP_THA[],move:NXM_OF_ARP_SPA[]->NXM_OF_ARP_TPA[],load:0x0200000000aa->NXM_NX_ARP_SHA[],set_field:10.0.0.100->arp_spa,IN_PORT"},
	{"echo responder", "icmp,icmp_type=8,icmp_code=0,actions=push:NXM_OF_IP_SRC[],push:NXM_OF_IP_DST[],pop:NXM_OF_IP_SRC[],pop:NXM_OF_IP_DST[],load:0->NXM_OF_ICMP_TYPE[],load:64->NXM_NX_IP_TTL[],IN_PORT"},
	{"learn is seen by the next frame", "actions=learn(table=1,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],load:NXM_OF_IN_PORT[]->NXM_NX_REG3[0..15],output:NXM_OF_IN_PORT[]),resubmit(,1)\ntable=1,priority=1,actions=output:4"},
	{"learn with limit and result", "ip,actions=learn(table=1,limit=2,result_dst=NXM_NX_REG0[0],eth_type=0x800,NXM_NX_IP_TTL[]),resubmit(,2)\ntable=2,reg0=1,actions=output:2\ntable=2,reg0=0,actions=output:3"},
	{"the action set in its order", "ip,actions=write_actions(output:2,dec_ttl,set_field:9.9.9.9->ip_dst),goto_table:1\ntable=1,ip,actions=output:4,write_actions(output:3)"},
	{"clear_actions", "ip,actions=write_actions(output:2),goto_table:1\ntable=1,actions=clear_actions,write_actions(output:3)"},
	{"metadata", "actions=write_metadata:0x5/0xf,goto_table:1\ntable=1,metadata=0x5/0xf,actions=output:2"},
	{"clone is undone", "ip,actions=clone(mod_nw_src:9.9.9.9,output:2),output:3"},
	{"hashes", "actions=multipath(symmetric_l4,7,modulo_n,3,0,NXM_NX_REG0[]),resubmit(,1)\ntable=1,reg0=0,actions=output:2\ntable=1,reg0=1,actions=output:3\ntable=1,reg0=2,actions=output:4"},
	{"track and see the state", "table=0,ip,ct_state=-trk,actions=ct(table=1,zone=5)\ntable=1,ip,ct_state=+new+trk,actions=ct(commit,zone=5),output:2\ntable=1,priority=2,ct_state=+inv,actions=output:3\ntable=1,priority=1,actions=output:4"},
	{"nat at commit", "table=0,tcp,actions=ct(commit,table=1,zone=1,nat(dst=10.1.0.9:8080))\ntable=1,tcp,nw_dst=10.1.0.9,tp_dst=8080,actions=output:2"},
	{"nat is not seen before recirculation", "table=0,tcp,actions=ct(commit,zone=1,nat(dst=10.1.0.9:8080)),resubmit(,1)\ntable=1,tcp,nw_dst=10.1.0.9,actions=output:2\ntable=1,priority=1,actions=output:3"},
	{"behind ct with table the frame goes on, translated", "table=0,tcp,actions=ct(commit,table=1,zone=1,nat(dst=10.1.0.9:8080)),output:3\ntable=1,actions=output:2"},
	{"what survives recirculation", "ip,actions=load:7->NXM_NX_REG4[],write_metadata:0x9,goto_table:1\ntable=1,ip,actions=push:NXM_NX_REG4[],ct(table=2)\ntable=2,ip,reg4=7,metadata=9,actions=pop:NXM_NX_REG5[],resubmit(,3)\ntable=3,ip,reg5=7,in_port=1,actions=output:2"},
	{"mark and label", "table=0,ip,ct_state=-trk,actions=load:9->NXM_NX_REG0[],ct(commit,zone=1,exec(move:NXM_OF_ETH_SRC[]->NXM_NX_CT_LABEL[0..47],move:NXM_NX_REG0[]->NXM_NX_CT_MARK[]),table=1)\ntable=1,ip,ct_mark=9,actions=move:NXM_NX_CT_LABEL[0..47]->NXM_OF_ETH_DST[],output:2"},
	{"ct_clear", "table=0,ip,actions=ct(table=1)\ntable=1,ip,actions=ct_clear,resubmit(,2)\ntable=2,ct_state=+trk,actions=output:2\ntable=2,priority=1,actions=output:3"},
	{"endless recirculation ends", "ip,actions=output:2,ct(table=0)"},
	{"zone from a register", "ip,actions=load:0x77->NXM_NX_REG0[],ct(commit,zone=NXM_NX_REG0[0..15],table=1)\ntable=1,ct_zone=0x77,actions=output:2"},
	{"note and empty list", "arp,actions=note:00.01.02,output:2\nip,actions=drop"},
}

func TestTimeoutsAsRealSwitch(t *testing.T) {
	ovs := dummy.ForTest(t, dummy.Config{Ports: dummy.NumberedPorts(pairPorts)})
	p := newPair(t, ovs)
	p.load(`table=0,priority=5,arp,idle_timeout=3,actions=output:2
table=0,priority=5,udp,hard_timeout=4,actions=output:3
table=0,priority=1,actions=learn(table=1,idle_timeout=5,hard_timeout=9,NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[])`)
	for range 12 {
		p.receive(1, arpRequest, dns, web)
		p.receive(openflow.PortNo(2), ping)
		p.advance(time.Second)
		p.agree()
	}
	for range 12 {
		p.advance(time.Second)
		p.agree()
	}
}
