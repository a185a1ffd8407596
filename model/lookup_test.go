package model

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLookups(t *testing.T) {
	topology, err := Load("../examples/two-pools.yaml")
	require.NoError(t, err)

	segment, ok := topology.Segment("lan")
	require.True(t, ok)
	require.Equal(t, uint16(2), segment.ID)
	_, ok = topology.Segment("LAN")
	require.False(t, ok)

	host, ok := topology.Host("large")
	require.True(t, ok)
	require.Equal(t, netip.MustParseAddr("10.1.0.13"), host.Address)
	_, ok = topology.Host("")
	require.False(t, ok)

	pool, ok := topology.Pool("chat")
	require.True(t, ok)
	require.Equal(t, Source, pool.Hash)
	require.Equal(t, "10.2.0.20:5222", pool.Members[1].Key())
	require.Equal(t, "inner", pool.Members[1].Host)
	_, ok = topology.Pool("none")
	require.False(t, ok)

	host, ok = topology.HostAt(netip.MustParseAddr("10.1.0.12"))
	require.True(t, ok)
	require.Equal(t, "medium", host.Name)
	_, ok = topology.HostAt(netip.MustParseAddr("10.1.0.1"))
	require.False(t, ok, "the node is no host")
}

func TestNextHop(t *testing.T) {
	topology, err := Load("../examples/two-pools.yaml")
	require.NoError(t, err)
	for _, test := range []struct{ to, segment, via string }{
		{"10.1.0.11", "lan", "small"},
		{"10.1.0.99", "lan", ""},  // a neighbour nobody declared
		{"10.1.0.100", "lan", ""}, // a VIP
		{"10.2.7.7", "", "inner"}, // the longer prefix
		{"8.8.8.8", "", "isp"},
		{"198.51.100.1", "pub", "isp"},
	} {
		segment, ok := topology.SegmentOf(netip.MustParseAddr(test.to))
		require.Equal(t, test.segment != "", ok, test.to)
		require.Equal(t, test.segment, segment.Name, test.to)
		host, ok := topology.NextHop(netip.MustParseAddr(test.to))
		require.Equal(t, test.via != "", ok, test.to)
		require.Equal(t, test.via, host.Name, test.to)
	}
	topology.Routes = topology.Routes[1:]
	_, ok := topology.NextHop(netip.MustParseAddr("8.8.8.8"))
	require.False(t, ok, "no default route")
}

func TestTheLongestPrefixWinsInEitherOrder(t *testing.T) {
	wide := Segment{Name: "wide", Prefix: netip.MustParsePrefix("10.0.0.0/8")}
	narrow := Segment{Name: "narrow", Prefix: netip.MustParsePrefix("10.1.0.0/16")}
	for _, segments := range [][]Segment{{wide, narrow}, {narrow, wide}} {
		got, ok := Topology{Segments: segments}.SegmentOf(netip.MustParseAddr("10.1.2.3"))
		require.True(t, ok)
		require.Equal(t, "narrow", got.Name)
	}
}

func TestPortsAreSortedAndSharedOnesComeOnce(t *testing.T) {
	topology, err := Load("../examples/two-pools.yaml")
	require.NoError(t, err)
	require.Equal(t, []Port{{"eth0", 1}, {"hcif-lan", 2}, {"small", 11}, {"medium", 12}, {"large", 13}, {"inner", 14}}, topology.Ports())
	require.Empty(t, Topology{}.Ports())
}

// TestTheDirectoryAgreesWithTheTopology compares the maps that rules use with the plain lookups.
func TestTheDirectoryAgreesWithTheTopology(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		topology := randomTopology(r)
		spoil(r, &topology) // so that addresses come twice
		directory := newDirectory(&topology)
		for _, h := range topology.Hosts {
			want, _ := topology.Host(h.Name)
			require.Equal(t, want, directory.hosts[h.Name])
			want, _ = topology.HostAt(h.Address)
			require.Equal(t, want, directory.hostsAt[h.Address])
		}
		for _, s := range topology.Segments {
			want, _ := topology.Segment(s.Name)
			require.Equal(t, want, directory.segments[s.Name])
		}
		for range 50 {
			addr := netip.AddrFrom4([4]byte{[]byte{10, 172}[r.IntN(2)], byte(r.IntN(6)), byte(r.IntN(2)), byte(r.IntN(10))})
			want, wantOK := topology.NextHop(addr)
			got, ok := directory.nextHop(addr)
			require.Equal(t, wantOK, ok, addr)
			require.Equal(t, want, got, addr)
		}
	}
}
