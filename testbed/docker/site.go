package docker

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"hpnn/model"
)

// Role is what a machine of the stand does.
type Role uint8

// The roles.
const (
	Client  Role = iota // asks
	Backend             // serves a member of a pool
	Gateway             // is the provider's way out, behind the uplink of a private segment
)

// Machine is a container of the stand other than the node.
type Machine struct {
	Name      string // the service's name in Compose
	Container string
	Role      Role
	Segment   string
	Port      model.Port // of the node's bridge
	MAC       model.MAC
	Address   netip.Prefix // with the length of the segment's prefix
	Serves    []uint16     // a backend's TCP ports
	Healthy   []string     // the paths at which it tells its health, besides /healthz
	Routes    []Route
}

// Route is a static route of a machine. An invalid To is the default route.
type Route struct {
	To  netip.Prefix
	Via netip.Addr
}

// prefix is that of the names of all containers but the node's.
const prefix = "hpnn-"

// publicClient is the client behind the uplink of the first public segment.
const publicClient = "client"

const (
	clientHost  = 13  // the last number of the client's address in a public segment
	gatewayHost = 254 // and of the provider's gateway in a private one
)

// Site lists the machines of a valid topology: its hosts, in its order, then one behind each uplink.
//
// Backends follow profile A: the other segments are behind the node, everything else is behind the provider's gateway.
// Clients of private segments have no route at all: they reach the VIP of their own segment only. The client of a public
// segment knows the private ones behind the node.
func Site(t model.Topology) []Machine {
	var all []Machine
	for _, h := range t.Hosts {
		s, _ := t.Segment(h.Segment) // a valid topology has it
		if s.Uplink != nil && h.Port == *s.Uplink {
			continue // it is behind the uplink, somewhere else
		}
		m := machine(h.Name, s, h.Address, h.MAC, h.Port)
		if m.Serves, m.Healthy = servedBy(t, h.Address); m.Serves != nil {
			m.Role, m.Routes = Backend, append(byNode(t, s), byGateway(t, s)...)
		}
		all = append(all, m)
	}
	for _, s := range t.Segments {
		if s.Uplink != nil {
			all = append(all, beyond(t, s))
		}
	}
	return all
}

// crowded says why a topology cannot be told of in containers: each has a card and a port of its own.
func crowded(t model.Topology) (reasons []string) {
	at := map[model.Port]string{}
	for _, s := range t.Segments {
		if s.Uplink != nil {
			at[*s.Uplink] = "what is behind the uplink"
		}
	}
	for _, h := range t.Hosts {
		if other := at[h.Port]; other != "" {
			reasons = append(reasons, fmt.Sprintf("%s shares port %s with %s", h.Name, h.Port.Name, other))
		}
		at[h.Port] = h.Name
	}
	return append(reasons, LacksMachines(t)...)
}

// LacksMachines says which members of a topology the stand has no machine for; nothing if it has all.
func LacksMachines(t model.Topology) (reasons []string) {
	for _, p := range t.Pools {
		for _, m := range p.Members {
			if _, ok := t.HostAt(m.Address); !ok {
				reasons = append(reasons, fmt.Sprintf("member %s is behind a host, and only hosts are containers", m.Name))
			}
		}
	}
	return reasons
}

func machine(name string, s model.Segment, a netip.Addr, mac model.MAC, p model.Port) Machine {
	return Machine{Name: name, Container: prefix + name, Segment: s.Name, Port: p, MAC: mac, Address: netip.PrefixFrom(a, s.Prefix.Bits())}
}

// servedBy are the ports of the members at an address, and the paths of their probes that a backend does not know by itself.
func servedBy(t model.Topology, a netip.Addr) (ports []uint16, healthy []string) {
	for _, p := range t.Pools {
		path, _, _ := strings.Cut(p.Health.Path, "?")
		for _, m := range p.Members {
			if m.Address != a {
				continue
			}
			if !slices.Contains(ports, m.Port) {
				ports = append(ports, m.Port)
			}
			if !slices.Contains(append(healthy, "", "/", "/healthz", "/slow"), path) {
				healthy = append(healthy, path)
			}
		}
	}
	return ports, healthy
}

// byNode are the routes to all other segments.
func byNode(t model.Topology, from model.Segment) (all []Route) {
	for _, s := range t.Segments {
		if s.ID != from.ID {
			all = append(all, Route{s.Prefix, from.Gateway.Address})
		}
	}
	return all
}

// byGateway is the default route by the provider's gateway, if the segment has one.
func byGateway(t model.Topology, s model.Segment) []Route {
	if s.Kind != model.Private || s.Uplink == nil {
		return nil
	}
	return []Route{{Via: beyond(t, s).Address.Addr()}}
}

// beyond is the machine behind a segment's uplink. That of the first public segment is called client, that of another
// one client-SEGMENT, that of a private one gw-SEGMENT. Its MAC is made of its address, as Docker does.
func beyond(t model.Topology, s model.Segment) Machine {
	name, host, role := "gw-"+s.Name, byte(gatewayHost), Gateway
	var routes []Route
	if s.Kind == model.Public {
		name, host, role, routes = publicClient, clientHost, Client, byNode(t, s)
		first := slices.IndexFunc(t.Segments, func(s model.Segment) bool { return s.Kind == model.Public && s.Uplink != nil })
		if t.Segments[first].ID != s.ID {
			name += "-" + s.Name
		}
	}
	a := s.Prefix.Addr().As4()
	for a[3] = host; !free(t, netip.AddrFrom4(a)); a[3]-- {
	}
	m := machine(name, s, netip.AddrFrom4(a), model.MAC{0x02, 0x42, a[0], a[1], a[2], a[3]}, *s.Uplink)
	m.Role, m.Routes = role, routes
	return m
}

func free(t model.Topology, a netip.Addr) bool {
	for _, s := range t.Segments {
		if s.Gateway.Address == a || s.Probe != nil && s.Probe.Address == a {
			return false
		}
	}
	_, host := t.HostAt(a)
	return !host && !slices.ContainsFunc(t.Listeners, func(l model.Listener) bool { return l.VIP == a })
}
