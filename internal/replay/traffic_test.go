package replay_test

import (
	"encoding/binary"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/internal/pcap"
	"hpnn/internal/replay"
)

// traffic makes the captures of clients who talk to the VIP of the reference stand: one in front of it
// and one in front of each member. Members answer where the rules send the clients' segments, so the
// captures are what a real stand would have seen.
type traffic struct {
	session *replay.Session
	node    replay.Node
	dir     string
	files   map[openflow.PortNo]*pcap.Writer
	now     time.Duration
	left    datapath.Output // by the last frame
	flows   []talk
}

// talk is a TCP connection that is opened and then goes to and fro.
type talk struct {
	client   packet.TCP
	server   packet.TCP
	port     openflow.PortNo // of the server
	sent     int             // frames so far
	question []byte
}

// makeTraffic writes captures with the given number of frames of so many connections to dir, a
// microsecond from one frame to the next.
func makeTraffic(t testing.TB, dir string, flows, frames int) replay.Node {
	n := stand(t)
	s, err := replay.NewSession(t.Context(), n)
	require.NoError(t, err)
	defer s.Close()
	g := &traffic{session: s, node: n, dir: dir, files: map[openflow.PortNo]*pcap.Writer{}}
	for i := range flows {
		g.flows = append(g.flows, newTalk(i))
	}
	for i := range frames {
		g.next(t, &g.flows[i%flows])
	}
	for _, w := range g.files {
		require.NoError(t, w.Close())
	}
	return n
}

// newTalk is the i-th of up to 200 clients, who use a port after the other.
func newTalk(i int) talk {
	return talk{
		client: packet.TCP{
			Eth:     packet.Ether{Src: packet.MAC{2, 0x42, 0xc0, 0xa8, 5, byte(30 + i%200)}, Dst: packet.MAC{2, 0x42, 0xc0, 0xa8, 5, 0x14}},
			IP:      packet.IP{Src: netip.AddrFrom4([4]byte{192, 168, 5, byte(30 + i%200)}), Dst: netip.AddrFrom4([4]byte{192, 168, 5, 21})},
			SrcPort: uint16(10000 + i/200), DstPort: 80, Seq: uint32(i), Window: 64240,
		},
		question: make([]byte, 60),
	}
}

// next sends the next frame of a connection: a handshake, then questions and answers.
func (g *traffic) next(t testing.TB, c *talk) {
	switch c.sent++; {
	case c.sent == 1:
		c.client.Flags = packet.SYN
		g.send(t, 1, c.client)
		c.meet(g.left)
	case c.sent == 2:
		c.server.Seq, c.server.Ack, c.server.Flags = 1000, c.client.Seq+1, packet.SYN|packet.ACK
		g.send(t, c.port, c.server)
	case c.sent == 3:
		c.client.Seq, c.client.Ack, c.client.Flags = c.client.Seq+1, c.server.Seq+1, packet.ACK
		c.server.Seq, c.server.Flags = c.server.Seq+1, packet.ACK
		g.send(t, 1, c.client)
	case c.sent%2 == 0:
		g.say(t, 1, &c.client, &c.server, c.question)
	default:
		g.say(t, c.port, &c.server, &c.client, c.question)
	}
}

// say sends a segment with a payload, which the other side is to acknowledge with its next one.
func (g *traffic) say(t testing.TB, port openflow.PortNo, from, to *packet.TCP, payload []byte) {
	m := *from
	m.Flags, m.Payload = packet.PSH|packet.ACK, payload
	g.send(t, port, m)
	from.Seq += uint32(len(payload))
	to.Ack = from.Seq
}

// meet learns from the frame that reached it who the server is.
func (c *talk) meet(o datapath.Output) {
	b := o.Frame
	c.port = o.Port
	c.server = packet.TCP{
		Eth:     packet.Ether{Src: packet.MAC(b[:6]), Dst: packet.MAC(b[6:12])},
		IP:      packet.IP{Src: netip.AddrFrom4([4]byte(b[30:34])), Dst: c.client.IP.Src},
		SrcPort: binary.BigEndian.Uint16(b[36:]), DstPort: c.client.SrcPort, Window: 64240,
	}
}

// send puts a frame into the capture of its port and through the switch.
func (g *traffic) send(t testing.TB, port openflow.PortNo, segment packet.TCP) {
	g.now += time.Microsecond
	rec := pcap.Record{Time: beginning.Add(g.now).UnixNano(), Data: segment.Bytes()}
	w := g.files[port]
	if w == nil {
		var err error
		w, err = pcap.Create(filepath.Join(g.dir, g.node.PortName(port)+".pcap"))
		require.NoError(t, err)
		g.files[port] = w
	}
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	count := 0
	g.session.Receive(replay.Frame{Port: port, Record: rec}, func(_ int64, o datapath.Output) {
		count++
		g.left = datapath.Output{Port: o.Port, Frame: append(g.left.Frame[:0], o.Frame...)}
	})
	if count != 1 {
		t.Fatalf("%d frames left because of %s", count, packet.Summary(rec.Data))
	}
}
