package model

import "net/netip"

// A directory answers the lookups of a topology from maps, so that checking one with thousands of members does not take
// the square of them. Of things with the same name or address it knows the first, as the methods of Topology do.
type directory struct {
	t        *Topology
	segments map[string]Segment
	hosts    map[string]Host
	hostsAt  map[netip.Addr]Host
}

func newDirectory(t *Topology) directory {
	d := directory{t, map[string]Segment{}, map[string]Host{}, map[netip.Addr]Host{}}
	for _, s := range t.Segments {
		keepFirst(d.segments, s.Name, s)
	}
	for _, h := range t.Hosts {
		keepFirst(d.hosts, h.Name, h)
		keepFirst(d.hostsAt, h.Address, h)
	}
	return d
}

func keepFirst[K comparable, V any](m map[K]V, k K, v V) {
	if _, taken := m[k]; !taken {
		m[k] = v
	}
}

// nextHop is [Topology.NextHop].
func (d directory) nextHop(addr netip.Addr) (Host, bool) {
	at := addr
	if _, inside := d.t.SegmentOf(addr); !inside {
		route, ok := d.t.RouteTo(addr)
		if !ok {
			return Host{}, false
		}
		at = route.Via
	}
	h, ok := d.hostsAt[at]
	return h, ok
}

// A roster is the names that references to one kind of thing may use.
type roster struct {
	what     string // the kind of thing
	names    []string
	known    map[string]bool
	complete bool // every thing has its name; otherwise no reference can be called wrong
}

func rosterOf[T any](what string, list []T, name func(T) string) roster {
	r := roster{what: what, known: map[string]bool{}, complete: true}
	for _, each := range list {
		r.names = append(r.names, name(each))
		r.known[name(each)] = true
		r.complete = r.complete && name(each) != ""
	}
	return r
}
