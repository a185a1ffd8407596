package testbed

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"hpnn/internal/packet"
	"hpnn/model"
	"hpnn/testbed/simhost"
)

// Stand is the machines of a topology: its hosts, of which members serve HTTP on their ports; the
// node's own kernel behind each probe port; and, behind each uplink, the world beyond: a client in
// a public segment, the provider's gateway in a private one.
type Stand struct {
	World    *simhost.World
	Topology model.Topology
	Webs     map[string]*simhost.Web // by host; the first of each
	webs     map[service]*simhost.Web
	Probes   map[netip.Addr]*simhost.Host // by probe address
}

// Names of the machines that a topology does not declare. Where there are several segments of a
// kind, the segment's name follows: "client-pub2".
const (
	clientName  = "client"
	gatewayName = "gw"
	probeName   = "probe"
)

// NewStand puts the machines of a valid topology into a world.
func NewStand(t model.Topology, w *simhost.World) (*Stand, error) {
	s := &Stand{World: w, Topology: t, Webs: map[string]*simhost.Web{}, webs: map[service]*simhost.Web{}, Probes: map[netip.Addr]*simhost.Host{}}
	for _, segment := range t.Segments {
		if err := s.beyond(segment); err != nil {
			return nil, err
		}
	}
	for _, h := range t.Hosts {
		if err := s.host(h); err != nil {
			return nil, err
		}
	}
	return s, s.serve()
}

// host adds a declared host. It reaches other segments through the node, and the rest of the world
// through its segment's provider, past the node.
func (s *Stand) host(h model.Host) error {
	segment, _ := s.Topology.Segment(h.Segment)
	c := simhost.HostConfig{
		Name: h.Name, Port: h.Port.Number, MAC: packet.MAC(h.MAC),
		Address: netip.PrefixFrom(h.Address, segment.Prefix.Bits()), Routes: s.routes(segment),
	}
	if segment.Kind == model.Private && segment.Uplink != nil {
		c.Gateway = beyondAddress(s.Topology, segment, gatewayHost)
	}
	_, err := s.World.Add(c)
	return err
}

// routes are those to the other segments, by the node.
func (s *Stand) routes(from model.Segment) (routes []simhost.Route) {
	for _, other := range s.Topology.Segments {
		if other.ID != from.ID {
			routes = append(routes, simhost.Route{Prefix: other.Prefix, Via: from.Gateway.Address})
		}
	}
	return routes
}

// Where machines beyond an uplink have their addresses, from the start or the end of the prefix.
const (
	clientHost  = 13
	gatewayHost = -2
)

// beyondAddress is a free address of the segment, the nth or the next that is free.
func beyondAddress(t model.Topology, s model.Segment, n int) netip.Addr {
	first, size := s.Prefix.Addr().As4(), 1<<(32-s.Prefix.Bits())
	base := uint32(first[0])<<24 | uint32(first[1])<<16 | uint32(first[2])<<8 | uint32(first[3])
	for i := range size {
		at := uint32((n+i+size)%size) + base
		a := netip.AddrFrom4([4]byte{byte(at >> 24), byte(at >> 16), byte(at >> 8), byte(at)})
		if at != base && at != base+uint32(size)-1 && free(t, a) {
			return a
		}
	}
	return netip.Addr{}
}

func free(t model.Topology, a netip.Addr) bool {
	for _, s := range t.Segments {
		if s.Gateway.Address == a || s.Probe != nil && s.Probe.Address == a {
			return false
		}
	}
	_, host := t.HostAt(a)
	vip := slices.ContainsFunc(t.Listeners, func(l model.Listener) bool { return l.VIP == a })
	return !host && !vip
}

// beyond adds what a topology does not declare of a segment: the machine at its uplink and the
// node's kernel at its probe port.
func (s *Stand) beyond(segment model.Segment) error {
	if p := segment.Probe; p != nil {
		h, err := s.World.Add(simhost.HostConfig{
			Name: s.name(probeName, segment), Port: p.Port.Number, MAC: packet.MAC(p.MAC),
			Address: netip.PrefixFrom(p.Address, segment.Prefix.Bits()), Neighbours: s.neighbours(segment),
			Routes: s.onward(segment),
		})
		if err != nil {
			return err
		}
		s.Probes[p.Address] = h
	}
	if segment.Uplink == nil {
		return nil
	}
	kind, n := gatewayName, gatewayHost
	var routes []simhost.Route
	if segment.Kind == model.Public {
		kind, n, routes = clientName, clientHost, s.routes(segment)
	}
	a := beyondAddress(s.Topology, segment, n)
	if !a.IsValid() {
		return fmt.Errorf("add %s of segment %s: no address is free in %s", kind, segment.Name, segment.Prefix)
	}
	_, err := s.World.Add(simhost.HostConfig{
		Name: s.name(kind, segment), Port: segment.Uplink.Number, MAC: macOf(a),
		Address: netip.PrefixFrom(a, segment.Prefix.Bits()), Routes: routes,
	})
	return err
}

// onward are the static routes by way of a host of the segment, as the node's kernel has them.
func (s *Stand) onward(segment model.Segment) (routes []simhost.Route) {
	for _, r := range s.Topology.Routes {
		if segment.Prefix.Contains(r.Via) {
			routes = append(routes, simhost.Route{Prefix: r.Prefix, Via: r.Via})
		}
	}
	return routes
}

// neighbours are the static entries of the node's kernel: probes need not ask.
func (s *Stand) neighbours(segment model.Segment) (all []simhost.Neighbour) {
	for _, h := range s.Topology.Hosts {
		if h.Segment == segment.Name {
			all = append(all, simhost.Neighbour{Address: h.Address, MAC: packet.MAC(h.MAC)})
		}
	}
	return all
}

// name is the kind alone for the first segment that has one, and with the segment's name for others
// and for probes.
func (s *Stand) name(kind string, segment model.Segment) string {
	if kind == clientName && s.World.Host(clientName) == nil {
		return clientName
	}
	return kind + "-" + segment.Name
}

// macOf makes an Ethernet address as Docker does: 02:42 and the IPv4 address.
func macOf(a netip.Addr) packet.MAC {
	b := a.As4()
	return packet.MAC{0x02, 0x42, b[0], b[1], b[2], b[3]}
}

// serve starts the web servers of members.
func (s *Stand) serve() error {
	served := map[service]bool{}
	for _, p := range s.Topology.Pools {
		for _, m := range p.Members {
			host, err := s.memberHost(m)
			if err != nil {
				return fmt.Errorf("start member %s: %w", m.Name, err)
			}
			at := service{host.Name(), m.Port}
			if !served[at] {
				web, err := host.ServeWeb(m.Port)
				if err != nil {
					return fmt.Errorf("start member %s: %w", m.Name, err)
				}
				served[at] = true
				s.webs[at] = web
				if s.Webs[host.Name()] == nil {
					s.Webs[host.Name()] = web
				}
			}
			s.answer(s.webs[at], p.Health)
		}
	}
	return nil
}

// service is a port of a host.
type service struct {
	host string
	port uint16
}

// answer lets a server say at the monitor's path what it says at /healthz.
func (s *Stand) answer(web *simhost.Web, m model.HealthMonitor) {
	path, _, _ := strings.Cut(m.Path, "?")
	if path == "" || path == "/" || path == "/healthz" || path == "/slow" {
		return
	}
	web.Handle(path, func(x *simhost.Exchange) {
		if web.Health() == simhost.Unhealthy {
			x.Reply(http.StatusServiceUnavailable, "unhealthy\n")
			return
		}
		x.Reply(http.StatusOK, "ok\n")
	})
}

// memberHost is the host of a member. One behind a route is added at the port of its next hop, whose
// MAC its frames bear; every address is beyond that router for it.
func (s *Stand) memberHost(m model.Member) (*simhost.Host, error) {
	for _, h := range s.World.Hosts() {
		if h.Address() == m.Address {
			return h, nil
		}
	}
	hop, ok := s.Topology.NextHop(m.Address)
	if !ok {
		return nil, fmt.Errorf("no declared host has its address %s or is the way to it", m.Address)
	}
	segment, _ := s.Topology.Segment(hop.Segment)
	route, _ := s.Topology.RouteTo(m.Address)
	gateway := beyondAddress(s.Topology, model.Segment{Prefix: route.Prefix}, 1)
	name := m.Name
	if s.World.Host(name) != nil {
		name = m.Address.String()
	}
	return s.World.Add(simhost.HostConfig{
		Name: name, Port: hop.Port.Number, MAC: packet.MAC(hop.MAC),
		Address: netip.PrefixFrom(m.Address, route.Prefix.Bits()), Gateway: gateway,
		Neighbours: []simhost.Neighbour{{Address: gateway, MAC: packet.MAC(segment.Gateway.MAC)}},
	})
}

// Clients lists the hosts that are no members and no part of the node, in the order they were added.
func (s *Stand) Clients() (names []string) {
	for _, h := range s.World.Hosts() {
		if s.Webs[h.Name()] == nil && s.Probes[h.Address()] != h {
			names = append(names, h.Name())
		}
	}
	return names
}
