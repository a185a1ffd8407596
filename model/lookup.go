package model

import (
	"cmp"
	"net/netip"
	"slices"
)

// Segment returns the segment of that name.
func (t Topology) Segment(name string) (Segment, bool) {
	return find(t.Segments, func(s Segment) bool { return s.Name == name })
}

// Host returns the host of that name.
func (t Topology) Host(name string) (Host, bool) {
	return find(t.Hosts, func(h Host) bool { return h.Name == name })
}

// Pool returns the pool of that name.
func (t Topology) Pool(name string) (Pool, bool) {
	return find(t.Pools, func(p Pool) bool { return p.Name == name })
}

// HostAt returns the host with that address.
func (t Topology) HostAt(addr netip.Addr) (Host, bool) {
	return find(t.Hosts, func(h Host) bool { return h.Address == addr })
}

// SegmentOf returns the segment whose prefix holds addr; the longest prefix wins.
func (t Topology) SegmentOf(addr netip.Addr) (Segment, bool) {
	var best Segment
	for _, s := range t.Segments {
		if s.Prefix.Contains(addr) && (!best.Prefix.IsValid() || s.Prefix.Bits() > best.Prefix.Bits()) {
			best = s
		}
	}
	return best, best.Prefix.IsValid()
}

// RouteTo returns the route a packet to addr takes when no segment holds addr; the longest prefix wins.
func (t Topology) RouteTo(addr netip.Addr) (Route, bool) {
	var best Route
	for _, r := range t.Routes {
		if r.Prefix.Contains(addr) && (!best.Prefix.IsValid() || r.Prefix.Bits() > best.Prefix.Bits()) {
			best = r
		}
	}
	return best, best.Prefix.IsValid()
}

// NextHop returns the host that a packet to addr is handed to: the host with that address, or the one the route to it
// goes via. An address inside a segment has no route: there it is a declared host or nobody.
func (t Topology) NextHop(addr netip.Addr) (Host, bool) {
	if _, inside := t.SegmentOf(addr); inside {
		return t.HostAt(addr)
	}
	route, ok := t.RouteTo(addr)
	if !ok {
		return Host{}, false
	}
	return t.HostAt(route.Via)
}

// Ports returns every port of the bridge that the topology names, by number; one that several hosts share comes once.
func (t Topology) Ports() []Port {
	var ports []Port
	for _, s := range t.Segments {
		if s.Uplink != nil {
			ports = append(ports, *s.Uplink)
		}
		if s.Probe != nil {
			ports = append(ports, s.Probe.Port)
		}
	}
	for _, h := range t.Hosts {
		ports = append(ports, h.Port)
	}
	slices.SortFunc(ports, func(a, b Port) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Name, b.Name))
	})
	return slices.Compact(ports)
}

// Key returns "address:port", the member's identity in the slot layout.
func (m Member) Key() string {
	return netip.AddrPortFrom(m.Address, m.Port).String()
}

func find[T any](list []T, is func(T) bool) (T, bool) {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i], true
	}
	var none T
	return none, false
}
