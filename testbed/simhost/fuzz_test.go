package simhost_test

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"
	"time"

	"hpnn/internal/packet"
	"hpnn/testbed/simhost"
)

// fuzzWorld is a host with everything open and under way.
func fuzzWorld(t testing.TB) (*bed, *simhost.Host) {
	b := newBed(t, simhost.Config{Seed: 1})
	b.known = []byte{9}
	h := b.host("victim", 2)
	if _, err := h.ServeWeb(80); err != nil {
		t.Fatal(err)
	}
	if err := h.EchoUDP(7); err != nil {
		t.Fatal(err)
	}
	h.Get("http://10.0.0.9:80/", simhost.GetOptions{Dial: simhost.DialOptions{LocalPort: 1000}}, nil)
	h.Ping(netip.MustParseAddr("10.0.0.9"), simhost.PingOptions{}, nil)
	h.Ping(netip.MustParseAddr("10.0.0.77"), simhost.PingOptions{}, nil)
	b.Advance(time.Millisecond)
	return b, h
}

// FuzzReceive: no frame makes a host panic, send a frame with a wrong checksum, or hold on
// to something forever.
func FuzzReceive(f *testing.F) {
	eth := packet.Ether{Src: packet.MAC{2, 0, 0, 0, 0, 9}, Dst: packet.MAC{2, 0, 0, 0, 0, 2}}
	ip := packet.IP{Src: netip.MustParseAddr("10.0.0.9"), Dst: netip.MustParseAddr("10.0.0.2")}
	f.Add(packet.TCP{Eth: eth, IP: ip, SrcPort: 1, DstPort: 80, Flags: packet.SYN, Options: packet.MSS(0)}.Bytes())
	f.Add(packet.UDP{Eth: eth, IP: ip, SrcPort: 1, DstPort: 7, Payload: []byte("x")}.Bytes())
	f.Add(packet.ICMP{Eth: eth, IP: ip, Type: packet.EchoRequest}.Bytes())
	f.Add(packet.ICMP{Eth: eth, IP: ip, Type: packet.Unreachable, Code: 3, Payload: ip.Packet(packet.ProtoTCP, make([]byte, 8))}.Bytes())
	f.Add(packet.Datagram{Eth: eth, IP: ip, Proto: 132}.Bytes())
	f.Add(packet.ARPRequest(eth.Src, ip.Src, ip.Dst).Bytes())
	f.Add(packet.ARPRequest(eth.Src, ip.Src, ip.Dst).Reply(eth.Dst).Bytes())
	f.Fuzz(func(t *testing.T, frame []byte) {
		b, h := fuzzWorld(t)
		h.Receive(frame)
		b.settle(h)
	})
}

// FuzzSegments is a sequence of well-formed segments in and around two connections, six bytes
// each: which, flags, offsets of seq and ack, window, length.
func FuzzSegments(f *testing.F) {
	f.Add([]byte{0, 2, 0, 0, 9, 0, 0, 0x10, 1, 1, 9, 0, 0, 0x18, 1, 1, 9, 40, 0, 0x11, 41, 2, 9, 0})
	f.Add([]byte{1, 0x12, 0, 1, 9, 0, 1, 0x18, 1, 59, 9, 100, 1, 0x11, 101, 60, 9, 0})
	f.Add([]byte{1, 0x12, 0, 1, 0, 0, 1, 4, 1, 1, 0, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		b, h := fuzzWorld(t)
		for ; len(script) >= 6; script = script[6:] {
			h.Receive(b.craft(h, [6]byte(script)))
			b.Advance(time.Duration(script[4]) * time.Millisecond)
		}
		b.settle(h)
	})
}

// craft makes a segment from the station 10.0.0.9: for the server's port, or from the port
// that the host is connecting to.
func (b *bed) craft(h *simhost.Host, s [6]byte) []byte {
	t := packet.TCP{
		Eth:     packet.Ether{Src: packet.MAC{2, 0, 0, 0, 0, 9}, Dst: h.MAC()},
		IP:      packet.IP{Src: netip.MustParseAddr("10.0.0.9"), Dst: h.Address()},
		SrcPort: 5000, DstPort: 80,
		Flags: packet.Flags(s[1]), Seq: 70_000 + uint32(int8(s[2])), Window: uint16(s[4]) << 4,
		Payload: []byte("GET /slow?seconds=2 HTTP/1.1\r\nHost: x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")[:min(int(s[5]), 96)],
	}
	if s[0]&1 == 1 {
		t.SrcPort, t.DstPort = 80, 1000
	}
	t.Ack = b.sent[t.DstPort] + uint32(int8(s[3]))
	return t.Bytes()
}

// settle lets a day pass, in which everything under way must come to an end.
func (b *bed) settle(h *simhost.Host) {
	for events, day := 0, b.Now()+24*time.Hour; ; events++ {
		if at, ok := b.Next(); !ok || at > day {
			break
		}
		if b.Step(); events > 20_000 {
			b.t.Fatalf("a host that never rests: %s, %v, after\n%s", h, h.Conns(), strings.Join(b.log[len(b.log)-20:], "\n"))
		}
	}
	for _, c := range h.Conns() {
		switch c.State() {
		case simhost.Established, simhost.CloseWait, simhost.FinWait2: // the peer may be silent for good
		default:
			b.t.Fatalf("%s after a day", c)
		}
	}
	if len(b.wrong) > 0 {
		b.t.Fatal(b.wrong)
	}
}

// noteISN remembers what a host sends first, by local port.
func (b *bed) noteISN(frame []byte) {
	if len(frame) >= 54 && frame[23] == packet.ProtoTCP && frame[47]&byte(packet.SYN) != 0 {
		b.sent[packet.Word(frame, 34)] = binary.BigEndian.Uint32(frame[38:])
	}
}
