package model

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// stand is the reference example, to be spoilt.
func stand(t *testing.T) Topology {
	topology, err := Load("../examples/hpnn.yaml")
	require.NoError(t, err)
	return topology
}

// broken lists what can go wrong in a topology, whether it is built in Go or loaded.
var broken = []struct {
	name  string
	spoil func(*Topology)
	want  string
}{
	{"range", func(t *Topology) { t.Pools[0].Members[2].Weight = 250 },
		"pools[0].members[2].weight: 250 is out of range: use 0 to 100"},
	{"slots", func(t *Topology) { t.Pools[0].Slots = 3 },
		"pools[0].slots: 3 slots are too few for 4 members: use at least one slot for each member"},
	{"slots beyond multipath", func(t *Topology) { t.Pools[0].Slots = 65537 },
		"pools[0].slots: 65537 is out of range: use 1 to 65536"},
	{"reserved port", func(t *Topology) { t.Hosts[0].Port.Number = 65280 },
		"hosts[0].port.number: 65280 is out of range: use 1 to 65279"},
	{"timeout", func(t *Topology) { t.Pools[0].Health.Timeout = time.Minute },
		"pools[0].health.timeout: 1m is longer than the interval of 2s: use at most the interval"},
	{"unused field", func(t *Topology) { t.Pools[0].Health.Payload = "x" },
		"pools[0].health.payload: has no meaning for a monitor of type http: remove it or use type: udp"},
	{"long payload", func(t *Topology) {
		t.Pools[0].Health = HealthMonitor{Type: MonitorUDP, Interval: 1e9, Timeout: 1e9, Rise: 1, Fall: 1, Payload: strings.Repeat("x", 1025)}
	}, "pools[0].health.payload: has 1025 bytes: use at most 1024"},
	{"host elsewhere", func(t *Topology) { t.Hosts[2].Address = netip.MustParseAddr("10.30.0.77") },
		"hosts[2].address: 10.30.0.77 is outside the prefix of segment p2: use an address of 10.20.0.0/24"},
	{"IPv6", func(t *Topology) { t.Hosts[2].Address = netip.MustParseAddr("fd00::1") },
		"hosts[2].address: IPv6 is not yet supported: use an IPv4 address"},
	{"same MAC", func(t *Topology) { t.Hosts[1].MAC = t.Segments[0].Gateway.MAC },
		"hosts[1].mac: 02:42:c0:a8:05:14 is already segments[0].gateway.mac: give each interface its own MAC"},
	{"same port", func(t *Topology) { t.Hosts[1].Port.Number = 10 },
		"hosts[1].port.number: 10 is already hosts[0].port, be1: give each its own port"},
	{"bridge's own name", func(t *Topology) { t.Hosts[1].Port.Name = "br-lb" },
		"hosts[1].port.name: br-lb is already node.bridge: give each its own port"},
	{"VIP of the node", func(t *Topology) { t.Listeners[0].VIP = netip.MustParseAddr("192.168.5.20") },
		"listeners[0].vip: 192.168.5.20 is already segments[0].gateway.address: give the VIP an address of its own"},
	{"no pool", func(t *Topology) { t.Listeners[1].Pool = "webb" },
		`listeners[1].pool: there is no pool "webb": did you mean "web"?`},
	{"nothing served", func(t *Topology) { t.Listeners[1].Segments = nil },
		"listeners[1].segments: is empty: add at least one"},
	{"nameless segment served", func(t *Topology) { t.Listeners[1].Segments = []string{"p2", ""} },
		"listeners[1].segments[1]: is empty: write a name"},
	{"UDP", func(t *Topology) { t.Listeners[1].Protocol = UDP },
		"listeners[1].protocol: udp is not yet supported: use tcp"},
	{"members", func(t *Topology) { t.Pools[0].Members = nil },
		"pools[0].members: is empty: add at least one"},
	{"unrouted member", func(t *Topology) { t.Pools[0].Members[0].Address = netip.MustParseAddr("10.9.0.1") },
		"pools[0].members[0].address: 10.9.0.1 is the address of no host: declare a host with it, or a route to it"},
	{"unrouted router", func(t *Topology) {
		t.Routes = []Route{{netip.MustParsePrefix("10.9.0.0/16"), netip.MustParseAddr("10.20.0.9")}}
	}, "routes[0].via: no host has the address 10.20.0.9: declare the router under hosts with its MAC and port"},
	{"route into a segment", func(t *Topology) {
		t.Routes = []Route{{netip.MustParsePrefix("10.20.0.128/25"), t.Hosts[0].Address}}
	}, "routes[0].prefix: 10.20.0.128/25 lies in the prefix of segment p2: remove the route: the segment is attached directly"},
}

func TestRulesAreTheSameForFilesAndForGo(t *testing.T) {
	for _, test := range broken {
		t.Run(test.name, func(t *testing.T) {
			topology := stand(t)
			test.spoil(&topology)
			require.EqualError(t, Validate(topology), test.want)
			_, err := Parse("spoilt.yaml", topology.YAML())
			require.Error(t, err)
			faults := err.(Faults)
			require.Len(t, faults, 1, "%v", err)
			require.Positive(t, faults[0].Line)
			faults[0].File = ""
			require.EqualError(t, faults[0], test.want)
		})
	}
}

// TestRulesForGoAlone lists what a file cannot say.
func TestRulesForGoAlone(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(*Topology)
		want  []string
	}{
		{"enum", func(t *Topology) { t.Pools[0].Hash = 9 },
			[]string{"pools[0].hash: 9 is no hash: use tuple, source or symmetric_l4"}},
		{"kind", func(t *Topology) { t.Segments[1].Kind = 0 },
			[]string{"segments[1].kind: is missing: add kind:"}},
		{"negative duration", func(t *Topology) { t.Pools[0].Health.SlowInterval = -1 },
			[]string{"pools[0].health.slow_interval: -1ns is out of range: use 10ms to 1h"}},
		{"mapped address", func(t *Topology) { t.Hosts[2].Address = netip.MustParseAddr("::ffff:10.20.0.10") },
			[]string{"hosts[2].address: IPv6 is not yet supported: use an IPv4 address"}},
		{"multiline name", func(t *Topology) { t.Listeners[0].Name = "a\nb" },
			[]string{`listeners[0].name: "a\nb" is not a name: use up to 63 letters, digits, dots, dashes and underscores, ` +
				`the first a letter or digit`}},
		{"defaults not filled in", func(t *Topology) { t.Pools[0].Members[0] = Member{ID: 1, Host: "be1", Port: 8080, Weight: 1} },
			[]string{"pools[0].members[0].address: is missing: add address:", "pools[0].members[0].name: is missing: add name:"}},
		{"host not filled in", func(t *Topology) { t.Pools[0].Members[0].Host = "" },
			[]string{"pools[0].members[0].host: is missing: add host:"}},
	} {
		topology := stand(t)
		test.spoil(&topology)
		require.EqualError(t, Validate(topology), strings.Join(test.want, "\n"), test.name)
	}
}

func TestNothingIsWrongInManyWays(t *testing.T) {
	err := Validate(Topology{})
	require.EqualError(t, err, "node.name: is missing: add name:\nnode.bridge: is missing: add bridge:\nsegments: is empty: add at least one")
	require.ErrorAs(t, err, &Faults{})
}

func TestWithDefaultsFillsATopologyBuiltInGo(t *testing.T) {
	bare := Topology{
		Segments: []Segment{
			{Name: "pub", Kind: Public, Prefix: netip.MustParsePrefix("192.0.2.0/24"),
				Gateway: Gateway{Address: netip.MustParseAddr("192.0.2.1")}, Uplink: &Port{"eth0", 1}},
			{Name: "lan", Kind: Private, Prefix: netip.MustParsePrefix("10.0.0.0/24"),
				Gateway: Gateway{Address: netip.MustParseAddr("10.0.0.1")},
				Probe:   &Probe{Address: netip.MustParseAddr("10.0.0.253"), Port: Port{Number: 2}}},
		},
		Hosts: []Host{
			{Name: "web1", Segment: "lan", Address: netip.MustParseAddr("10.0.0.11"), MAC: MAC{2, 0, 0, 0, 0, 0x11}, Port: Port{Number: 11}},
			{Name: "web2", Segment: "lan", Address: netip.MustParseAddr("10.0.0.12"), MAC: MAC{2, 0, 0, 0, 0, 0x12}, Port: Port{Number: 12}},
		},
		Pools: []Pool{{Name: "web", Members: []Member{{Host: "web1", Port: 8080, Weight: 1}, {Host: "web2", Port: 8080, Weight: 1}}}},
		Listeners: []Listener{
			{Name: "web", VIP: netip.MustParseAddr("192.0.2.80"), Port: 80, Segments: []string{"pub"}, Pool: "web"}},
	}
	filled := WithDefaults(bare)
	require.NoError(t, Validate(filled))
	want, err := Load("../examples/minimal.yaml")
	require.NoError(t, err)
	require.Equal(t, want, filled)

	require.Zero(t, bare.Segments[0].ID, "the argument is left alone")
	require.Zero(t, bare.Segments[1].Probe.MAC)
	require.Zero(t, bare.Pools[0].Members[0].Address)
	require.Zero(t, bare.Hosts[0].Port.Name)
}

func TestWithDefaultsKeepsAWeightOfZero(t *testing.T) {
	topology := stand(t)
	topology.Pools[0].Members[1].Weight = 0
	require.Equal(t, 0, WithDefaults(topology).Pools[0].Members[1].Weight)
}

func TestListeningAndRoutingThatIsAllowed(t *testing.T) {
	for name, change := range map[string]func(*Topology){
		"a public VIP for private segments": func(t *Topology) { t.Listeners[0].Segments = []string{"p3", "pub", "p2"} },
		"two ports of a VIP": func(t *Topology) {
			second := t.Listeners[0]
			second.Name, second.Port = "public-8080", 8080
			t.Listeners = append(t.Listeners, second)
		},
		"a pool without listeners": func(t *Topology) { t.Listeners = nil },
		"no balancer at all":       func(t *Topology) { t.Listeners, t.Pools = nil, nil },
		"a host behind the uplink": func(t *Topology) {
			t.Hosts = append(t.Hosts, Host{"gw", "p2", netip.MustParseAddr("10.20.0.254"), MAC{2, 9}, Port{"p2", 2}},
				Host{"gw2", "p2", netip.MustParseAddr("10.20.0.252"), MAC{2, 8}, Port{"p2", 2}})
		},
		"a route around a segment": func(t *Topology) {
			t.Routes = []Route{{netip.MustParsePrefix("10.0.0.0/8"), t.Hosts[0].Address}, {netip.MustParsePrefix("0.0.0.0/0"), t.Hosts[1].Address}}
		},
		"a member in two pools": func(t *Topology) {
			second := t.Pools[0]
			second.ID, second.Name = 2, "second"
			t.Pools = append(t.Pools, second)
		},
		"a pool drained by weight": func(t *Topology) {
			t.Pools[0].Members = slices.Clone(t.Pools[0].Members[:1])
			t.Pools[0].Members[0].Weight = 0
		},
	} {
		topology := stand(t)
		change(&topology)
		require.NoError(t, Validate(topology), name)
	}
}
