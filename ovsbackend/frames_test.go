package ovsbackend_test

import (
	"math/rand/v2"
	"net/netip"

	"hpnn/internal/packet"
)

// Stations of the tests.
var (
	client = station{packet.MAC{2, 0, 0, 0, 0, 1}, netip.MustParseAddr("10.0.0.1")}
	vip    = station{packet.MAC{2, 0, 0, 0, 0, 2}, netip.MustParseAddr("10.0.0.100")}
	member = station{packet.MAC{2, 0, 0, 0, 0, 3}, netip.MustParseAddr("10.0.0.3")}
)

type station struct {
	mac packet.MAC
	ip  netip.Addr
}

func ether(from, to station) packet.Ether { return packet.Ether{Src: from.mac, Dst: to.mac} }

func udp(from station, sport uint16, to station, dport uint16) []byte {
	return packet.UDP{Eth: ether(from, to), IP: packet.IP{Src: from.ip, Dst: to.ip}, SrcPort: sport, DstPort: dport, Payload: []byte("hello")}.Bytes()
}

func tcp(from station, sport uint16, to station, dport uint16, flags packet.Flags) []byte {
	return packet.TCP{Eth: ether(from, to), IP: packet.IP{Src: from.ip, Dst: to.ip}, SrcPort: sport, DstPort: dport, Seq: 1, Ack: 2, Flags: flags, Window: 1000}.Bytes()
}

func ping(from, to station, kind uint8, id uint16) []byte {
	return packet.ICMP{Eth: ether(from, to), IP: packet.IP{Src: from.ip, Dst: to.ip}, Type: kind, ID: id, Seq: 1}.Bytes()
}

// oddFrames are frames of every kind, and many that are broken by a change or a cut.
func oddFrames(seed uint64, n int) (frames [][]byte) {
	v6 := func(s station) netip.Addr { return netip.AddrFrom16([16]byte{0xfd, 15: s.mac[5]}) }
	from6, to6 := station{client.mac, v6(client)}, station{vip.mac, v6(vip)}
	tag := packet.Tag{ID: 5, Priority: 3}
	frames = [][]byte{
		udp(client, 1, vip, 2), tcp(client, 1, vip, 2, packet.SYN), tcp(client, 1, vip, 2, 0), tcp(client, 1, vip, 2, packet.FIN|packet.NS|packet.ECE),
		ping(client, vip, packet.EchoRequest, 5), packet.ARPRequest(client.mac, client.ip, vip.ip).Bytes(),
		udp(from6, 1, to6, 2), tcp(from6, 1, to6, 2, packet.SYN), ping(from6, to6, packet.EchoRequest6, 5),
		packet.UDP{Eth: packet.Ether{Src: client.mac, Dst: vip.mac, Tags: []packet.Tag{tag}}, IP: packet.IP{Src: client.ip, Dst: vip.ip}, SrcPort: 1, DstPort: 2}.Bytes(),
		packet.UDP{Eth: packet.Ether{Src: client.mac, Dst: vip.mac, Tags: []packet.Tag{tag, tag}}, IP: packet.IP{Src: client.ip, Dst: vip.ip}, SrcPort: 1, DstPort: 2}.Bytes(),
	}
	for _, proto := range []uint8{2, 47, 132, 58, 0} {
		frames = append(frames,
			packet.Datagram{Eth: ether(client, vip), IP: packet.IP{Src: client.ip, Dst: vip.ip, TOS: 0x2b}, Proto: proto, Payload: make([]byte, 24)}.Bytes(),
			packet.Datagram{Eth: ether(client, vip), IP: packet.IP{Src: from6.ip, Dst: to6.ip, TOS: 0x2b}, Proto: proto, Payload: make([]byte, 24)}.Bytes())
	}
	for _, proto := range []uint8{1, 6, 17} {
		for _, ip := range []packet.IP{{More: true}, {Offset: 1480}, {Offset: 1480, More: true}} {
			ip.Src, ip.Dst = client.ip, vip.ip
			frames = append(frames, packet.Datagram{Eth: ether(client, vip), IP: ip, Proto: proto, Payload: make([]byte, 24)}.Bytes())
		}
	}
	for _, kind := range []byte{133, 134, 135, 136} {
		nd := append([]byte{kind, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 16)...)
		nd = append(nd, 1, 1, 2, 0, 0, 0, 0, 9, 2, 1, 2, 0, 0, 0, 0, 8)
		frames = append(frames, packet.Datagram{Eth: ether(client, vip), IP: packet.IP{Src: from6.ip, Dst: to6.ip}, Proto: packet.ProtoICMPv6, Payload: nd}.Bytes())
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for whole := len(frames); len(frames) < n; {
		frames = append(frames, spoil(r, frames[r.IntN(whole)]))
	}
	return frames
}

// spoil changes a few bytes of a frame, or cuts it.
func spoil(r *rand.Rand, frame []byte) []byte {
	b := append([]byte(nil), frame...)
	for range r.IntN(3) {
		b[12+r.IntN(min(len(b), 60)-12)] = byte(r.Uint32())
	}
	if r.IntN(2) == 0 {
		b = b[:14+r.IntN(len(b)-14)]
	}
	return b
}
