package flow

import (
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
)

func TestSetConnection(t *testing.T) {
	var k Key
	for i := range k {
		k[i] = ^uint64(0)
	}
	c := Connection{State: 0x21, Proto: 6, Zone: 5, Mark: 7, Label: of.Value{Hi: 1, Lo: 2}, Src: 0x0a000001, Dst: 0x0a000002, SrcPort: 1000, DstPort: 80}
	k.SetConnection(&c)
	for f, want := range map[of.Field]of.Value{
		of.CTState: of.U64(0x21), of.CTNwProto: of.U64(6), of.CTZone: of.U64(5), of.CTMark: of.U64(7), of.CTLabel: {Hi: 1, Lo: 2},
		of.CTNwSrc: of.U64(0x0a000001), of.CTNwDst: of.U64(0x0a000002), of.CTTpSrc: of.U64(1000), of.CTTpDst: of.U64(80),
		of.CTIPv6Src: {}, of.CTIPv6Dst: {}, of.PktMark: of.U64(0xffffffff), of.Metadata: of.Ones(64), of.IPv6Src: of.Ones(128),
	} {
		require.Equal(t, want, k.Get(f), f.String())
	}
}

func TestTags(t *testing.T) {
	var k Key
	require.Empty(t, k.Tags())
	k.SetVLANVID(5)
	require.Equal(t, []uint32{0x81001005}, k.Tags())
	k.PushVLAN(of.EthTypeQinQ)
	require.Equal(t, []uint32{0x88a81000, 0x81001005}, k.Tags())
	k.PopVLAN()
	require.Equal(t, []uint32{0x81001005}, k.Tags())
}

// TestEndpoints changes each field in turn: those a connection is known by tell, others do not.
func TestEndpoints(t *testing.T) {
	known := map[of.Field]bool{
		of.IPSrc: true, of.IPDst: true, of.ARPSpa: true, of.ARPTpa: true, of.IPv6Src: true, of.IPv6Dst: true, of.TCPSrc: true, of.TCPDst: true, of.UDPSrc: true, of.UDPDst: true,
		of.SCTPSrc: true, of.SCTPDst: true, of.ICMPType: true, of.ICMPCode: true, of.ICMPv6Type: true, of.ICMPv6Code: true,
	}
	for _, f := range of.Fields() {
		k := tcpKey()
		other := k
		other.Set(f, of.U64(1).Or(k.Get(f).Shl(1)))
		require.Equal(t, !known[f], k.Endpoints() == other.Endpoints(), f.String())
	}
}

func TestMetadataHash(t *testing.T) {
	for _, f := range of.Fields() {
		var k Key
		h := k.MetadataHash()
		k.Set(f, of.U64(1))
		survives := f >= of.Reg0 && f <= of.Reg15 || f >= of.XReg0 || f == of.Metadata || f == of.TunID
		require.Equal(t, survives, h != k.MetadataHash(), f.String())
	}
}
