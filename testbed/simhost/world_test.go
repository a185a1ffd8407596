package simhost_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
	"hpnn/testbed/simhost"
)

// bed is a world with its log, for tests.
type bed struct {
	*simhost.World
	t     testing.TB
	log   []string
	tcp   simhost.TCP       // of hosts added
	known []byte            // stations that they need not ask for
	sent  map[uint16]uint32 // last initial sequence number by local port
	wrong []string          // frames with wrong checksums
}

func newBed(t testing.TB, c simhost.Config) *bed {
	b := &bed{t: t, sent: map[uint16]uint32{}}
	c.Log = func(e simhost.Entry) {
		if e.Fate == simhost.Sent {
			b.noteISN(e.Frame)
		}
		b.log = append(b.log, e.String())
		if err := packet.Verify(e.Frame); err != nil && e.Fate == simhost.Sent {
			b.wrong = append(b.wrong, fmt.Sprintf("%s: %v", e, err))
		}
	}
	b.World = simhost.New(c)
	return b
}

// host adds a host 10.0.0.n/24 on port n.
func (b *bed) host(name string, n byte) *simhost.Host {
	b.t.Helper()
	c := simhost.HostConfig{
		Name:    name,
		Port:    uint32(n),
		MAC:     packet.MAC{2, 0, 0, 0, 0, n},
		Address: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, n}), 24),
		TCP:     b.tcp,
	}
	for _, other := range b.known {
		c.Neighbours = append(c.Neighbours, simhost.Neighbour{
			Address: netip.AddrFrom4([4]byte{10, 0, 0, other}), MAC: packet.MAC{2, 0, 0, 0, 0, other},
		})
	}
	h, err := b.Add(c)
	require.NoError(b.t, err)
	return h
}

func addrPort(h *simhost.Host, port uint16) netip.AddrPort {
	return netip.AddrPortFrom(h.Address(), port)
}

func (b *bed) text() string { return strings.Join(b.log, "\n") }

func TestSmoke(t *testing.T) {
	b := newBed(t, simhost.Config{})
	be, cli := b.host("be1", 2), b.host("cli", 10)
	web, err := be.ServeWeb(8080)
	require.NoError(t, err)
	r := cli.Get("http://10.0.0.2:8080/", simhost.GetOptions{}, nil)
	b.Advance(time.Second)
	t.Log("\n" + b.text())
	t.Log(r, r.Result().Total)
	t.Log(web, be, cli, be.Counters())
	require.True(t, r.Done())
	require.Empty(t, b.wrong)
	r = cli.Get("http://10.0.0.2:8080/slow?seconds=5", simhost.GetOptions{}, nil)
	b.Until(r.Done, time.Minute)
	t.Log(r, r.Result().Total)
	var p simhost.PingResult
	cli.Ping(be.Address(), simhost.PingOptions{}, func(r simhost.PingResult) { p = r })
	b.Advance(time.Second)
	t.Log(p)
}

func BenchmarkHTTP(b *testing.B) {
	w := simhost.New(simhost.Config{})
	add := func(n byte) *simhost.Host {
		h, err := w.Add(simhost.HostConfig{Name: fmt.Sprint("h", n), Port: uint32(n), MAC: packet.MAC{2, 0, 0, 0, 0, n}, Address: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, n}), 24)})
		require.NoError(b, err)
		return h
	}
	be, cli := add(2), add(3)
	_, err := be.ServeWeb(8080)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		r := cli.Get("http://10.0.0.2:8080/", simhost.GetOptions{}, nil)
		if !w.Until(r.Done, time.Minute) || r.Result().Err != nil {
			b.Fatal(r)
		}
	}
}
