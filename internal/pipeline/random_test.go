package pipeline

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/model"
)

// A maker makes random topologies that are valid.
type maker struct {
	*rand.Rand
	t    model.Topology
	port uint32
}

// randomTopology returns a valid topology; the same one for the same seed.
func randomTopology(tb testing.TB, seed uint64) model.Topology {
	m := maker{Rand: rand.New(rand.NewPCG(seed, 1))}
	for i := range 1 + m.IntN(2) {
		m.segment(i, model.Public)
	}
	for i := range m.IntN(5) {
		m.segment(10+i, model.Private)
	}
	for i := range m.t.Segments {
		for j := range m.IntN(5) {
			m.host(m.t.Segments[i], j)
		}
	}
	m.routes()
	if len(m.t.Hosts) > 0 {
		for i := range m.IntN(6) {
			m.pool(i)
		}
	}
	for i := range m.t.Pools {
		for j := range m.IntN(5) {
			m.listener(i, j)
		}
	}
	t := model.WithDefaults(m.t)
	require.NoError(tb, model.Validate(t), "seed %d", seed)
	return t
}

// someTopologies calls test with many random topologies.
func someTopologies(t *testing.T, n int, test func(seed uint64, topology model.Topology)) {
	for seed := range uint64(n) {
		test(seed, randomTopology(t, seed))
	}
}

func (m *maker) next(name string) model.Port {
	m.port++
	return model.Port{Name: fmt.Sprintf("%s%d", name, m.port), Number: m.port}
}

func (m *maker) segment(i int, kind model.SegmentKind) {
	base := netip.AddrFrom4([4]byte{10, byte(i), 0, 0})
	s := model.Segment{
		ID: uint16(i + 1), Name: fmt.Sprintf("s%d", i), Kind: kind,
		Prefix:  netip.PrefixFrom(base, 16+m.IntN(9)),
		Gateway: model.Gateway{Address: netip.AddrFrom4([4]byte{10, byte(i), 0, 1})},
	}
	if kind == model.Public || m.IntN(2) == 0 {
		uplink := m.next("up")
		s.Uplink = &uplink
	}
	s.Probe = &model.Probe{Address: netip.AddrFrom4([4]byte{10, byte(i), 0, 253}), Port: m.next("hc")}
	m.t.Segments = append(m.t.Segments, s)
}

func (m *maker) host(s model.Segment, j int) {
	a := s.Gateway.Address.As4()
	a[3] = byte(10 + j)
	h := model.Host{
		Name: fmt.Sprintf("%sh%d", s.Name, j), Segment: s.Name, Address: netip.AddrFrom4(a),
		MAC: model.MAC{0x02, 0xbe, a[0], a[1], a[2], a[3]},
	}
	if s.Kind == model.Public || s.Uplink != nil && m.IntN(4) == 0 {
		h.Port = *s.Uplink
	} else {
		h.Port = m.next("vm")
	}
	m.t.Hosts = append(m.t.Hosts, h)
}

// routes are prefixes that may lie in one another, and around segments.
func (m *maker) routes() {
	some := []string{"0.0.0.0/0", "10.0.0.0/8", "172.16.0.0/12", "172.16.0.0/16", "172.16.5.0/24", "172.16.5.7/32", "203.0.113.0/24"}
	for _, prefix := range some {
		if len(m.t.Hosts) > 0 && m.IntN(2) == 0 {
			via := m.t.Hosts[m.IntN(len(m.t.Hosts))].Address
			m.t.Routes = append(m.t.Routes, model.Route{Prefix: netip.MustParsePrefix(prefix), Via: via})
		}
	}
}

func (m *maker) pool(i int) {
	p := model.Pool{
		ID: uint16(1 + i*7), Name: fmt.Sprintf("p%d", i), Slots: uint32(8 + m.IntN(60)), Hash: model.Hash(m.IntN(3)),
		Algorithm: model.Algorithm(m.IntN(2)), NoLiveMember: model.Policy(m.IntN(3)),
	}
	used := map[string]bool{}
	for j := range 1 + m.IntN(5) {
		h := m.t.Hosts[m.IntN(len(m.t.Hosts))]
		a, name := h.Address, h.Name
		if far := netip.AddrFrom4([4]byte{172, 16, 5, byte(m.IntN(9))}); m.IntN(4) == 0 {
			if hop, ok := m.t.NextHop(far); ok {
				a, name = far, hop.Name
			}
		}
		member := model.Member{
			ID: uint16(j*3 + 1), Name: fmt.Sprintf("m%d", j), Host: name, Address: a,
			Port: uint16(80 + m.IntN(3)), Weight: m.IntN(6), Admin: model.AdminState(m.IntN(5) / 4),
		}
		if !used[member.Key()] {
			used[member.Key()] = true
			p.Members = append(p.Members, member)
		}
	}
	m.t.Pools = append(m.t.Pools, p)
}

func (m *maker) listener(i, j int) {
	home := m.t.Segments[m.IntN(len(m.t.Segments))]
	a := home.Gateway.Address.As4()
	a[3] = byte(100 + m.IntN(3))
	l := model.Listener{
		Name: fmt.Sprintf("l%d-%d", i, j), VIP: netip.AddrFrom4(a), Port: uint16(1000 + 10*i + j),
		Segments: []string{home.Name}, Pool: m.t.Pools[i].Name,
	}
	for _, s := range m.t.Segments {
		if home.Kind == model.Public && s.Kind == model.Private && m.IntN(2) == 0 {
			l.Segments = append(l.Segments, s.Name)
		}
	}
	for _, member := range m.t.Pools[i].Members {
		hop, _ := m.t.Host(member.Host)
		s, _ := m.t.Segment(hop.Segment)
		for _, name := range l.Segments {
			if name == s.Name && s.Uplink != nil && *s.Uplink == hop.Port {
				return // answers would not pass the node
			}
		}
	}
	m.t.Listeners = append(m.t.Listeners, l)
}
