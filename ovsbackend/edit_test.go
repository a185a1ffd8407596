package ovsbackend

import (
	"encoding/hex"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
)

// talk is what can be changed about a frame.
type talk struct {
	proto        uint8
	eth          packet.Ether
	src, dst     netip.Addr
	sport, dport uint16
	tos, ttl     uint8
	kind         uint8 // of an ICMP message
	payload      []byte
}

// frame builds the frame from scratch, with the checksums that it ought to have.
func (k talk) frame() []byte {
	ip := packet.IP{Src: k.src, Dst: k.dst, TOS: k.tos, TTL: k.ttl}
	switch k.proto {
	case packet.ProtoTCP:
		return packet.TCP{Eth: k.eth, IP: ip, SrcPort: k.sport, DstPort: k.dport, Seq: 7, Flags: packet.ACK, Window: 9, Payload: k.payload}.Bytes()
	case packet.ProtoUDP:
		return packet.UDP{Eth: k.eth, IP: ip, SrcPort: k.sport, DstPort: k.dport, Payload: k.payload}.Bytes()
	}
	return packet.ICMP{Eth: k.eth, IP: ip, Type: k.kind, ID: k.sport, Seq: k.dport, Payload: k.payload}.Bytes()
}

func randomTalk(r *rand.Rand, proto uint8) talk {
	address := func() netip.Addr {
		return netip.AddrFrom4([4]byte{10, byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())})
	}
	k := talk{proto: proto, src: address(), dst: address(), sport: uint16(1 + r.IntN(65535)), dport: uint16(1 + r.IntN(65535)),
		tos: uint8(r.Uint32()), ttl: uint8(1 + r.IntN(255)), kind: []uint8{packet.EchoRequest, packet.EchoReply}[r.IntN(2)],
		payload: make([]byte, r.IntN(40)),
		eth:     packet.Ether{Src: packet.MAC{2, 0, 0, 0, 0, byte(r.Uint32())}, Dst: packet.MAC{2, 0, 0, 0, 1, byte(r.Uint32())}}}
	for range r.IntN(3) {
		k.eth.Tags = append(k.eth.Tags, packet.Tag{ID: uint16(r.IntN(4095)), Priority: uint8(r.IntN(8))})
	}
	return k
}

// A frame that is changed in place is the frame that is built with the changes.
func TestEditedFramesAreAsBuilt(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for range 5000 {
		from := randomTalk(r, []uint8{packet.ProtoTCP, packet.ProtoUDP, packet.ProtoICMP}[r.IntN(3)])
		to := randomTalk(r, from.proto)
		to.eth.Tags, to.payload = from.eth.Tags, from.payload
		if from.proto == packet.ProtoICMP {
			to.sport, to.dport = from.sport, from.dport // its id is not changed by any action
		} else {
			to.kind = from.kind
		}
		e := edit(from.frame())
		e.setAddress(ipv4Src, to.src)
		e.setAddress(ipv4Dst, to.dst)
		e.setHeaderByte(1, to.tos, 0xff)
		e.setHeaderByte(8, to.ttl, 0xff)
		e.setBytes(0, to.eth.Dst[:])
		e.setBytes(6, to.eth.Src[:])
		if from.proto == packet.ProtoICMP {
			e.setICMP(to.kind, 0)
		} else {
			e.setPort(0, to.sport)
			e.setPort(2, to.dport)
		}
		require.Empty(t, packet.Diff(to.frame(), e.bytes))
	}
}

// Whatever is done to whatever bytes, nothing breaks.
func FuzzEdit(f *testing.F) {
	f.Add(talk{proto: packet.ProtoUDP, src: netip.MustParseAddr("1.1.1.1"), dst: netip.MustParseAddr("2.2.2.2")}.frame(), "set(udp(src=1)),1")
	f.Add(make([]byte, 14), "push_vlan(vid=1,pcp=0),set(arp(sip=1.2.3.4,op=2)),pop_vlan,clone(ct(nat),recirc(0x1)),1")
	f.Fuzz(func(t *testing.T, frame []byte, actions string) {
		x := emission{layout: layout{ports: map[int]openflow.PortNo{1: 1}}, frame: edit(frame), forks: map[string]edited{}}
		x.run(actions)
	})
}

func TestActionsAreExecutedOnFrames(t *testing.T) {
	k := talk{proto: packet.ProtoUDP, src: netip.MustParseAddr("10.0.0.1"), dst: netip.MustParseAddr("10.0.0.2"), sport: 1, dport: 2, ttl: 9, tos: 0x28,
		eth: packet.Ether{Src: packet.MAC{2, 1}, Dst: packet.MAC{2, 2}}}
	with := func(change func(*talk)) []byte {
		c := k
		change(&c)
		return c.frame()
	}
	plain, away := k.frame(), with(func(k *talk) { k.dst = netip.MustParseAddr("10.0.0.9") })
	tag := func(id uint16, priority uint8) []byte {
		return with(func(k *talk) { k.eth.Tags = []packet.Tag{{ID: id, Priority: priority}} })
	}
	out := func(port openflow.PortNo, frame []byte) datapath.Output {
		return datapath.Output{Port: port, Frame: frame}
	}
	for actions, want := range map[string][]datapath.Output{
		"drop":                                    nil,
		"1,2,1":                                   {out(11, plain), out(22, plain), out(11, plain)},
		"99":                                      nil,
		"set(ipv4(dst=10.0.0.9)),1":               {out(11, away)},
		"clone(set(ipv4(dst=10.0.0.9)),2),1":      {out(22, away), out(11, plain)},
		"set(ipv4(tos=0x3/0x3,ttl=8)),1":          {out(11, with(func(k *talk) { k.tos, k.ttl = 0x2b, 8 }))},
		"set(ipv4(tos=0)),1":                      {out(11, with(func(k *talk) { k.tos = 0 }))},
		"set(ipv4(dst=10.0.0.0/255.0.0.0)),1":     {out(11, nil)},
		"set(ipv6(hlimit=3)),1":                   {out(11, nil)},
		"set(tcp(src=3)),1":                       {out(11, with(func(k *talk) { k.sport = 3 }))}, // the switch would not say tcp of UDP
		"push_vlan(vid=5,pcp=3),1":                {out(11, tag(5, 3))},
		"push_vlan(vid=5,pcp=3),pop_vlan,1":       {out(11, plain)},
		"push_vlan(vid=x),1":                      {out(11, nil)},
		"ct(commit,zone=1),1":                     {out(11, plain)},
		"ct(commit,nat(dst=1.1.1.1)),1":           {out(11, nil)},
		"userspace(pid=1,controller(reason=1)),1": {out(11, plain)},
		"trunc(20),1":                             {out(11, nil)},
		"check_pkt_len(size=10,gt(1),le(2))":      {out(11, plain)},
		"check_pkt_len(size=1000,gt(1),le(2,1))":  {out(22, plain), out(11, plain)},
		"unbalanced(1":                            nil,
	} {
		x := emission{layout: layout{ports: map[int]openflow.PortNo{1: 11, 2: 22}}, frame: edit(plain), forks: map[string]edited{}}
		x.run(actions)
		require.Equal(t, want, x.outputs, actions)
	}
	x := emission{layout: layout{ports: map[int]openflow.PortNo{1: 11}}, frame: edit(plain), forks: map[string]edited{}}
	x.run("set(ipv4(dst=10.0.0.9)),ct(commit,nat(dst=1.1.1.1)),recirc(0x7),1")
	require.Equal(t, away, x.forks["recirc(0x7)"].bytes, "the frame goes on as it came to the tracker")
	require.Equal(t, []datapath.Output{out(11, nil)}, x.outputs)
}

func TestARPIsRewritten(t *testing.T) {
	asked, answer := packet.MAC{2, 1}, packet.MAC{2, 2}
	request := packet.ARPRequest(asked, netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"))
	x := emission{layout: layout{ports: map[int]openflow.PortNo{1: 1}}, frame: edit(request.Bytes()), forks: map[string]edited{}}
	x.run("set(eth(src=02:02:00:00:00:00,dst=02:01:00:00:00:00)),set(arp(sip=10.0.0.2,tip=10.0.0.1,op=2,sha=02:02:00:00:00:00,tha=02:01:00:00:00:00)),1")
	require.Empty(t, packet.Diff(request.Reply(answer).Bytes(), x.outputs[0].Frame), hex.EncodeToString(x.outputs[0].Frame))
}

func TestLayoutIsRead(t *testing.T) {
	text := `netdev@ovs-netdev: hit:0 missed:2
  other:
    other 65534/9: (tap)
system@ovs-system: hit:10 missed:2
  br-lb:
    br-lb 65534/1: (internal)
    pub0 1/7: (system)
    patch-x 40/none: (patch: peer=patch-y)
    hcif-p2 4/2: (internal)
  last:
    pub1 1/8: (system)
`
	l, err := parseLayout(text, "br-lb")
	require.NoError(t, err)
	require.Equal(t, "system@ovs-system", l.datapath)
	require.Equal(t, map[int]openflow.PortNo{1: openflow.PortLocal, 7: 1, 2: 4}, l.ports)
	require.Equal(t, map[openflow.PortNo]bool{openflow.PortLocal: true, 1: true, 40: true, 4: true}, l.all)
	_, err = parseLayout(text, "br")
	require.ErrorContains(t, err, "no bridge br")
	_, err = parseLayout(strings.Replace(text, "1/7", "1-7", 1), "br-lb")
	require.ErrorContains(t, err, "is not a port")
}

// What ofproto/trace prints, and how it wants it back.
func TestFlowsAreWrittenAsTraceReadsThem(t *testing.T) {
	for printed, exact := range map[string]string{
		"udp,in_port=1,vlan_tci=0x0000,tp_src=40000,tp_dst=53":                                           "udp,in_port=1,vlan_tci=0x0000,udp_src=40000,udp_dst=53",
		"sctp6,in_port=1,tp_src=1,tp_dst=2":                                                              "sctp6,in_port=1,sctp_src=1,sctp_dst=2",
		"tcp,in_port=1,dl_vlan=5,dl_vlan_pcp=1,vlan_tci1=0x0000,tcp_flags=syn|[800]":                     "tcp,in_port=1,tcp_flags=syn|[800],vlan_tci=0x3005",
		"ip,nw_proto=2,tp_src=22,tp_dst=0":                                                               "ip,nw_proto=2",
		"recirc_id=0x1,ct_state=new|trk,ct_zone=4,eth,icmp,icmp_type=8,icmp_code=0":                      "ct_state=new|trk,ct_zone=4,icmp,icmp_type=8,icmp_code=0",
		"icmp6,icmp_type=135,icmp_code=0,nd_target=::,nd_sll=02:00:00:00:00:09,nd_tll=00:00:00:00:00:00": "icmp6,icmpv6_type=135,icmpv6_code=0,nd_target=::,nd_sll=02:00:00:00:00:09",
	} {
		f := parseFlowText(printed)
		require.Equal(t, printed, f.String())
		require.Equal(t, exact, f.exact())
	}
}

func TestFieldsAreSetInTheirPlace(t *testing.T) {
	f := parseFlowText("recirc_id=0x1,ct_state=new|trk,ct_zone=4,eth,udp,reg3=0x7,nw_src=10.0.0.1,nw_dst=10.0.0.2,tp_src=1,tp_dst=2")
	f.set("ct_label", "0x2a")
	f.set("ct_mark", "0x9")
	f.set("ct_zone", "5")
	f.set("pkt_mark", "0")
	f.set("nonsense", "1")
	f.setEnd("dst", netip.MustParseAddr("10.0.0.9"), 53)
	f.setOriginal(datapath.Tuple{Proto: 17, Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"), SrcPort: 1, DstPort: 2})
	require.Equal(t, "recirc_id=0x1,ct_state=new|trk,ct_zone=5,ct_mark=0x9,ct_label=0x2a,ct_nw_src=10.0.0.1,ct_nw_dst=10.0.0.2,"+
		"ct_nw_proto=17,ct_tp_src=1,ct_tp_dst=2,eth,udp,reg3=0x7,nw_src=10.0.0.1,nw_dst=10.0.0.9,tp_src=1,tp_dst=53", f.String())
}

func TestMarksAreWrittenUnderTheirMasks(t *testing.T) {
	for call, want := range map[string]openflow.Value{
		"ct(zone=1)":                                 openflow.U64(0xff),
		"ct(commit,zone=1,mark=0x5/0xffffffff)":      openflow.U64(5),
		"ct(commit,mark=0x10/0xf0,nat(dst=1.1.1.1))": openflow.U64(0x1f),
		"ct(commit,label=0x1/0x1)":                   openflow.U64(0xff),
	} {
		require.Equal(t, want, written(call, "mark", openflow.U64(0xff)), call)
	}
	wide := written("ct(commit,label=0x10000000000000002/0xf000000000000000f)", "label", openflow.U64(0xff))
	require.Equal(t, openflow.Value{Hi: 1, Lo: 0xf2}, wide)
	require.Equal(t, "0x100000000000000f2", formatLabel(wide))
	require.Equal(t, "0xf2", formatLabel(openflow.U64(0xf2)))
}
