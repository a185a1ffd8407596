package model

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func windowsNewlines(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

func TestValidTopologiesSurvivePrinting(t *testing.T) {
	for seed := range uint64(300) {
		want := randomTopology(rand.New(rand.NewPCG(seed, 1)))
		require.NoError(t, Validate(want), "seed %d\n%s", seed, want.YAML())
		got, err := Parse("", want.YAML())
		require.NoError(t, err, "seed %d\n%s", seed, want.YAML())
		require.Equal(t, want, got, "seed %d\n%s", seed, want.YAML())
		require.Equal(t, want.YAML(), got.YAML())
	}
}

// FuzzParse is best run with -fuzzminimizetime 5x: shortening what it finds takes far longer than finding it.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/faults/*.yaml")
	require.NoError(f, err)
	for _, file := range append(files, examples(f)...) {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Parse("f", data)
		if err != nil {
			requireUsable(t, data, err)
			return
		}
		require.NoError(t, Validate(got))
		again, err := Parse("again", got.YAML())
		require.NoError(t, err, "%s", got.YAML())
		require.Equal(t, got, again)
	})
}

// requireUsable checks what every list of faults promises.
func requireUsable(t *testing.T, data []byte, err error) {
	faults, ok := err.(Faults)
	require.True(t, ok)
	require.NotEmpty(t, faults)
	require.Len(t, strings.Split(err.Error(), "\n"), len(faults), "one line each")
	lines := strings.Count(string(data), "\n") + strings.Count(string(data), "\r") + 1
	last := Fault{}
	for _, fault := range faults {
		require.Equal(t, "f", fault.File)
		require.NotEmpty(t, fault.Problem)
		require.NotEmpty(t, fault.Remedy)
		require.Positive(t, fault.Column)
		require.GreaterOrEqual(t, fault.Line, max(last.Line, 1))
		require.LessOrEqual(t, fault.Line, lines)
		last = fault
	}
}

// randomTopology makes a valid topology that uses any part of the model.
func randomTopology(r *rand.Rand) Topology {
	g := &generator{Rand: r}
	t := Topology{Node: Node{Name: g.name("node"), Bridge: "br0"}}
	for i := range 1 + r.IntN(4) {
		t.Segments = append(t.Segments, g.segment(i))
	}
	for _, s := range t.Segments {
		for i := range r.IntN(6) {
			t.Hosts = append(t.Hosts, g.host(s, i))
		}
	}
	for i, h := range t.Hosts {
		if r.IntN(4) == 0 {
			t.Routes = append(t.Routes, Route{Prefix: netip.PrefixFrom(netip.AddrFrom4([4]byte{172, byte(i), 0, 0}), 17+r.IntN(8)), Via: h.Address})
		}
	}
	for i := range r.IntN(4) {
		if p, ok := g.pool(t, i); ok {
			t.Pools = append(t.Pools, p)
		}
	}
	for _, p := range t.Pools {
		t.Listeners = append(t.Listeners, g.listeners(t, p)...)
	}
	return t
}

// A generator numbers what has to be unique.
type generator struct {
	*rand.Rand
	count int
}

func (g *generator) next() int {
	g.count++
	return g.count
}

// name returns a name that is unique and may need quotes.
func (g *generator) name(kind string) string {
	return fmt.Sprintf([]string{"%s-%d", "%[2]d", "%[2]d.%[2]d", "%[2]de%[2]d", "%s_%d"}[g.IntN(5)], kind, g.next())
}

func (g *generator) mac() MAC {
	n := g.next()
	return MAC{byte(g.IntN(128)) * 2, byte(g.IntN(256)), 10, 20, byte(n >> 8), byte(n)}
}

func (g *generator) port() Port {
	n := g.next()
	return Port{Name: fmt.Sprintf("port%d", n), Number: uint32(60000 + n)}
}

// segment makes 10.i.0.0/16../24: gateway .1, probe .2, hosts from .3, VIPs from .100.
func (g *generator) segment(i int) Segment {
	at := func(last byte) netip.Addr { return netip.AddrFrom4([4]byte{10, byte(i), 0, last}) }
	s := Segment{ID: uint16(1 + g.IntN(60000)*4 + i), Name: g.name("seg"), Kind: Private,
		Prefix: netip.PrefixFrom(at(0), 16+g.IntN(9)), Gateway: Gateway{at(1), g.mac()}}
	if g.IntN(2) == 0 {
		s.Kind = Public
	}
	if p := g.port(); s.Kind == Public || g.IntN(2) == 0 {
		s.Uplink = &p
	}
	if g.IntN(3) > 0 {
		s.Probe = &Probe{at(2), g.mac(), g.port()}
	}
	return s
}

func (g *generator) host(s Segment, i int) Host {
	b := s.Gateway.Address.As4()
	b[3] = byte(3 + i)
	h := Host{Name: g.name("host"), Segment: s.Name, Address: netip.AddrFrom4(b), MAC: g.mac(), Port: g.port()}
	if s.Kind == Public {
		h.Port = *s.Uplink
	}
	return h
}

// pool makes a pool of what can be a member: hosts with ports of their own, and what lies behind them.
func (g *generator) pool(t Topology, i int) (Pool, bool) {
	p := Pool{ID: uint16(1 + g.IntN(20000)*3 + i), Name: g.name("pool"), Slots: uint32(64 + g.IntN(65473)),
		Hash: Hash(g.IntN(3)), Algorithm: Algorithm(g.IntN(2)), NoLiveMember: Policy(g.IntN(3)), Health: g.health()}
	for _, h := range t.Hosts {
		s, _ := t.Segment(h.Segment)
		if s.Kind == Public || s.Probe == nil && p.Health.Type != MonitorNone {
			continue
		}
		p.Members = append(p.Members, g.member(h, h.Address))
		for _, route := range t.Routes {
			if route.Via == h.Address {
				p.Members = append(p.Members, g.member(h, route.Prefix.Addr().Next()))
			}
		}
	}
	return p, len(p.Members) > 0
}

func (g *generator) member(h Host, a netip.Addr) Member {
	return Member{ID: uint16(g.next()), Name: g.name("member"), Host: h.Name, Address: a, Port: uint16(1 + g.IntN(65535)),
		Weight: g.IntN(101), Admin: AdminState(g.IntN(2))}
}

func (g *generator) health() HealthMonitor {
	h := HealthMonitor{Type: MonitorType(g.IntN(6))}
	if h.Type == MonitorNone {
		return h
	}
	h.Timeout = time.Duration(10+g.IntN(5000)) * time.Millisecond
	h.Interval = h.Timeout + time.Duration(g.IntN(90_000_000))*time.Microsecond
	h.Rise, h.Fall, h.Initial = 1+g.IntN(255), 1+g.IntN(255), InitialState(g.IntN(3))
	if g.IntN(2) == 0 {
		h.FastInterval, h.SlowInterval = h.Timeout, h.Interval+time.Duration(g.IntN(120))*time.Second
	}
	switch h.Type {
	case MonitorHTTP, MonitorHTTPS:
		h.Path = []string{"/", "/healthz", "/a'b?c={d}&e=[f]:", "/,%20-"}[g.IntN(4)]
		h.HostHeader = []string{"", "example.org", "10.0.0.1:80", "1"}[g.IntN(4)]
		h.Expect.From = 100 + g.IntN(500)
		h.Expect.To = h.Expect.From + g.IntN(600-h.Expect.From)
		h.BodyLimit = 1 + g.IntN(1<<20)
	case MonitorUDP:
		h.Payload, h.Reply = g.bytes(), g.bytes()
	}
	return h
}

func (g *generator) bytes() string {
	b := make([]byte, g.IntN(20))
	for i := range b {
		b[i] = byte(g.IntN(256))
	}
	return string(b)
}

// listeners serves a pool in some segments: a public VIP with guests, or a private one.
func (g *generator) listeners(t Topology, p Pool) []Listener {
	var all []Listener
	for _, s := range t.Segments {
		b := s.Gateway.Address.As4()
		b[3] = byte(100 + g.IntN(50))
		l := Listener{Name: g.name("listener"), VIP: netip.AddrFrom4(b), Port: uint16(1000 + g.next()),
			Segments: []string{s.Name}, Pool: p.Name}
		for _, guest := range t.Segments {
			if s.Kind == Public && guest.Name != s.Name && g.IntN(2) == 0 {
				l.Segments = append(l.Segments, guest.Name)
			}
		}
		all = append(all, l)
	}
	return all
}
