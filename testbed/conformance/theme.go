package conformance

import (
	"strings"

	"hpnn/datapath/openflow"
)

// theme is the flows of one small application, which takes part of the tables.
func (m *maker) theme() []openflow.Flow {
	var fit []string
	for _, t := range themes {
		ok := (m.traits.tracking || !strings.Contains(t, "ct(")) && (m.traits.nat || !strings.Contains(t, "nat(")) &&
			(m.traits.learning || !strings.Contains(t, "learn("))
		if ok {
			fit = append(fit, t)
		}
	}
	m.tables = max(m.tables, 4)
	m.gen.Tables = openflow.TableID(m.tables)
	p, err := openflow.ParseProgram("theme", strings.NewReader(pick(m, fit...)))
	if err != nil {
		panic("conformance: " + err.Error())
	}
	var flows []openflow.Flow
	for f := range p.All() {
		if m.chance(95) { // a gap now and then
			flows = append(flows, f)
		}
	}
	return flows
}

// themes are programs for the hosts of a case. Priorities from 20 on keep them apart from the random flows.
var themes = []string{
	// balancer: the client's view is the VIP, the member's the client
	`table=0,priority=30,tcp,nw_dst=10.0.0.100,tp_dst=80,actions=multipath(symmetric_l4,7,modulo_n,2,0,NXM_NX_REG1[]),resubmit(,1)
table=0,priority=29,tcp,nw_src=10.1.0.9,actions=ct(zone=1,nat,table=2)
table=0,priority=28,tcp,nw_src=10.0.0.2,actions=ct(zone=1,nat,table=2)
table=1,priority=30,tcp,reg1=0,actions=ct(commit,zone=1,nat(dst=10.1.0.9:8080),table=3)
table=1,priority=29,tcp,reg1=1,actions=ct(commit,zone=1,nat(dst=10.0.0.2:8080),table=3)
table=2,priority=30,tcp,ct_state=+est+rpl+trk,actions=dec_ttl,mod_dl_src:02:00:00:00:00:aa,output:1
table=2,priority=29,ct_state=+inv+trk,actions=drop
table=2,priority=28,ip,actions=output:4
table=3,priority=30,tcp,nw_dst=10.1.0.9,actions=dec_ttl,mod_dl_dst:02:00:00:00:00:03,output:2
table=3,priority=29,tcp,actions=output:3`,
	// firewall: what comes from port 1 may open connections
	`table=0,priority=30,ip,ct_state=-trk,actions=ct(table=1,zone=2)
table=1,priority=30,ip,in_port=1,ct_state=+new+trk,actions=ct(commit,zone=2,exec(load:0x5->NXM_NX_CT_MARK[])),output:2
table=1,priority=29,ip,ct_state=+est+trk,ct_mark=0x5,in_port=1,actions=output:2
table=1,priority=28,ip,ct_state=+est+rpl+trk,ct_mark=0x5,in_port=2,actions=output:1
table=1,priority=27,ip,ct_state=+rel+trk,actions=FLOOD
table=1,priority=26,ip,ct_state=+inv+trk,actions=output:4`,
	// source translation towards port 2
	`table=0,priority=30,ip,in_port=1,actions=ct(commit,zone=1,nat(src=10.0.0.200),table=1)
table=0,priority=29,ip,in_port=2,actions=ct(zone=1,nat,table=1)
table=1,priority=30,ip,ct_state=+trk-rpl,in_port=1,actions=dec_ttl,output:2
table=1,priority=29,ip,ct_state=+trk+rpl,in_port=2,actions=dec_ttl,output:1
table=1,priority=28,ip,actions=output:3`,
	// learning switch
	`table=0,priority=30,actions=learn(table=1,priority=100,idle_timeout=5,hard_timeout=9,NXM_OF_VLAN_TCI[0..11],NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[]),resubmit(,1)
table=1,priority=20,actions=FLOOD`,
	// adjacency learned from what is routed
	`table=0,priority=30,ip,in_port=1,actions=learn(table=3,priority=100,idle_timeout=3,limit=3,eth_type=0x800,NXM_OF_IP_DST[]=NXM_OF_IP_SRC[],load:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],load:NXM_OF_IN_PORT[]->NXM_NX_REG0[0..15]),resubmit(,2)
table=0,priority=29,ip,actions=resubmit(,2)
table=2,priority=30,ip,nw_dst=10.0.0.0/24,actions=dec_ttl,mod_dl_src:02:00:00:00:00:aa,resubmit(,3),output:NXM_NX_REG0[0..15]
table=2,priority=24,ip,actions=dec_ttl,output:2`,
	// responders
	`table=0,priority=30,arp,arp_op=1,actions=move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],mod_dl_src:02:00:00:00:00:aa,load:0x2->NXM_OF_ARP_OP[],move:NXM_NX_ARP_SHA[]->NXM_NX_ARP_THA[],load:0x0200000000aa->NXM_NX_ARP_SHA[],push:NXM_OF_ARP_TPA[],move:NXM_OF_ARP_SPA[]->NXM_OF_ARP_TPA[],pop:NXM_OF_ARP_SPA[],IN_PORT
table=0,priority=29,icmp,icmp_type=8,icmp_code=0,actions=push:NXM_OF_ETH_SRC[],push:NXM_OF_ETH_DST[],pop:NXM_OF_ETH_SRC[],pop:NXM_OF_ETH_DST[],push:NXM_OF_IP_SRC[],push:NXM_OF_IP_DST[],pop:NXM_OF_IP_SRC[],pop:NXM_OF_IP_DST[],load:0xff->NXM_NX_IP_TTL[],load:0->NXM_OF_ICMP_TYPE[],IN_PORT`,
	// a hash that does not see the MAC addresses
	`table=0,priority=30,tcp,actions=move:NXM_OF_ETH_SRC[]->NXM_NX_XXREG1[0..47],move:NXM_OF_ETH_DST[]->NXM_NX_XXREG1[48..95],load:0->NXM_OF_ETH_SRC[],load:0->NXM_OF_ETH_DST[],multipath(symmetric_l4,3,modulo_n,3,0,NXM_NX_REG1[]),move:NXM_NX_XXREG1[0..47]->NXM_OF_ETH_SRC[],move:NXM_NX_XXREG1[48..95]->NXM_OF_ETH_DST[],resubmit(,1)
table=1,priority=30,reg1=0,actions=output:2
table=1,priority=29,reg1=1,actions=output:3
table=1,priority=28,reg1=2,actions=output:4`,
	// stateless translation
	`table=0,priority=30,tcp,nw_dst=10.0.0.100,tp_dst=80,actions=mod_nw_dst:10.1.0.9,mod_tp_dst:8080,dec_ttl,output:2
table=0,priority=29,tcp,nw_src=10.1.0.9,tp_src=8080,actions=mod_nw_src:10.0.0.100,mod_tp_src:80,dec_ttl,output:1`,
}
