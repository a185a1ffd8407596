package flow

import (
	"encoding/binary"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
)

// decoded is what gopacket makes of a sound frame, in the terms of a Key: the slow twin of Extract. It
// reports false for frames that it reads by other rules than the switch.
func decoded(frame []byte) (k Key, ok bool) {
	p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.NoCopy)
	if p.ErrorLayer() != nil {
		return k, false
	}
	for _, layer := range p.Layers() {
		switch l := layer.(type) {
		case *layers.Ethernet:
			k.Set(of.EthSrc, of.MAC([6]byte(l.SrcMAC)))
			k.Set(of.EthDst, of.MAC([6]byte(l.DstMAC)))
			k.Set(of.EthType, of.U64(uint64(l.EthernetType)))
		case *layers.Dot1Q:
			tpid := k.ethType()
			k.SetVLANVID(l.VLANIdentifier)
			k.SetVLANPCP(l.Priority)
			k.setTags(tag(tpid)<<16|tag(k.tci()), 0)
			k.Set(of.EthType, of.U64(uint64(l.Type)))
			if l.Type == layers.EthernetTypeDot1Q || l.Type == layers.EthernetTypeQinQ {
				return k, true
			}
		default:
			decodeUpper(&k, layer)
		}
	}
	return k, k.ethType() >= ethTypeMin
}

func decodeUpper(k *Key, layer gopacket.Layer) {
	switch l := layer.(type) {
	case *layers.IPv4:
		k.Set(of.IPSrc, of.U64(uint64(binary.BigEndian.Uint32(l.SrcIP))))
		k.Set(of.IPDst, of.U64(uint64(binary.BigEndian.Uint32(l.DstIP))))
		setIP(k, uint8(l.Protocol), l.TOS, l.TTL)
		if l.FragOffset != 0 {
			k.Set(of.IPFrag, of.U64(of.FragLater))
		} else if l.Flags&layers.IPv4MoreFragments != 0 {
			k.Set(of.IPFrag, of.U64(of.FragFirst))
		}
	case *layers.IPv6:
		k.Set(of.IPv6Src, wide(l.SrcIP))
		k.Set(of.IPv6Dst, wide(l.DstIP))
		k.Set(of.IPv6Label, of.U64(uint64(l.FlowLabel)))
		setIP(k, uint8(l.NextHeader), l.TrafficClass, l.HopLimit)
	case *layers.ARP:
		k.Set(of.ARPOp, of.U64(uint64(l.Operation)))
		k.Set(of.ARPSha, of.MAC([6]byte(l.SourceHwAddress)))
		k.Set(of.ARPTha, of.MAC([6]byte(l.DstHwAddress)))
		k.Set(of.ARPSpa, of.U64(uint64(binary.BigEndian.Uint32(l.SourceProtAddress))))
		k.Set(of.ARPTpa, of.U64(uint64(binary.BigEndian.Uint32(l.DstProtAddress))))
	case *layers.TCP:
		setPortsOf(k, uint64(l.SrcPort), uint64(l.DstPort))
		k.Set(of.TCPFlags, of.U64(uint64(binary.BigEndian.Uint16(l.Contents[12:]))))
	case *layers.UDP:
		setPortsOf(k, uint64(l.SrcPort), uint64(l.DstPort))
	case *layers.SCTP:
		setPortsOf(k, uint64(l.SrcPort), uint64(l.DstPort))
	case *layers.ICMPv4:
		setPortsOf(k, uint64(l.TypeCode.Type()), uint64(l.TypeCode.Code()))
	}
}

func wide(b []byte) of.Value {
	return of.Value{Hi: binary.BigEndian.Uint64(b), Lo: binary.BigEndian.Uint64(b[8:])}
}

func setIP(k *Key, proto, tos, ttl uint8) {
	k.Set(of.IPProto, of.U64(uint64(proto)))
	k.Set(of.IPDSCP, of.U64(uint64(tos>>2)))
	k.Set(of.IPECN, of.U64(uint64(tos)))
	k.Set(of.IPTTL, of.U64(uint64(ttl)))
}

func setPortsOf(k *Key, src, dst uint64) {
	k.Set(of.TCPSrc, of.U64(src))
	k.Set(of.TCPDst, of.U64(dst))
}

// plain reports whether both readers go by the same rules: no extension headers, no discovery, no
// IGMP type in place of a port, no first fragment (gopacket does not look into it).
func plain(k *Key) bool {
	if k.frag() == of.FragFirst {
		return false
	}
	switch k.proto() {
	case of.ProtoTCP, of.ProtoUDP, of.ProtoSCTP:
		return k.isIP()
	case of.ProtoICMP:
		return k.ethType() == of.EthTypeIPv4
	}
	return k.ethType() == of.EthTypeARP && k.proto() != 0
}

func TestExtractAsGopacket(t *testing.T) {
	m := newMaker(seed())
	compared := 0
	for range runs(t, 20000) {
		f := m.whole()
		var k Key
		l, ok := Extract(f, 0, &k)
		require.True(t, ok)
		want, ok := decoded(f)
		if !ok || !plain(&k) || extended(&l, &k) {
			continue
		}
		require.Equal(t, Format(&want), Format(&k), "%x", f)
		require.Equal(t, want, k, "%x", f)
		compared++
	}
	require.Greater(t, compared, 2000)
}
