package model

import (
	"fmt"
	"net/netip"
)

// checkSegments applies the rules between segments, and between the fields of one.
func checkSegments(c *checker) {
	all := c.t.Segments
	unique(c, "give each segment its own id", claims("segments", "id", all, func(s Segment) uint16 { return s.ID }))
	unique(c, "give each segment its own name", claims("segments", "name", all, func(s Segment) string { return s.Name }))
	for i, s := range all {
		path := item("segments", i)
		checkWithin(c, join(path, "gateway.address"), s.Gateway.Address, s)
		if s.Probe != nil {
			checkWithin(c, join(path, "probe.address"), s.Probe.Address, s)
		}
		if s.Kind == Public && s.Uplink == nil {
			c.fault(join(path, "uplink"), "add uplink: {name: …, number: …}", "is missing: the clients of a public segment are behind it")
		}
		checkOverlap(c, join(path, "prefix"), s.Prefix, all[:i])
	}
}

// checkOverlap faults a prefix that shares addresses with one of the segments before it.
func checkOverlap(c *checker, path string, p netip.Prefix, before []Segment) {
	for i, s := range before {
		other := join(item("segments", i), "prefix")
		if p.IsValid() && s.Prefix.IsValid() && p.Overlaps(s.Prefix) && !c.rejected[path] && !c.rejected[other] {
			c.fault(path, "give each segment its own addresses", "%s overlaps %s, %s", p, other, s.Prefix)
			return
		}
	}
}

// checkAddresses faults addresses and MACs that two things claim. A VIP may serve several listeners, but is nothing else.
func checkAddresses(c *checker) {
	var addresses []claim[netip.Addr]
	var macs []claim[MAC]
	owner := map[netip.Addr]string{}
	own := func(path string, a netip.Addr, m MAC) {
		addresses = append(addresses, claim[netip.Addr]{join(path, "address"), a})
		_, taken := owner[a]
		if taken && m == macFor(a) {
			return // it follows from the address, which is at fault
		}
		owner[a] = join(path, "address")
		macs = append(macs, claim[MAC]{join(path, "mac"), m})
	}
	for i, s := range c.t.Segments {
		path := item("segments", i)
		own(join(path, "gateway"), s.Gateway.Address, s.Gateway.MAC)
		if s.Probe != nil {
			own(join(path, "probe"), s.Probe.Address, s.Probe.MAC)
		}
	}
	for i, h := range c.t.Hosts {
		own(item("hosts", i), h.Address, h.MAC)
	}
	unique(c, "give each its own address", addresses)
	unique(c, "give each interface its own MAC", macs)
	for i, l := range c.t.Listeners {
		if path, taken := owner[l.VIP]; taken && l.VIP.IsValid() {
			c.fault(join(item("listeners", i), "vip"), "give the VIP an address of its own", "%s is already %s", l.VIP, path)
		}
	}
}

// A portClaim is a use of a port of the bridge.
type portClaim struct {
	path string
	port Port
}

// checkPorts faults port numbers and names that two things claim. Hosts behind the uplink of their segment share it.
func checkPorts(c *checker) {
	uplinks := map[string]Port{}
	var all []portClaim
	for i, s := range c.t.Segments {
		path := item("segments", i)
		if s.Uplink != nil {
			uplinks[s.Name] = *s.Uplink
			all = append(all, portClaim{join(path, "uplink"), *s.Uplink})
		}
		if s.Probe != nil {
			all = append(all, portClaim{join(path, "probe.port"), s.Probe.Port})
		}
	}
	for i, h := range c.t.Hosts {
		path := join(item("hosts", i), "port")
		uplink, ok := uplinks[h.Segment]
		switch {
		case !ok || uplink.Number != h.Port.Number:
			all = append(all, portClaim{path, h.Port})
		case uplink.Name != h.Port.Name && h.Port.Name != "":
			c.fault(join(path, "name"), "write "+uplink.Name, "port %d is the uplink of segment %s and called %s",
				uplink.Number, h.Segment, uplink.Name)
		}
	}
	numbers, names := map[uint32]portClaim{}, map[string]portClaim{c.t.Node.Bridge: {path: "node.bridge"}}
	for _, each := range all {
		checkPort(c, each, numbers, names)
	}
}

func checkPort(c *checker, p portClaim, numbers map[uint32]portClaim, names map[string]portClaim) {
	const remedy = "give each its own port"
	if first, taken := numbers[p.port.Number]; taken && p.port.Number != 0 {
		c.fault(join(p.path, "number"), remedy, "%d is already %s, %s", p.port.Number, first.path, first.port.Name)
	} else {
		numbers[p.port.Number] = p
	}
	if first, taken := names[p.port.Name]; taken && p.port.Name != "" {
		c.fault(join(p.path, "name"), remedy, "%s is already %s", p.port.Name, first.path)
	} else {
		names[p.port.Name] = p
	}
}

// checkHosts applies the rules between hosts and their segments.
func checkHosts(c *checker) {
	unique(c, "give each host its own name", claims("hosts", "name", c.t.Hosts, func(h Host) string { return h.Name }))
	segments := rosterOf("segment", c.t.Segments, func(s Segment) string { return s.Name })
	for i, h := range c.t.Hosts {
		path := item("hosts", i)
		c.reference(join(path, "segment"), h.Segment, segments)
		s, ok := c.segments[h.Segment]
		if !ok || h.Segment == "" {
			continue
		}
		checkWithin(c, join(path, "address"), h.Address, s)
		if s.Kind == Public && s.Uplink != nil && s.Uplink.Number != h.Port.Number {
			c.fault(join(path, "port"), fmt.Sprintf("use the uplink's port, %d, or a private segment", s.Uplink.Number),
				"a host of a public segment has no port of its own, as the node does not switch there")
		}
	}
}

// checkRoutes applies the rules between routes, segments and hosts.
func checkRoutes(c *checker) {
	unique(c, "keep one of the routes", claims("routes", "prefix", c.t.Routes, func(r Route) netip.Prefix { return r.Prefix.Masked() }))
	for i, r := range c.t.Routes {
		path := item("routes", i)
		for _, s := range c.t.Segments {
			if s.Prefix.IsValid() && r.Prefix.IsValid() && s.Prefix.Bits() <= r.Prefix.Bits() && s.Prefix.Overlaps(r.Prefix) && !c.rejected[join(path, "prefix")] {
				c.fault(join(path, "prefix"), "remove the route: the segment is attached directly",
					"%s lies in the prefix of segment %s", r.Prefix, s.Name)
			}
		}
		if _, ok := c.hostsAt[r.Via]; !ok && r.Via.Is4() && c.located {
			c.fault(join(path, "via"), "declare the router under hosts with its MAC and port", "no host has the address %s", r.Via)
		}
	}
}
