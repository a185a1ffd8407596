package pipeline

import (
	"cmp"
	"net/netip"
	"slices"

	"hpnn/model"
)

// A network is a topology as the tables look at it: names resolved, everything in a fixed order, nothing twice.
type network struct {
	segments []segment
	hosts    []host
	reaches  []reach
	pools    []pool
	services []service
	layouts  Layouts
}

// A segment is a segment with what belongs to it.
type segment struct {
	model.Segment
	vips      []netip.Addr // that live in its prefix
	served    []netip.Addr // that its clients may use, its own or those of other segments
	listeners []listener   // that its clients may use
	hosts     []host
	members   []netip.Addr // that are delivered here
}

// A listener is a VIP and port, and the pool behind them.
type listener struct {
	model.Listener
	pool model.Pool
}

// A host is a machine with its segment.
type host struct {
	model.Host
	in     segment        // without lists
	routes []netip.Prefix // that it is the next hop of
}

// A reach is a prefix and the way to it: a segment, or a host of it that routes on.
type reach struct {
	prefix netip.Prefix
	in     segment // without lists
	via    *host   // nil: the segment itself
}

// A pool is a pool with its members resolved.
type pool struct {
	model.Pool
	members []member
}

// A member is a service of a pool.
type member struct {
	model.Member
	service service
}

// A service is the address and port that a member answers at. Several members may share one.
type service struct {
	netip.AddrPort
	hop    host // the host that its frames are handed to
	onLink bool // hop is the member itself, a neighbour of its segment's hosts
}

// survey resolves a topology. Layouts are those of its pools. Nothing here fails: in a valid topology every name that is
// referred to exists.
func survey(t model.Topology, layouts Layouts) network {
	n := network{layouts: layouts}
	for _, s := range t.Segments {
		n.reaches = append(n.reaches, reach{prefix: s.Prefix, in: segment{Segment: s}})
	}
	for _, h := range t.Hosts {
		s, _ := t.Segment(h.Segment)
		n.hosts = append(n.hosts, host{Host: h, in: segment{Segment: s}, routes: routesVia(t, h)})
	}
	for _, r := range t.Routes {
		via := n.hostAt(r.Via)
		n.reaches = append(n.reaches, reach{prefix: r.Prefix, in: via.in, via: &via})
	}
	for _, p := range t.Pools {
		n.addPool(p)
	}
	for _, s := range t.Segments {
		n.segments = append(n.segments, n.furnish(t, s))
	}
	return n
}

func routesVia(t model.Topology, h model.Host) []netip.Prefix {
	var via []netip.Prefix
	for _, r := range t.Routes {
		if r.Via == h.Address {
			via = append(via, r.Prefix)
		}
	}
	return via
}

func (n *network) hostAt(a netip.Addr) host {
	return n.hosts[slices.IndexFunc(n.hosts, func(h host) bool { return h.Address == a })]
}

func (n *network) addPool(p model.Pool) {
	resolved := pool{Pool: p}
	for _, m := range p.Members {
		hop := n.hosts[slices.IndexFunc(n.hosts, func(h host) bool { return h.Name == m.Host })]
		s := service{netip.AddrPortFrom(m.Address, m.Port), hop, hop.Address == m.Address}
		resolved.members = append(resolved.members, member{m, s})
		if !slices.ContainsFunc(n.services, func(o service) bool { return o.AddrPort == s.AddrPort }) {
			n.services = append(n.services, s)
		}
	}
	n.pools = append(n.pools, resolved)
}

// furnish gathers what belongs to a segment.
func (n *network) furnish(t model.Topology, of model.Segment) segment {
	s := segment{Segment: of}
	for _, l := range t.Listeners {
		home, _ := t.SegmentOf(l.VIP)
		if home.Name == of.Name {
			s.vips = append(s.vips, l.VIP)
		}
		if p, _ := t.Pool(l.Pool); l.Protocol == model.TCP && slices.Contains(l.Segments, of.Name) {
			s.served = append(s.served, l.VIP)
			s.listeners = append(s.listeners, listener{l, p})
		}
	}
	for _, h := range n.hosts {
		if h.Segment == of.Name {
			s.hosts = append(s.hosts, h)
		}
	}
	for _, m := range n.services {
		if m.hop.Segment == of.Name {
			s.members = append(s.members, m.Addr())
		}
	}
	s.vips, s.served, s.members = once(s.vips), once(s.served), once(s.members)
	return s
}

// once sorts a list and leaves out what is there twice.
func once(list []netip.Addr) []netip.Addr {
	slices.SortFunc(list, netip.Addr.Compare)
	return slices.Compact(list)
}

// addresses are those of the gateways and VIPs: the node's own, which the rules alone hold.
func (n network) addresses() []netip.Addr {
	all := n.vips()
	for _, s := range n.segments {
		all = append(all, s.Gateway.Address)
	}
	return once(all)
}

func (n network) vips() []netip.Addr {
	var all []netip.Addr
	for _, s := range n.segments {
		all = append(all, s.vips...)
	}
	return once(all)
}

// membersByAddress lists one service of each address.
func (n network) membersByAddress() []service {
	all := slices.Clone(n.services)
	slices.SortStableFunc(all, func(a, b service) int { return a.Addr().Compare(b.Addr()) })
	return slices.CompactFunc(all, func(a, b service) bool { return a.Addr() == b.Addr() })
}

// private reports whether the node switches between the segment's hosts.
func (s segment) private() bool { return s.Kind == model.Private }

// ports are those that a frame to all of the segment's hosts leaves by, in ascending order: not the probe's, so that the
// node's kernel hears nothing it did not ask for.
func (s segment) ports() []model.Port {
	var all []model.Port
	if s.Uplink != nil {
		all = append(all, *s.Uplink)
	}
	for _, h := range s.hosts {
		all = append(all, h.Port)
	}
	slices.SortFunc(all, func(a, b model.Port) int { return cmp.Compare(a.Number, b.Number) })
	return slices.CompactFunc(all, func(a, b model.Port) bool { return a.Number == b.Number })
}

// behindUplink reports whether the host has no port of its own.
func (h host) behindUplink() bool { return h.in.Uplink != nil && h.in.Uplink.Number == h.Port.Number }

// maximal sorts prefixes and leaves out those that lie in another.
func maximal(prefixes []netip.Prefix) []netip.Prefix {
	sorted := slices.Clone(prefixes)
	slices.SortFunc(sorted, func(a, b netip.Prefix) int {
		return cmp.Or(cmp.Compare(a.Bits(), b.Bits()), a.Addr().Compare(b.Addr()))
	})
	var kept []netip.Prefix
	for _, p := range sorted {
		if !slices.ContainsFunc(kept, func(k netip.Prefix) bool { return k.Overlaps(p) }) {
			kept = append(kept, p)
		}
	}
	return kept
}
