package model

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSpoiltTopologiesHaveTheSameFaultsAsFiles spoils valid topologies at random and compares the two ways to the rules: on the
// value itself, and on the file it prints to, where each fault also has to have a place.
func TestSpoiltTopologiesHaveTheSameFaultsAsFiles(t *testing.T) {
	spoilt := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 2))
		topology := randomTopology(r)
		for range 1 + r.IntN(3) {
			spoil(r, &topology)
		}
		want, _ := Validate(topology).(Faults)
		_, err := Parse("", topology.YAML())
		got, _ := err.(Faults)
		for i := range got {
			require.Positive(t, got[i].Line)
			got[i].Line, got[i].Column = 0, 0
		}
		require.ElementsMatch(t, want, got, "seed %d\n%s", seed, topology.YAML())
		spoilt += min(len(want), 1)
	}
	require.Greater(t, spoilt, 300, "most of them are wrong in some way")
}

// spoil changes one field to a value that may not fit, but can be written in a file.
func spoil(r *rand.Rand, t *Topology) {
	addresses, macs, ports := all(t)
	switch r.IntN(7) {
	case 0:
		*addresses[r.IntN(len(addresses))] = *addresses[r.IntN(len(addresses))]
	case 1:
		*addresses[r.IntN(len(addresses))] = netip.AddrFrom4([4]byte{byte(r.IntN(256)), byte(r.IntN(3)), 0, byte(r.IntN(256))})
	case 2:
		*macs[r.IntN(len(macs))] = MAC{byte(r.IntN(4)), 1, 2, 3, 4, byte(r.IntN(3))}
	case 3:
		*ports[r.IntN(len(ports))] = *ports[r.IntN(len(ports))]
	case 4:
		ports[r.IntN(len(ports))].Number = uint32(r.IntN(70000))
	case 5:
		s := &t.Segments[r.IntN(len(t.Segments))]
		s.Prefix = netip.PrefixFrom(s.Prefix.Addr(), r.IntN(33))
		s.ID = uint16(r.IntN(4))
	case 6:
		spoilPool(r, t)
	}
}

func spoilPool(r *rand.Rand, t *Topology) {
	if len(t.Pools) == 0 {
		return
	}
	p := &t.Pools[r.IntN(len(t.Pools))]
	m := &p.Members[r.IntN(len(p.Members))]
	switch r.IntN(6) {
	case 0:
		p.Slots = uint32(r.IntN(3))
	case 1:
		m.Weight = r.IntN(300) - 100
	case 2:
		m.Port, m.ID = uint16(r.IntN(2)), uint16(r.IntN(3))
	case 3:
		m.Host = []string{"nobody", t.Hosts[r.IntN(len(t.Hosts))].Name}[r.IntN(2)]
	case 4:
		p.Health.Interval = time.Duration(1+r.IntN(5000)) * time.Millisecond
	case 5:
		i := r.IntN(len(t.Listeners))
		t.Listeners[i].Segments = append(slices.Clone(t.Listeners[i].Segments), []string{"nowhere", t.Segments[0].Name}[r.IntN(2)])
		t.Listeners[i].Pool = []string{"nothing", p.Name}[r.IntN(2)]
	}
}

// all returns what a topology has of addresses, MACs and ports.
func all(t *Topology) (addresses []*netip.Addr, macs []*MAC, ports []*Port) {
	for i := range t.Segments {
		s := &t.Segments[i]
		addresses, macs = append(addresses, &s.Gateway.Address), append(macs, &s.Gateway.MAC)
		if s.Probe != nil {
			addresses, macs, ports = append(addresses, &s.Probe.Address), append(macs, &s.Probe.MAC), append(ports, &s.Probe.Port)
		}
		if s.Uplink != nil {
			ports = append(ports, s.Uplink)
		}
	}
	for i := range t.Hosts {
		h := &t.Hosts[i]
		addresses, macs, ports = append(addresses, &h.Address), append(macs, &h.MAC), append(ports, &h.Port)
	}
	for i := range t.Listeners {
		addresses = append(addresses, &t.Listeners[i].VIP)
	}
	if len(ports) == 0 {
		ports = append(ports, new(Port))
	}
	return addresses, macs, ports
}
