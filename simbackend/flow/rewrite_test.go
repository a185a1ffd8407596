package flow

import (
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
	"hpnn/internal/packet"
)

// rewritten extracts a frame, changes its fields and rewrites it.
func rewritten(t *testing.T, frame []byte, change func(*Key)) []byte {
	t.Helper()
	var base Key
	l, ok := Extract(frame, 1, &base)
	require.True(t, ok)
	want := base
	change(&want)
	var p Packet
	p.Load(frame, l)
	p.Rewrite(&base, &want, nil)
	return append([]byte(nil), p.Bytes()...)
}

func set(f of.Field, v uint64) func(*Key) {
	return func(k *Key) {
		if Present(k, f) {
			k.Set(f, of.U64(v))
		}
	}
}

// rewrites tells, for each rule, a frame, a change and what leaves. The addresses that start a frame
// are left out. Each was seen on the real switch; TestRewriteAsRealSwitch meets them all at random.
var rewrites = []struct {
	rule, frame string
	change      func(*Key)
	want        string
}{
	{"destination and its checksums", ip4("0028", "4000", "06") + tcp, set(of.IPDst, 0x0a000003),
		"0800 4500 0028 0001 4000 40 06 fffe 0a000001 0a000003 03e80050 00000001 00000002 5012 ffff fffe 0000"},
	{"checksums follow by the difference, right or wrong", "0800 4500 0028 0001 4000 40 06 1234 0a000001 0a000002" + tcp, set(of.IPDst, 0x0a000003),
		"0800 4500 0028 0001 4000 40 06 1233 0a000001 0a000003 03e80050 00000001 00000002 5012 ffff fffe 0000"},
	{"the same value again", ip4("0028", "4000", "06") + tcp, set(of.IPDst, 0x0a000002), ip4("0028", "4000", "06") + tcp},
	{"TTL", "0800 4500 001c 0001 0000 40 11 1234 0a000001 0a000002" + udp, set(of.IPTTL, 63), "0800 4500 001c 0001 0000 3f 11 1334 0a000001 0a000002" + udp},
	{"DSCP", "0800 4501 001c 0001 0000 40 11 1234 0a000001 0a000002" + udp, set(of.IPDSCP, 1), "0800 4505 001c 0001 0000 40 11 1230 0a000001 0a000002" + udp},
	{"ECN", "0800 45fc 001c 0001 0000 40 11 1234 0a000001 0a000002" + udp, set(of.IPECN, 3), "0800 45ff 001c 0001 0000 40 11 1231 0a000001 0a000002" + udp},
	{"UDP without checksum", "0800 4500 001c 0001 0000 40 11 1234 0a000001 0a000002" + udp, set(of.UDPDst, 54), "0800 4500 001c 0001 0000 40 11 1234 0a000001 0a000002 03e80036 0008 0000"},
	{"UDP checksum that becomes 0", "0800 4500 001c 0001 0000 40 11 1234 0a000001 0a000002 03e80035 0008 0001", set(of.UDPDst, 54), "0800 4500 001c 0001 0000 40 11 1234 0a000001 0a000002 03e80036 0008 ffff"},
	{"padding is kept", "0800 4500 001c 0001 0000 40 11 1234 0a000001 0a000002 03e80035 0008 0011 aabbcc", set(of.UDPSrc, 1001), "0800 4500 001c 0001 0000 40 11 1234 0a000001 0a000002 03e90035 0008 0010 aabbcc"},
	{"address in a later fragment alters payload", "0800 4500 0028 0001 0001 40 06 1234 0a000001 0a000002 00112233445566778899aabbccddeeff 8000 0000", set(of.IPSrc, 0x0a000000),
		"0800 4500 0028 0001 0001 40 06 1235 0a000000 0a000002 00112233445566778899aabbccddeeff 8001 0000"},
	{"port of a later fragment", ip4("0028", "0001", "06") + tcp, set(of.TCPDst, 8080), ip4("0028", "0001", "06") + tcp},
	{"port of a first fragment", "0800 4500 0028 0001 2000 40 06 1234 0a000001 0a000002" + tcp, set(of.TCPDst, 0x51), "0800 4500 0028 0001 2000 40 06 1234 0a000001 0a000002 03e80051 00000001 00000002 5012 ffff fffe 0000"},
	{"port of a header cut short", ip4("0027", "0000", "06") + tcp, set(of.TCPDst, 8080), ip4("0027", "0000", "06") + tcp},
	{"echo to its reply, all zeros", "0800 4500 001c 0001 0000 40 01 1234 0a000001 0a000002 0800 f7ff 00000000", set(of.ICMPType, 0), "0800 4500 001c 0001 0000 40 01 1234 0a000001 0a000002 0000 0000 00000000"},
	{"ICMP type writes the code of a later fragment too", "0800 4500 001c 0001 0001 40 01 1234 0a000001 0a000002 0301 1234 00000000", set(of.ICMPType, 1), "0800 4500 001c 0001 0001 40 01 1234 0a000001 0a000002 0100 1435 00000000"},
	{"malformed IP is left alone", noLength, set(of.IPDst, 1), noLength},
	{"protocol 0 is left alone", ip4("0014", "0000", "00"), set(of.IPDst, 1), ip4("0014", "0000", "00")},

	{"IPv6 destination", ip6head("0014", "06") + tcp, func(k *Key) { k.Set(of.IPv6Dst, of.Value{Hi: 0xfd << 56, Lo: 3}) },
		"86dd 6b112345 001406 40 fd000000000000000000000000000001 fd000000000000000000000000000003 03e80050 00000001 00000002 5012 ffff fffe 0000"},
	{"IPv6 destination before a routing header", ip6head("001c", "2b") + "0600 0001 00000000" + tcp, func(k *Key) { k.Set(of.IPv6Dst, of.Value{Hi: 0xfd << 56, Lo: 3}) },
		"86dd 6b112345 001c2b 40 fd000000000000000000000000000001 fd000000000000000000000000000003 0600 0001 00000000" + tcp},
	{"IPv6 address of an atomic fragment", ip6head("001c", "2c") + "0600 0000 00000000" + tcp, func(k *Key) { k.Set(of.IPv6Dst, of.Value{Hi: 0xfd << 56, Lo: 3}) },
		"86dd 6b112345 001c2c 40 fd000000000000000000000000000001 fd000000000000000000000000000003 0600 0000 00000000" + tcp},
	{"traffic class, label, hop limit", ip6head("0000", "3b"), func(k *Key) {
		k.Set(of.IPDSCP, of.U64(1))
		k.Set(of.IPv6Label, of.U64(0xabcde))
		k.Set(of.IPTTL, of.U64(1))
	}, "86dd 605abcde 00003b 01 " + ip6},
	{"solicited address", ip6head("0020", "3a") + "8700 ffff 00000000 fd000000000000000000000000000002 " + ll1, set(of.NDSll, 0x0a0000000002),
		"86dd 6b112345 00203a 40" + ip6 + "8700 fffe 00000000 fd000000000000000000000000000002 0101 0a0000000002"},
	{"only the first address option", ip6head("0028", "3a") + "8700 ffff 00000000 fd000000000000000000000000000002 " + ll2 + ll1, set(of.NDSll, 0x0a0000000002),
		ip6head("0028", "3a") + "8700 ffff 00000000 fd000000000000000000000000000002 " + ll2 + ll1},

	{"ARP", "0806 0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a000002", func(k *Key) {
		k.Set(of.ARPOp, of.U64(2))
		k.Set(of.ARPTha, of.U64(0x020000000001))
		k.Set(of.ARPSpa, of.U64(0x0a000002))
	}, "0806 0001 0800 06 04 0002 020000000001 0a000002 020000000001 0a000002"},
	{"ARP opcode 255 writes all its bits", "0806 0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a000002", set(of.ARPOp, 255),
		"0806 0001 0800 06 04 ffff 020000000001 0a000001 000000000000 0a000002"},
	{"ARP without opcode is left alone", noOpcode, set(of.ARPSpa, 1), noOpcode},
	{"RARP is left alone", "8035" + noOpcode[4:], func(k *Key) { k.Set(of.ARPOp, of.U64(4)); k.Set(of.ARPSpa, of.U64(1)) }, "8035" + noOpcode[4:]},

	{"mod_vlan_vid on an untagged frame", "88cc 00", func(k *Key) { k.SetVLANVID(5) }, "8100 0005 88cc 00"},
	{"mod_vlan_pcp on an untagged frame", "88cc 00", func(k *Key) { k.SetVLANPCP(5) }, "8100 a000 88cc 00"},
	{"mod_vlan_vid keeps priority and type, drops DEI", "88a8 b006 88cc 00", func(k *Key) { k.SetVLANVID(5) }, "88a8 a005 88cc 00"},
	{"DEI of a tag that is not touched", "8100 b006 88cc 00", set(of.EthType, 0), "8100 b006 88cc 00"},
	{"push on a tagged frame", "8100 b006 88cc 00", func(k *Key) { k.PushVLAN(of.EthTypeQinQ) }, "88a8 0000 8100 b006 88cc 00"},
	{"push and pop", "8100 b006 88cc 00", func(k *Key) { k.PushVLAN(of.EthTypeQinQ); k.PopVLAN() }, "8100 b006 88cc 00"},
	{"pop", "8100 b006 88cc 00", (*Key).PopVLAN, "88cc 00"},
	{"pop the outer of two", "88a8 0005 8100 0006 88cc 00", (*Key).PopVLAN, "8100 0006 88cc 00"},
	{"pop of an untagged frame", "88cc 00", (*Key).PopVLAN, "88cc 00"},
	{"vlan_tci without the CFI bit is no tag", "88cc 00", func(k *Key) { k.SetSub(of.Subfield{Field: of.VLANTCI, Width: 12}, of.U64(5)) }, "88cc 00"},
	{"vlan_tci with the CFI bit is one", "88cc 00", set(of.VLANTCI, 0x1005), "8100 0005 88cc 00"},
	{"vlan_tci of 0 pops", "8100 0005 88cc 00", set(of.VLANTCI, 0), "88cc 00"},
	{"vlan_vid on an untagged frame", "88cc 00", set(of.VLANVID, 5), "88cc 00"},
}

const (
	noLength = "0800 4500 0013 0001 0000 40 11 0000 0a000001 0a000002 "
	noOpcode = "0806 0001 0800 06 04 0101 020000000001 0a000001 000000000000 0a000002"
)

func TestRewrite(t *testing.T) {
	for _, c := range rewrites {
		got := rewritten(t, bytesOf(t, macs+c.frame), c.change)
		require.Equal(t, hex.EncodeToString(bytesOf(t, macs+c.want)), hex.EncodeToString(got), c.rule)
	}
}

func TestRewriteAddresses(t *testing.T) {
	got := rewritten(t, bytesOf(t, macs+"88cc"), func(k *Key) { k.Set(of.EthDst, of.U64(0x0102030405ff)) })
	require.Equal(t, bytesOf(t, "0102030405ff 020000000001 88cc"), got)
}

// TestRewriteLater: fields that could not be written are written when they can.
func TestRewriteLater(t *testing.T) {
	frame := bytesOf(t, macs+noOpcode)
	var base Key
	l, _ := Extract(frame, 1, &base)
	want := base
	var p Packet
	p.Load(frame, l)
	want.Set(of.ARPSpa, of.U64(0x01020304))
	p.Rewrite(&base, &want, nil)
	require.Equal(t, frame, p.Bytes())
	want.Set(of.ARPOp, of.U64(2))
	p.Rewrite(&base, &want, nil)
	require.Equal(t, bytesOf(t, macs+"0806 0001 0800 06 04 0002 020000000001 01020304 000000000000 0a000002"), p.Bytes())
	require.Equal(t, want, base)
}

// TestRewriteMasked: where the frame says something else than the Key, only bits that mattered
// are written.
func TestRewriteMasked(t *testing.T) {
	frame := bytesOf(t, macs+"0800 4500 001c 0001 0000 40 11 0000 0a1e0002 0a000002"+udp)
	var base, mask Key
	l, _ := Extract(frame, 1, &base)
	base.Set(of.IPSrc, of.U64(0xc0a80515)) // the connection tracker has translated it since
	want := base
	want.SetSub(of.Subfield{Field: of.IPSrc, Width: 8}, of.U64(9))
	mask.SetSub(of.Subfield{Field: of.IPSrc, Width: 8}, of.U64(0xff))
	var p Packet
	p.Load(frame, l)
	p.Rewrite(&base, &want, &mask)
	require.Equal(t, uint32(0x0a1e0009), binary.BigEndian.Uint32(p.Bytes()[26:]))
}

// TestManyPushes makes the buffer grow in front, as a frame does that is recirculated often.
func TestManyPushes(t *testing.T) {
	frame := bytesOf(t, macs+ip4("001c", "0000", "11")+udp)
	var p Packet
	var base Key
	l, _ := Extract(frame, 1, &base)
	p.Load(frame, l)
	expect := ""
	for i := range 20 {
		want := base
		want.PushVLAN(of.EthTypeVLAN)
		want.SetVLANVID(uint16(i))
		p.Rewrite(&base, &want, nil)
		Refresh(p.Bytes(), &base)
		expect = "8100 00" + hex.EncodeToString([]byte{byte(i)}) + expect
	}
	require.Equal(t, append(bytesOf(t, macs+expect), frame[12:]...), p.Bytes())
	require.Equal(t, l.L4+20*vlanLen, p.L4)
	require.Equal(t, 8, p.L4Len())
}

// sound reports whether all checksums of a frame are right: the slow twin of the incremental
// updates. It knows frames that maker.whole makes and no fragments.
func sound(k *Key, p *Packet) bool {
	b := p.Bytes()
	l4 := b[p.L4 : len(b)-int(p.Pad)]
	pseudo := uint32(k.proto()) + uint32(len(l4))
	if k.ethType() == of.EthTypeIPv4 {
		if packet.Checksum(b[p.L3:p.L4]) != 0 {
			return false
		}
		pseudo = packet.Sum(b[p.L3+12:p.L3+20], pseudo)
	} else {
		pseudo = packet.Sum(b[p.L3+8:p.L3+40], pseudo)
	}
	switch k.proto() {
	case of.ProtoICMPv6:
		return k.ethType() == of.EthTypeIPv4 || packet.Fold(packet.Sum(l4, pseudo)) == 0
	case of.ProtoTCP:
		return packet.Fold(packet.Sum(l4, pseudo)) == 0
	case of.ProtoUDP:
		return l4[6]|l4[7] == 0 || packet.Fold(packet.Sum(l4, pseudo)) == 0
	case of.ProtoICMP:
		return packet.Checksum(l4) == 0
	case of.ProtoSCTP:
		c := append([]byte(nil), l4...)
		copy(c[8:12], make([]byte, 4))
		return crcOf(c) == binary.LittleEndian.Uint32(l4[8:])
	}
	return true
}

// TestRewriteThenExtract: what was written is what is read back, and right checksums stay right.
func TestRewriteThenExtract(t *testing.T) {
	m := newMaker(seed())
	tried := 0
	for range runs(t, 20000) {
		frame := m.whole()
		var base Key
		l, ok := Extract(frame, 1, &base)
		require.True(t, ok)
		if !l.HasL4() || base.proto() == 0 || base.frag() != 0 || extended(&l, &base) {
			continue
		}
		var p Packet
		p.Load(frame, l)
		require.True(t, sound(&base, &p), "%x", frame)
		want := base
		m.change(&want)
		p.Rewrite(&base, &want, nil)
		require.Equal(t, base, want)
		require.True(t, sound(&want, &p), "%x to %x", frame, p.Bytes())
		var again Key
		l, ok = Extract(p.Bytes(), 1, &again)
		require.True(t, ok)
		require.Equal(t, p.Layout, l)
		want[wordTags], again[wordTags] = 0, 0 // the inner tag is not read back
		require.Equal(t, Format(&want), Format(&again))
		require.Equal(t, want, again)
		tried++
	}
	require.Greater(t, tried, 1000)
}

// extended reports whether an IPv6 packet has extension headers, some of which hide checksums.
func extended(l *Layout, k *Key) bool {
	return k.ethType() == of.EthTypeIPv6 && l.L4 != l.L3+ipv6Len
}

// change writes to some fields that the frame has and that do not change what it is.
func (m maker) change(k *Key) {
	fields := []of.Field{of.EthSrc, of.EthDst, of.IPSrc, of.IPDst, of.IPv6Src, of.IPv6Dst, of.IPv6Label, of.IPDSCP, of.IPECN,
		of.IPTTL, of.TCPSrc, of.TCPDst, of.UDPSrc, of.UDPDst, of.SCTPSrc, of.SCTPDst, of.VLANVID, of.VLANPCP}
	for range 1 + m.IntN(6) {
		if f := pick(m, fields...); Present(k, f) {
			k.Set(f, of.Value{Hi: m.Uint64(), Lo: m.Uint64()}.And(f.Mask()))
		}
	}
}
