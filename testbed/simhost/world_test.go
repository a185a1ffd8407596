package simhost_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

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

// hostConfig is a host 10.0.0.n/24 on port n.
func hostConfig(name string, n byte) simhost.HostConfig {
	return simhost.HostConfig{
		Name: name, Port: uint32(n), MAC: packet.MAC{2, 0, 0, 0, 0, n},
		Address: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, n}), 24),
	}
}

// host adds a host 10.0.0.n/24 on port n.
func (b *bed) host(name string, n byte) *simhost.Host {
	b.t.Helper()
	c := hostConfig(name, n)
	c.TCP = b.tcp
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
