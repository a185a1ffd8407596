package packet_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
)

// Addresses of the examples.
var (
	client    = netip.MustParseAddr("192.168.5.13")
	vip       = netip.MustParseAddr("192.168.5.21")
	client6   = netip.MustParseAddr("fd00::13")
	vip6      = netip.MustParseAddr("fd00::21")
	clientMAC = packet.MustMAC("02:00:00:00:00:13")
	nodeMAC   = packet.MustMAC("02:42:c0:a8:05:14")
	toNode    = packet.Ether{Src: clientMAC, Dst: nodeMAC}
	toVIP     = packet.IP{Src: client, Dst: vip}
	toVIP6    = packet.IP{Src: client6, Dst: vip6}
	syn       = packet.TCP{Eth: toNode, IP: toVIP, SrcPort: 40000, DstPort: 80, Seq: 1, Flags: packet.SYN, Window: 64240}
)

// A question put together by hand from RFC 826.
func TestARPBytes(t *testing.T) {
	request := packet.ARPRequest(clientMAC, client, vip)
	require.Equal(t, "ffffffffffff0200000000130806"+"0001080006040001"+"020000000013c0a8050d"+"000000000000c0a80515",
		fmt.Sprintf("%x", request.Bytes()))
	require.Equal(t, "0200000000130242c0a805140806"+"0001080006040002"+"0242c0a80514c0a80515"+"020000000013c0a8050d",
		fmt.Sprintf("%x", request.Reply(nodeMAC).Bytes()))
}

func TestReplyKeepsTheTags(t *testing.T) {
	request := packet.ARPRequest(clientMAC, client, vip)
	request.Eth.Tags = []packet.Tag{{ID: 10}}
	require.Equal(t, []byte{0x81, 0, 0, 10, 8, 6}, request.Reply(nodeMAC).Bytes()[12:18])
}

// A segment put together by hand; its checksums were added up apart from this code.
func TestTCPBytes(t *testing.T) {
	require.Equal(t, "0242c0a805140200000000130800"+
		"45000028000000004006ef5dc0a8050dc0a80515"+
		"9c40005000000001000000005002faf0"+"8ced0000", fmt.Sprintf("%x", syn.Bytes()))
}

// sample is a random header of either family with a payload.
type sample struct {
	*rand.Rand
	eth     packet.Ether
	ip      packet.IP
	payload []byte
}

func newSample(seed uint64) sample {
	s := sample{Rand: rand.New(rand.NewPCG(seed, 7)), eth: toNode}
	s.payload = s.bytes(s.IntN(100))
	if s.IntN(2) == 0 {
		s.eth.Tags = []packet.Tag{{ID: s.word() & 0xfff, Priority: byte(s.IntN(8))}}
	}
	s.ip = packet.IP{Src: client6, Dst: vip6, TTL: byte(1 + s.IntN(255)), TOS: byte(s.Uint32())}
	if s.IntN(2) == 0 {
		s.ip.Src, s.ip.Dst = client, vip
		s.ip.ID, s.ip.Dont, s.ip.More, s.ip.Offset = s.word(), s.IntN(2) == 0, s.IntN(2) == 0, s.IntN(8192)*8
	}
	return s
}

func (s sample) word() uint16 { return uint16(s.Uint32()) }

func (s sample) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(s.Uint32())
	}
	return b
}

// gopacket builds the sample's frame around a transport header with gopacket, which works
// out lengths and checksums by itself and pads to 60 bytes.
func (s sample) gopacket(t *testing.T, proto layers.IPProtocol, transport ...gopacket.SerializableLayer) []byte {
	var network gopacket.SerializableLayer
	etherType := layers.EthernetTypeIPv4
	if s.ip.Src.Is4() {
		flags := layers.IPv4Flag(0)
		if s.ip.Dont {
			flags |= layers.IPv4DontFragment
		}
		if s.ip.More {
			flags |= layers.IPv4MoreFragments
		}
		network = &layers.IPv4{Version: 4, SrcIP: s.ip.Src.AsSlice(), DstIP: s.ip.Dst.AsSlice(), TTL: s.ip.TTL, TOS: s.ip.TOS,
			Id: s.ip.ID, Flags: flags, FragOffset: uint16(s.ip.Offset / 8), Protocol: proto}
	} else {
		etherType = layers.EthernetTypeIPv6
		network = &layers.IPv6{Version: 6, SrcIP: s.ip.Src.AsSlice(), DstIP: s.ip.Dst.AsSlice(), HopLimit: s.ip.TTL,
			TrafficClass: s.ip.TOS, NextHeader: proto}
	}
	eth := &layers.Ethernet{SrcMAC: s.eth.Src[:], DstMAC: s.eth.Dst[:], EthernetType: etherType}
	all := []gopacket.SerializableLayer{eth}
	for _, tag := range s.eth.Tags {
		eth.EthernetType = layers.EthernetTypeDot1Q
		all = append(all, &layers.Dot1Q{VLANIdentifier: tag.ID, Priority: tag.Priority, Type: etherType})
	}
	all = append(append(all, network), transport...)
	all = append(all, gopacket.Payload(s.payload))
	for _, l := range all {
		if sums, ok := l.(interface {
			SetNetworkLayerForChecksum(gopacket.NetworkLayer) error
		}); ok {
			require.NoError(t, sums.SetNetworkLayerForChecksum(network.(gopacket.NetworkLayer)))
		}
	}
	out := gopacket.NewSerializeBuffer()
	require.NoError(t, gopacket.SerializeLayers(out, gopacket.SerializeOptions{ComputeChecksums: true, FixLengths: true}, all...))
	return out.Bytes()
}

// against compares a builder with gopacket on many samples.
func against(t *testing.T, build func(*testing.T, sample) (ours, theirs []byte)) {
	for seed := range uint64(300) {
		ours, theirs := build(t, newSample(seed))
		require.Equal(t, "", packet.Diff(theirs, packet.Pad(ours)), "seed %d", seed)
		require.NoError(t, packet.Verify(ours), "seed %d", seed)
	}
}

func TestTCPAgainstGopacket(t *testing.T) {
	against(t, func(t *testing.T, s sample) (ours, theirs []byte) {
		p := packet.TCP{Eth: s.eth, IP: s.ip, SrcPort: s.word(), DstPort: s.word(), Seq: s.Uint32(), Ack: s.Uint32(),
			Flags: packet.Flags(s.IntN(512)), Window: s.word(), Urgent: s.word(), Payload: s.payload,
			Options: slices.Concat(packet.MSS(1460), packet.SACKPermitted(), packet.Timestamps(s.Uint32(), 0), packet.WindowScale(7))}
		g := &layers.TCP{SrcPort: layers.TCPPort(p.SrcPort), DstPort: layers.TCPPort(p.DstPort), Seq: p.Seq, Ack: p.Ack,
			Window: p.Window, Urgent: p.Urgent,
			FIN: p.Flags&packet.FIN != 0, SYN: p.Flags&packet.SYN != 0, RST: p.Flags&packet.RST != 0,
			PSH: p.Flags&packet.PSH != 0, ACK: p.Flags&packet.ACK != 0, URG: p.Flags&packet.URG != 0,
			ECE: p.Flags&packet.ECE != 0, CWR: p.Flags&packet.CWR != 0, NS: p.Flags&packet.NS != 0,
			Options: []layers.TCPOption{
				{OptionType: layers.TCPOptionKindMSS, OptionData: []byte{1460 >> 8, 1460 & 0xff}},
				{OptionType: layers.TCPOptionKindNop}, {OptionType: layers.TCPOptionKindNop},
				{OptionType: layers.TCPOptionKindSACKPermitted},
				{OptionType: layers.TCPOptionKindNop}, {OptionType: layers.TCPOptionKindNop},
				{OptionType: layers.TCPOptionKindTimestamps, OptionData: p.Options[12:20]},
				{OptionType: layers.TCPOptionKindNop},
				{OptionType: layers.TCPOptionKindWindowScale, OptionData: []byte{7}},
			}}
		return p.Bytes(), s.gopacket(t, layers.IPProtocolTCP, g)
	})
}

func TestUDPAgainstGopacket(t *testing.T) {
	against(t, func(t *testing.T, s sample) (ours, theirs []byte) {
		p := packet.UDP{Eth: s.eth, IP: s.ip, SrcPort: s.word(), DstPort: s.word(), Payload: s.payload}
		g := &layers.UDP{SrcPort: layers.UDPPort(p.SrcPort), DstPort: layers.UDPPort(p.DstPort)}
		return p.Bytes(), s.gopacket(t, layers.IPProtocolUDP, g)
	})
}

func TestICMPAgainstGopacket(t *testing.T) {
	against(t, func(t *testing.T, s sample) (ours, theirs []byte) {
		p := packet.ICMP{Eth: s.eth, IP: s.ip, ID: s.word(), Seq: s.word(), Payload: s.payload}
		if s.ip.Src.Is4() {
			p.Type = packet.EchoRequest
			g := &layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(p.Type, 0), Id: p.ID, Seq: p.Seq}
			return p.Bytes(), s.gopacket(t, layers.IPProtocolICMPv4, g)
		}
		p.Type = packet.EchoReply6
		g := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(p.Type, 0)}
		echo := &layers.ICMPv6Echo{Identifier: p.ID, SeqNumber: p.Seq}
		return p.Bytes(), s.gopacket(t, layers.IPProtocolICMPv6, g, echo)
	})
}

func TestDefaults(t *testing.T) {
	require.Equal(t, byte(64), syn.Bytes()[22])
	far := syn
	far.IP.TTL = 1
	require.Equal(t, byte(1), far.Bytes()[22])
}

func TestUDPChecksumZero(t *testing.T) {
	u := packet.UDP{Eth: toNode, IP: toVIP, SrcPort: 1, DstPort: 2, Unsummed: true}
	require.Equal(t, []byte{0, 0}, u.Bytes()[40:42])
	u.Unsummed = false
	sum := packet.Word(u.Bytes(), 40)
	u.SrcPort += sum // now the sum comes out as zero, and is sent as its twin
	require.Equal(t, []byte{0xff, 0xff}, u.Bytes()[40:42])
	require.NoError(t, packet.Verify(u.Bytes()))
}

func TestIPOptionsArePadded(t *testing.T) {
	p := syn
	p.IP.Options = []byte{1, 1, 1, 1, 1}
	b := p.Bytes()
	require.Equal(t, byte(0x47), b[14])
	require.Equal(t, []byte{1, 1, 1, 1, 1, 0, 0, 0}, b[34:42])
	require.Len(t, b, 14+28+20)
	require.NoError(t, packet.Verify(b))
}

func TestDoubleTag(t *testing.T) {
	p := syn
	p.Eth.Tags = []packet.Tag{{Type: packet.TypeQinQ, ID: 5}, {ID: 4095, Priority: 7}}
	require.Equal(t, []byte{0x88, 0xa8, 0, 5, 0x81, 0, 0xef, 0xff, 8, 0}, p.Bytes()[12:22])
}

func TestPad(t *testing.T) {
	require.Len(t, packet.Pad(syn.Bytes()), 60)
	long := packet.UDP{Eth: toNode, IP: toVIP, Payload: make([]byte, 100)}.Bytes()
	require.Equal(t, long, packet.Pad(long))
	require.NoError(t, packet.Verify(packet.Pad(syn.Bytes())))
}

func TestBuilderRefusesWhatNoHeaderHolds(t *testing.T) {
	for message, build := range map[string]func(){
		"packet: addresses of two families or none: fd00::13, 192.168.5.21": func() {
			packet.Datagram{IP: packet.IP{Src: client6, Dst: vip}}.Bytes()
		},
		"packet: fd00::21 is not an IPv4 address":                           func() { packet.Datagram{IP: packet.IP{Src: client, Dst: vip6}}.Bytes() },
		"packet: addresses of two families or none: invalid IP, invalid IP": func() { packet.Datagram{}.Bytes() },
		"packet: more than 40 bytes of options":                             func() { packet.TCP{IP: toVIP, Options: make([]byte, 41)}.Bytes() },
		"packet: a packet of more than 65535 bytes":                         func() { packet.Datagram{IP: toVIP, Payload: make([]byte, 65516)}.Bytes() },
	} {
		require.PanicsWithValue(t, message, build)
	}
}

func TestFlagsString(t *testing.T) {
	for want, f := range map[string]packet.Flags{
		"[none]":      0,
		"[S]":         packet.SYN,
		"[S.]":        packet.SYN | packet.ACK,
		"[FP.]":       packet.FIN | packet.PSH | packet.ACK,
		"[FSRP.UEWe]": 0x1ff,
	} {
		require.Equal(t, want, f.String())
	}
}

func TestMAC(t *testing.T) {
	m, err := packet.ParseMAC("02-42-C0-A8-05-14")
	require.NoError(t, err)
	require.Equal(t, "02:42:c0:a8:05:14", m.String())
	_, err = packet.ParseMAC("02:42")
	require.ErrorContains(t, err, "parse mac: address 02:42")
	_, err = packet.ParseMAC("02:00:5e:10:00:00:00:01")
	require.ErrorContains(t, err, "has 8 bytes")
	require.Panics(t, func() { packet.MustMAC("x") })
}
