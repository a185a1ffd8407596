package simhost_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
	"hpnn/testbed/simhost"
)

// spoof makes a SYN from the nth of many addresses that nobody has.
func spoof(to *simhost.Host, prefix byte, n int) []byte {
	return packet.TCP{
		Eth:     packet.Ether{Src: packet.MAC{2, 9, 9, 9, 9, 9}, Dst: to.MAC()},
		IP:      packet.IP{Src: netip.AddrFrom4([4]byte{prefix, byte(n >> 16), byte(n >> 8), byte(n)}), Dst: to.Address()},
		SrcPort: uint16(1024 + n), DstPort: 80, Seq: uint32(n), Flags: packet.SYN, Options: packet.MSS(1460),
	}.Bytes()
}

// TestFloodOfSYNs: a server that is flooded remembers no more than its backlog, and still
// serves: to those it cannot remember it gives cookies.
func TestFloodOfSYNs(t *testing.T) {
	b := newBed(t, simhost.Config{})
	server, err := b.Add(simhost.HostConfig{
		Name: "server", Port: 2, MAC: packet.MAC{2, 0, 0, 0, 0, 2}, Address: netip.MustParsePrefix("10.0.0.2/24"),
		Gateway: netip.MustParseAddr("10.0.0.1"), TCP: simhost.TCP{Backlog: 16},
		Neighbours: []simhost.Neighbour{{Address: netip.MustParseAddr("10.0.0.1"), MAC: packet.MAC{2, 0, 0, 0, 0, 1}}},
	})
	require.NoError(t, err)
	client := b.host("client", 3)
	_, err = server.ServeWeb(80)
	require.NoError(t, err)
	for i := range 1000 {
		b.Output(2, spoof(server, 77, i))
	}
	b.Advance(time.Millisecond)
	require.Len(t, server.Conns(), 16)
	for range 50 {
		r := client.Get("http://10.0.0.2/", simhost.GetOptions{}, nil)
		require.True(t, b.Until(r.Done, time.Second))
		require.NoError(t, r.Result().Err)
	}
	require.Empty(t, b.wrong)

	// An ACK that acknowledges no cookie is refused.
	forged := packet.TCP{
		Eth: packet.Ether{Dst: server.MAC()}, IP: packet.IP{Src: netip.MustParseAddr("77.0.0.1"), Dst: server.Address()},
		SrcPort: 9, DstPort: 80, Seq: 1, Ack: 2, Flags: packet.ACK,
	}
	before := server.Counters().ResetsOut
	b.Output(2, forged.Bytes())
	b.Advance(time.Millisecond)
	require.Equal(t, before+1, server.Counters().ResetsOut)

	// Two minutes later all is forgotten but what the clients left.
	b.Advance(2 * time.Minute)
	require.Empty(t, server.Conns())
}

// TestFloodOfNeighbours: whoever asks for us becomes a neighbour, but not without bound, and
// the true ones come back.
func TestFloodOfNeighbours(t *testing.T) {
	b := newBed(t, simhost.Config{})
	server, client := b.host("server", 2), b.host("client", 3)
	for i := range 5000 {
		sender := netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)})
		b.Output(2, packet.ARPRequest(packet.MAC{2, 9, 9, 9, 9, 9}, sender, server.Address()).Bytes())
		if i%100 == 0 {
			b.Advance(time.Millisecond)
		}
	}
	b.Advance(time.Millisecond)
	require.Len(t, server.NeighbourCache(), 1024)
	p := client.Ping(server.Address(), simhost.PingOptions{}, nil)
	b.Advance(time.Second)
	r, ok := p.Result()
	require.True(t, ok)
	require.NoError(t, r.Err)

	// Questions nobody answers fill it too, for three seconds.
	for i := range 5000 {
		client.Ping(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), simhost.PingOptions{}, nil)
	}
	b.Advance(time.Millisecond)
	require.LessOrEqual(t, len(client.NeighbourCache()), 1024)
	b.Advance(time.Minute)
	require.LessOrEqual(t, len(client.NeighbourCache()), 1)
}
