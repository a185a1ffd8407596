package simbackend_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/simbackend"
)

// recurring are programs in which equal frames meet with different things: what is found of their connections changes, or what was
// learned goes, or a flow is changed.
var recurring = []struct{ name, text string }{
	{"mark and label change with each frame", `
		table=0,ip,actions=ct(table=1,zone=1)
		table=1,priority=9,ct_state=+new,ip,actions=ct(commit,zone=1,exec(load:1->NXM_NX_CT_MARK[])),output:2
		table=1,priority=8,ct_mark=1,ip,actions=ct(commit,zone=1,exec(load:2->NXM_NX_CT_MARK[])),output:3
		table=1,priority=8,ct_mark=2,ip,actions=ct(commit,zone=1,exec(load:3->NXM_NX_CT_MARK[],load:1->NXM_NX_CT_LABEL[])),output:4
		table=1,priority=8,ct_mark=3,ct_label=1,ip,actions=ct(commit,zone=1,exec(load:1->NXM_NX_CT_LABEL[64..71])),output:1
		table=1,priority=8,ct_mark=3,ct_label=0x10000000000000001,ip,actions=ct(commit,zone=1,exec(load:1->NXM_NX_CT_MARK[],load:0->NXM_NX_CT_LABEL[])),output:3`},
	{"members change under connections", `
		table=0,ip,actions=ct(table=1,zone=1,nat)
		table=1,priority=9,ct_state=+new,tcp,actions=ct(commit,table=2,zone=1,nat(dst=10.1.0.1:8080))
		table=1,priority=9,ct_state=+new,udp,actions=ct(commit,table=2,zone=1,nat(dst=10.1.0.1))
		table=1,priority=9,ct_state=+new,icmp,actions=ct(commit,table=2,zone=1,nat(src=10.1.0.3))
		table=1,priority=8,ip,actions=resubmit(,2)
		table=2,priority=9,ip,nw_dst=10.1.0.1,actions=dec_ttl,mod_dl_dst:02:00:00:00:01:01,output:2
		table=2,priority=9,ip,nw_dst=10.1.0.2,actions=dec_ttl,mod_dl_dst:02:00:00:00:01:02,output:3
		table=2,priority=10,tcp,tp_dst=8081,actions=output:4
		table=2,priority=1,ip,actions=mod_nw_tos:32,output:1`},
	{"addresses change between two ct", `
		table=0,tcp,actions=ct(commit,zone=1),mod_tp_dst:99,ct(commit,zone=1,table=1)
		table=0,udp,actions=ct(zone=1),mod_nw_dst:10.0.0.100,mod_tp_src:5000,ct(zone=1,table=1)
		table=0,icmp,actions=ct(commit,zone=1,nat(dst=10.1.0.1)),mod_nw_src:10.0.0.9,ct(zone=1,table=1)
		table=1,priority=9,ct_state=+est,actions=output:2
		table=1,priority=8,ct_state=+new,udp,actions=ct(commit,zone=1),output:3
		table=1,priority=7,ct_state=+new,actions=output:3
		table=1,priority=1,actions=output:4`},
	{"ct_clear forgets what was translated", `
		table=0,ip,actions=ct(commit,table=1,zone=1,nat(dst=10.1.0.1))
		table=1,ip,actions=ct_clear,ct(zone=1,table=2),output:4
		table=2,priority=9,ct_state=+inv,actions=output:1
		table=2,priority=8,ct_state=+new,actions=output:2
		table=2,priority=1,ip,actions=ct_clear,ct(commit,zone=1),output:3`},
	{"ct_clear at the end of what is remembered", `
		table=0,ip,actions=ct(commit,table=1,zone=1,nat(dst=10.1.0.1))
		table=1,ip,actions=ct_clear,ct(zone=1,table=2)
		table=2,priority=9,ct_state=+rpl,actions=output:1
		table=2,priority=8,ct_state=+new,actions=output:2
		table=2,priority=1,actions=output:3`},
	{"stack and registers survive", `
		table=0,ip,actions=load:7->NXM_NX_REG4[],push:NXM_NX_REG4[],push:NXM_OF_IP_SRC[],load:3->NXM_NX_REG5[],ct(table=1,zone=1)
		table=1,ip,ct_state=+new,actions=ct(commit,zone=1),pop:NXM_NX_REG6[],pop:NXM_NX_REG7[],goto_table:2
		table=1,priority=1,ip,actions=pop:NXM_OF_IP_DST[],pop:NXM_NX_REG7[],goto_table:2
		table=2,reg7=7,reg5=3,actions=output:2
		table=2,priority=1,actions=output:4`},
	{"what is learned times out and is refreshed", `
		table=0,udp,actions=learn(table=1,hard_timeout=5,priority=7,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],load:NXM_OF_IN_PORT[]->NXM_NX_REG3[0..15],output:NXM_OF_IN_PORT[]),resubmit(,1)
		table=0,tcp,actions=learn(table=1,idle_timeout=3,limit=2,result_dst=NXM_NX_REG0[0],priority=8,eth_type=0x800,nw_proto=6,NXM_OF_TCP_SRC[],output:NXM_OF_IN_PORT[]),resubmit(,2)
		table=1,priority=1,actions=output:4
		table=2,reg0=0,actions=output:3
		table=2,reg0=1,actions=resubmit(,1)`},
	{"the zone is a matter of the frame", `
		table=0,ip,actions=move:NXM_OF_IN_PORT[]->NXM_NX_REG0[0..15],ct(commit,zone=NXM_NX_REG0[0..15],table=1,exec(move:NXM_OF_ETH_SRC[]->NXM_NX_CT_LABEL[0..47]))
		table=1,ip,ct_zone=1,actions=move:NXM_NX_CT_LABEL[0..47]->NXM_OF_ETH_DST[],output:2
		table=1,tcp,ct_zone=2,actions=mod_nw_src:10.9.9.9,output:1,mod_tp_dst:7,output:3`},
	{"echo responder and dec_ttl", `
		table=0,priority=9,icmp,icmp_type=8,icmp_code=0,actions=push:NXM_OF_IP_SRC[],push:NXM_OF_IP_DST[],pop:NXM_OF_IP_SRC[],pop:NXM_OF_IP_DST[],load:0->NXM_OF_ICMP_TYPE[],load:64->NXM_NX_IP_TTL[],IN_PORT
		table=0,priority=8,udp,actions=dec_ttl,output:2,dec_ttl,output:3
		table=0,priority=1,actions=ALL`},
	{"fields are written in part, or a pair by half", `
		table=0,icmp,actions=load:13->NXM_OF_ICMP_TYPE[],output:2
		table=0,tcp,actions=load:5->NXM_OF_IP_DST[3..9],load:1->NXM_NX_IP_ECN[],output:3,load:7->NXM_OF_TCP_DST[0..3],output:4
		table=0,udp,actions=load:2->NXM_OF_ETH_SRC[8..15],clone(load:3->NXM_OF_IP_SRC[4..7],output:2),output:3`},
	{"the zone is a port of the frame, and ports depend on addresses", `
		table=0,tcp,actions=ct(commit,zone=NXM_OF_TCP_SRC[],table=1)
		table=0,udp,actions=output:NXM_OF_UDP_SRC[0..1]
		table=1,ct_zone=40000,actions=output:2
		table=1,priority=5,ip,ct_state=+trk-inv,actions=output:NXM_OF_IP_SRC[0..1],output:NXM_NX_CT_NW_SRC[0..2]`},
	{"two choices in a pass, one after another", `
		table=0,priority=9,ip,in_port=1,actions=load:0->NXM_OF_ETH_SRC[],multipath(symmetric_l4,3,modulo_n,3,0,NXM_NX_REG1[0..7]),multipath(nw_src,0,modulo_n,2,0,NXM_NX_REG2[0..7]),resubmit(,1)
		table=0,priority=8,ip,actions=mod_vlan_vid:5,multipath(symmetric_l4,3,modulo_n,3,0,NXM_NX_REG1[0..7]),strip_vlan,multipath(eth_src,1,hrw,4,0,NXM_NX_REG2[0..7]),resubmit(,1)
		table=1,priority=9,reg1=0,reg2=0,actions=output:2
		table=1,priority=8,reg1=1,actions=output:3
		table=1,priority=7,reg2=1,actions=output:4,output:2
		table=1,priority=1,actions=IN_PORT`},
	{"flows of one priority overlap", `
		table=0,priority=5,tcp,actions=output:2
		table=0,priority=5,tp_dst=80,tcp,actions=output:3
		table=0,priority=5,in_port=1,actions=output:4
		table=0,priority=4,ip,actions=clone(mod_nw_src:9.9.9.9,output:2),output:3`},
}

// recurringFrames are of a few connections, both ways.
func recurringFrames() (all []datapath.Injection) {
	add := func(port openflow.PortNo, frame []byte) {
		all = append(all, datapath.Injection{InPort: port, Frame: frame})
	}
	member := netip.MustParseAddr("10.1.0.1")
	for _, sport := range []uint16{40000, 40001} {
		add(1, tcp(client, vip, sport, 80, packet.SYN, 1, 0))
		add(1, tcp(client, vip, sport, 80, packet.ACK, 2, 2))
		add(1, tcp(client, vip, sport, 80, packet.FIN|packet.ACK, 2, 2))
		add(2, tcp(member, client, 8080, sport, packet.SYN|packet.ACK, 1, 2))
		add(2, tcp(vip, client, 80, sport, packet.SYN|packet.ACK, 1, 2))
		add(2, tcp(vip, client, 80, sport, packet.FIN|packet.ACK, 2, 3))
		add(1, udp(client, vip, sport, 53))
		add(2, udp(vip, client, 53, sport))
		add(2, udp(member, client, 53, sport))
	}
	for id := range uint16(2) {
		ip := packet.IP{Src: client, Dst: vip, TTL: 2}
		add(1, packet.ICMP{Eth: ether, IP: ip, Type: packet.EchoRequest, ID: id, Payload: []byte("abcdefg")}.Bytes())
		ip.Src, ip.Dst = member, client
		add(2, packet.ICMP{Eth: ether, IP: ip, Type: packet.EchoReply, ID: id}.Bytes())
	}
	for _, i := range []int{0, 6} { // from another host behind the same port
		other := slices.Clone(all[i].Frame)
		other[11] ^= 0x80
		add(1, other)
	}
	bad := tcp(client, vip, 40000, 80, packet.ACK, 2, 2)
	bad[len(bad)-1] ^= 1
	add(1, bad)
	none := udp(client, vip, 40000, 53)
	none[40], none[41] = 0, 0
	add(1, none)
	add(1, arpRequest)
	for _, f := range mix(77)[4:] {
		add(1, f)
	}
	return all
}

// TestCacheChangesNothingOfWhatRecurs sends a few frames again and again through programs that treat them differently each time.
func TestCacheChangesNothingOfWhatRecurs(t *testing.T) {
	var ports []simbackend.Port
	for i, name := range []string{"p1", "p2", "p3", "p4"} {
		ports = append(ports, simbackend.Port{Number: openflow.PortNo(i + 1), Name: name})
	}
	for _, c := range recurring {
		t.Run(c.name, func(t *testing.T) {
			spared := uint64(0)
			for seed := range uint64(8) {
				w := newTwins(t, ports, seed)
				program, err := openflow.ParseProgram("program", strings.NewReader(c.text))
				require.NoError(t, err)
				w.commit(program.Bundle())
				frames := recurringFrames()
				for range 400 {
					w.receive(frames[w.IntN(1+w.IntN(len(frames)))])
					switch w.IntN(60) {
					case 0:
						w.disturb()
					case 1: // as it was
						w.commit(program.Bundle())
					case 2:
						w.changeMember(program)
					case 3, 4, 5, 6:
						w.advance(time.Duration(w.IntN(2500)) * time.Millisecond)
					case 7: // a fragment waits in vain, and goes on with another frame
						w.one(datapath.Injection{InPort: 1, Frame: mix(uint16(w.IntN(50)))[4+w.IntN(2)]})
						w.advance(time.Duration(w.IntN(20)) * time.Second)
					}
				}
				w.agree()
				spared += w.cached.Remembered()
			}
			require.Greater(t, spared, uint64(2_000))
		})
	}
}

// changeMember gives new connections another member, and forgets those that there are.
func (w *twins) changeMember(p openflow.Program) {
	members := [][2]string{{"10.1.0.1:8080", "10.1.0.2:8080"}, {"10.1.0.1:8080", "10.1.0.1:8081"}, {"10.1.0.1)", "10.1.0.2)"}}
	m := members[w.IntN(len(members))]
	changed, err := openflow.ParseProgram("changed", strings.NewReader(strings.ReplaceAll(p.String(), m[0], m[1])))
	require.NoError(w, err)
	w.commit(changed.Bundle())
	if w.IntN(4) > 0 {
		w.flush(datapath.ConnFilter{})
	}
}
