package flow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
	"hpnn/testbed/dummy"
)

func TestFormatMetadata(t *testing.T) {
	k := tcpKey()
	k.SetInPort(uint16(of.PortLocal))
	k.Set(of.Reg0, of.U64(5))
	k.Set(of.Reg15, of.U64(0x70))
	k.Set(of.Metadata, of.U64(0x63))
	k.Set(of.TunID, of.U64(4))
	k.Set(of.PktMark, of.U64(9))
	k.Set(of.CTState, of.U64(uint64(of.CTNew|of.CTTrk|of.CTDNAT)))
	k.Set(of.CTZone, of.U64(3))
	k.Set(of.CTMark, of.U64(0x10))
	k.Set(of.CTLabel, of.Value{Hi: 1, Lo: 0xabc})
	k.Set(of.CTNwSrc, of.U64(0x04040404))
	k.Set(of.CTNwProto, of.U64(6))
	k.Set(of.CTTpDst, of.U64(5))
	const metadata = "ct_state=new|trk|dnat,ct_zone=3,ct_mark=0x10,ct_label=0x10000000000000abc," +
		"ct_nw_src=4.4.4.4,ct_nw_dst=0.0.0.0,ct_nw_proto=6,ct_tp_src=0,ct_tp_dst=5,"
	const headers = "tcp,reg0=0x5,reg15=0x70,tun_id=0x4,metadata=0x63,in_port=LOCAL,vlan_tci=0x0000," +
		"dl_src=0a:00:00:00:00:01,dl_dst=0a:00:00:00:00:02,nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_tos=0,nw_ecn=0," +
		"nw_ttl=0,nw_frag=no,tp_src=1000,tp_dst=80,tcp_flags=0"
	require.Equal(t, "pkt_mark=0x9,"+metadata+headers, Format(&k))
	require.Equal(t, "pkt_mark=0x9,recirc_id=0x1c,"+metadata+"eth,"+headers, FormatPass(&k, 0x1c))
	k.SetInPort(0)
	require.NotContains(t, Format(&k), "in_port")
	k.Set(of.CTNwProto, of.Value{})
	require.NotContains(t, Format(&k), "ct_nw_src", "there is no tuple without a protocol")
}

func TestFormatTwoTags(t *testing.T) {
	k := tcpKey()
	k.SetVLANVID(5)
	k.SetVLANPCP(4)
	k.PushVLAN(of.EthTypeQinQ)
	k.SetVLANVID(6)
	require.Contains(t, Format(&k), ",dl_vlan=6,dl_vlan_pcp=0,dl_vlan1=5,dl_vlan_pcp1=4,dl_src")
	k.Set(of.VLANTCI, of.U64(0x2005))
	require.Contains(t, Format(&k), ",vlan_tci=0x2005,dl_vlan1=5,dl_vlan_pcp1=4,dl_src")
}

// TestFormatMasked has lines that the real switch wrote.
func TestFormatMasked(t *testing.T) {
	type bit struct {
		field of.Field
		mask  uint64
	}
	whole := func(f of.Field) bit { return bit{f, f.Mask().Lo} }
	for _, c := range []struct {
		set   func(*Key)
		masks []bit
		want  string
	}{
		{func(*Key) {}, nil, "recirc_id=0,eth,tcp,in_port=1,nw_frag=no"},
		{func(k *Key) { k.Set(of.TCPFlags, of.U64(2)) },
			[]bit{{of.TCPSrc, 0xfff0}, {of.TCPFlags, 0x12}, whole(of.IPSrc), whole(of.IPECN), whole(of.IPTTL)},
			"recirc_id=0,eth,tcp,in_port=1,nw_src=10.0.0.1,nw_ecn=0,nw_ttl=0,nw_frag=no,tp_src=0x3e0/0xfff0,tcp_flags=+syn-ack"},
		{func(k *Key) { k.Set(of.TCPFlags, of.U64(0x802)) },
			[]bit{{of.TCPFlags, 0x810}, {of.IPDst, 0xff000000}, {of.IPSrc, 0xff0000ff}},
			"recirc_id=0,eth,tcp,in_port=1,nw_src=10.0.0.1/255.0.0.255,nw_dst=10.0.0.0/8,nw_frag=no,tcp_flags=-ack+[800]"},
		{func(k *Key) { k.Set(of.CTState, of.U64(uint64(of.CTTrk|of.CTNew))) },
			[]bit{{of.CTState, uint64(of.CTTrk | of.CTNew)}, {of.CTMark, 1}, whole(of.PktMark), whole(of.CTNwProto), {of.EthSrc, 0xffffff000000}},
			"pkt_mark=0,recirc_id=0,ct_state=+new+trk,ct_mark=0/0x1,ct_nw_proto=0,eth,tcp,in_port=1,dl_src=0a:00:00:00:00:00/ff:ff:ff:00:00:00,nw_frag=no"},
		{func(k *Key) { k.Set(of.VLANTCI, of.U64(0x2000)) }, []bit{{of.VLANTCI, 0x1fff}},
			"recirc_id=0,eth,tcp,in_port=1,vlan_tci=0x0000/0x1fff,nw_frag=no"},
		{func(k *Key) { k.SetVLANVID(512) }, []bit{{of.VLANTCI, 0x1fff}}, "recirc_id=0,eth,tcp,in_port=1,dl_vlan=512,nw_frag=no"},
		{func(k *Key) { k.Set(of.IPProto, of.U64(1)); k.Set(of.TCPSrc, of.U64(8)); k.Set(of.TCPDst, of.U64(0)) },
			[]bit{whole(of.ICMPType), whole(of.ICMPCode)},
			"recirc_id=0,eth,icmp,in_port=1,nw_frag=no,icmp_type=0x8/0xff,icmp_code=0x0/0xff"},
		{func(k *Key) { k.Set(of.EthType, of.U64(0x88cc)) }, []bit{whole(of.EthDst)},
			"recirc_id=0,eth,in_port=1,dl_dst=0a:00:00:00:00:02,dl_type=0x88cc"},
		{func(k *Key) { k.Set(of.EthType, of.U64(of.EthTypeIPv6)); k.Set(of.IPv6Label, of.U64(0x123)) },
			[]bit{{of.IPv6Label, 0xfff}}, "recirc_id=0,eth,tcp6,in_port=1,ipv6_label=0x00123/0x00fff,nw_frag=no"},
	} {
		k := tcpKey()
		k.SetInPort(1)
		c.set(&k)
		var mask Key
		for _, m := range append(c.masks, whole(of.InPort), whole(of.EthType), whole(of.IPProto), whole(of.IPFrag)) {
			mask.SetMasked(m.field, of.U64(m.mask), of.U64(m.mask))
		}
		require.Equal(t, c.want, FormatMasked(&k, &mask, 0))
	}
}

// TestFormatMetadataAsRealSwitch gives the switch random metadata and reads the line back.
func TestFormatMetadataAsRealSwitch(t *testing.T) {
	sw := dummy.ForTest(t, dummy.Config{Ports: dummy.NumberedPorts(1)})
	m := newMaker(seed())
	for range runs(t, 300) {
		k, text := m.metadata()
		out, err := sw.Trace(t.Context(), text, "")
		require.NoError(t, err, text)
		line, _, _ := strings.Cut(out, "\n")
		require.Equal(t, line, "Flow: "+Format(&k))
	}
}

// metadata is a Key without a frame, and how ofproto/trace is told of it.
func (m maker) metadata() (k Key, text string) {
	var words []string
	k.SetInPort(pick[uint16](m, 1, 2, 0xfffe, 0xfff8, 700))
	words = append(words, fmt.Sprintf("in_port=%d", k.InPort()))
	for _, f := range of.Fields() {
		plain := f == of.PktMark || f == of.CTMark || f == of.CTZone || f == of.TunID || f == of.Metadata || f >= of.Reg0 && f <= of.Reg15
		if plain && m.chance(30) {
			v := of.U64(pick(m, 1, m.Uint64(), ^uint64(0))).And(f.Mask())
			k.Set(f, v)
			words = append(words, fmt.Sprintf("%v=%#x", f, v.Lo))
		}
	}
	if m.chance(30) {
		v := of.Value{Hi: m.Uint64() >> m.IntN(64), Lo: pick(m, 0, 1, m.Uint64())}
		k.Set(of.CTLabel, v)
		words = append(words, fmt.Sprintf("ct_label=0x%x%016x", v.Hi, v.Lo))
	}
	words = append(words, m.tracked(&k)...)
	return k, strings.Join(words, ",")
}

// tracked gives k a connection state, and perhaps its original tuple.
func (m maker) tracked(k *Key) []string {
	state := pick(m, 0, of.CTTrk|of.CTInv, of.CTTrk|of.CTNew, of.CTTrk|of.CTEst|of.CTRpl, of.CTTrk|of.CTRel|of.CTSNAT,
		of.CTTrk|of.CTRel|of.CTRpl)
	k.Set(of.CTState, of.U64(uint64(state)))
	words := []string{fmt.Sprintf("ct_state=%#x", state)}
	k.Set(of.EthType, of.U64(pick[uint64](m, of.EthTypeIPv4, of.EthTypeIPv6)))
	words = append(words, fmt.Sprintf("dl_type=%#x", k.ethType()))
	if !k.ctTuple() {
		return words
	}
	if m.chance(70) {
		k.Set(of.CTNwProto, of.U64(6))
		words = append(words, "ct_nw_proto=6")
	}
	if m.chance(50) {
		k.Set(of.CTTpDst, of.U64(80))
		words = append(words, "ct_tp_dst=80")
	}
	if k.ethType() == of.EthTypeIPv4 {
		k.Set(of.CTNwSrc, of.U64(0x01020304))
		return append(words, "ct_nw_src=1.2.3.4")
	}
	a := of.Value{Hi: pick(m, 0, 0, m.Uint64()), Lo: pick(m, 0x0102, 0x01020304, 0xffff_01020304, m.Uint64())}
	k.Set(of.CTIPv6Dst, a)
	return append(words, fmt.Sprintf("ct_ipv6_dst=%x:%x:%x:%x:%x:%x:%x:%x", a.Hi>>48, a.Hi>>32&0xffff, a.Hi>>16&0xffff, a.Hi&0xffff,
		a.Lo>>48, a.Lo>>32&0xffff, a.Lo>>16&0xffff, a.Lo&0xffff))
}
