package model

import (
	"fmt"
	"net/netip"
	"slices"
)

// checkPools applies the rules between pools and those inside one.
func checkPools(c *checker) {
	all := c.t.Pools
	hosts := rosterOf("host", c.t.Hosts, func(h Host) string { return h.Name })
	unique(c, "give each pool its own id", claims("pools", "id", all, func(p Pool) uint16 { return p.ID }))
	unique(c, "give each pool its own name", claims("pools", "name", all, func(p Pool) string { return p.Name }))
	for i, p := range all {
		path := item("pools", i)
		checkHealth(c, join(path, "health"), p.Health)
		members := join(path, "members")
		if len(p.Members) > int(p.Slots) && p.Slots > 0 {
			c.fault(join(path, "slots"), "use at least one slot for each member", "%d slots are too few for %d members",
				p.Slots, len(p.Members))
		}
		unique(c, "give each member its own id", claims(members, "id", p.Members, func(m Member) uint16 { return m.ID }))
		unique(c, "give each member a name: of its own", claims(members, "name", p.Members, func(m Member) string { return m.Name }))
		unique(c, "keep one of them and give it more weight", claims(members, "port", p.Members, memberKey))
		for j, m := range p.Members {
			checkMember(c, item(members, j), p, m, hosts)
		}
	}
}

// memberKey is the identity of a member that has one.
func memberKey(m Member) string {
	if !m.Address.IsValid() || m.Port == 0 {
		return ""
	}
	return m.Key()
}

// checkHealth applies the rules between the times of a health monitor.
func checkHealth(c *checker, path string, h HealthMonitor) {
	if h.Type == MonitorNone {
		return
	}
	if h.Timeout > h.Interval && h.Interval > 0 {
		c.fault(join(path, "timeout"), "use at most the interval", "%s is longer than the interval of %s",
			durationText(h.Timeout), durationText(h.Interval))
	}
	if h.FastInterval > h.Interval && h.Interval > 0 {
		c.fault(join(path, "fast_interval"), "use less than the interval", "%s is longer than the interval of %s",
			durationText(h.FastInterval), durationText(h.Interval))
	}
	if h.FastInterval > 0 && h.FastInterval < h.Timeout && h.Timeout <= h.Interval {
		c.fault(join(path, "fast_interval"), "use at least the timeout, or a shorter timeout", "%s is shorter than the timeout of %s",
			durationText(h.FastInterval), durationText(h.Timeout))
	}
	if h.SlowInterval > 0 && h.SlowInterval < h.Interval {
		c.fault(join(path, "slow_interval"), "use more than the interval", "%s is shorter than the interval of %s",
			durationText(h.SlowInterval), durationText(h.Interval))
	}
}

// checkMember applies the rules between a member, its host and the segment its frames go to.
func checkMember(c *checker, path string, p Pool, m Member, hosts roster) {
	if m.Host == "" && !m.Address.IsValid() {
		c.fault(path, "add host:, or address: of a member behind a route", "has neither a host nor an address")
		return
	}
	c.reference(join(path, "host"), m.Host, hosts)
	if !c.located || m.Host != "" && !hosts.known[m.Host] || c.rejected[join(path, "address")] {
		return
	}
	checkMemberFilled(c, path, m)
	next, ok := c.nextHop(m.Address)
	switch {
	case !m.Address.IsValid():
	case !ok:
		c.fault(join(path, "address"), "declare a host with it, or a route to it", "%s is the address of no host", m.Address)
	case m.Host != "" && next.Name != m.Host:
		c.fault(join(path, "address"), "remove address: or host:", "%s is not reached by host %s but by %s", m.Address, m.Host, next.Name)
	default:
		checkDelivery(c, path, p, next)
	}
}

// checkMemberFilled faults what follows from other fields and is missing all the same, as in a topology built in Go.
func checkMemberFilled(c *checker, path string, m Member) {
	_, known := c.nextHop(m.Address)
	if !m.Address.IsValid() {
		c.reject(join(path, "address"), missing("address"))
	} else if m.Host == "" && known {
		c.reject(join(path, "host"), missing("host"))
	}
	if m.Name == "" && m.Host != "" {
		c.reject(join(path, "name"), missing("name"))
	}
}

// checkDelivery applies the rules about the segment in which a member's frames leave the node.
func checkDelivery(c *checker, path string, p Pool, next Host) {
	s, ok := c.segments[next.Segment]
	if !ok {
		return
	}
	i := slices.IndexFunc(c.t.Segments, func(s Segment) bool { return s.Name == next.Segment })
	if probe := join(item("segments", i), "probe"); p.Health.Type != MonitorNone && s.Probe == nil && !c.rejected[probe] {
		c.fault(probe, fmt.Sprintf("add probe: {address: …, port: …}, or health: {type: none} to pool %s", p.Name),
			"is missing: the probes of %s leave from it", path)
	}
	if s.Uplink == nil || *s.Uplink != next.Port {
		return
	}
	for _, l := range c.t.Listeners {
		if l.Pool == p.Name && slices.Contains(l.Segments, s.Name) {
			c.fault(path, "attach the host to a port of its own in a private segment",
				"its answers to clients of listener %s do not pass the node: both are behind uplink %s", l.Name, s.Uplink.Name)
		}
	}
}

// A service is what a client connects to.
type service struct {
	vip      netip.Addr
	protocol Protocol
	port     uint16
}

// String returns "192.168.5.21:80/tcp".
func (s service) String() string {
	return fmt.Sprintf("%s/%s", netip.AddrPortFrom(s.vip, s.port), s.protocol)
}

// checkListeners applies the rules between listeners, pools and segments.
func checkListeners(c *checker) {
	all := c.t.Listeners
	unique(c, "give each listener its own name", claims("listeners", "name", all, func(l Listener) string { return l.Name }))
	unique(c, "use another port or VIP, or one listener with both segments", claims("listeners", "port", all, serviceOf))
	segments := rosterOf("segment", c.t.Segments, func(s Segment) string { return s.Name })
	pools := rosterOf("pool", c.t.Pools, func(p Pool) string { return p.Name })
	for i, l := range all {
		path := item("listeners", i)
		c.reference(join(path, "pool"), l.Pool, pools)
		for j, name := range l.Segments {
			at := item(join(path, "segments"), j)
			c.reference(at, name, segments)
			if name != "" && slices.Contains(l.Segments[:j], name) {
				c.fault(at, "keep one of them", "%s is listed twice", name)
			}
		}
		if l.Protocol == UDP {
			c.fault(join(path, "protocol"), "use tcp", "udp is not yet supported")
		}
		checkVIP(c, join(path, "vip"), l)
	}
}

func serviceOf(l Listener) service {
	if !l.VIP.IsValid() || l.Port == 0 {
		return service{}
	}
	return service{l.VIP, l.Protocol, l.Port}
}

// checkVIP applies the rules about where a VIP may lie: in the prefix of one of its segments, its home. A private VIP serves
// its home only, a public one may serve private segments too.
func checkVIP(c *checker, path string, l Listener) {
	if !l.VIP.Is4() || len(l.Segments) == 0 {
		return
	}
	for _, name := range l.Segments {
		if s, ok := c.segments[name]; !ok || !s.Prefix.IsValid() {
			return
		}
	}
	home, ok := c.t.SegmentOf(l.VIP)
	switch {
	case !ok || !slices.Contains(l.Segments, home.Name):
		c.fault(path, "use an address of "+c.prefixesOf(l.Segments), "%s is outside the prefixes of its segments", l.VIP)
	case home.Kind == Private && len(l.Segments) > 1:
		c.fault(path, "use a listener for each segment, with a VIP of its own",
			"%s belongs to private segment %s and cannot serve others", l.VIP, home.Name)
	default:
		checkWithin(c, path, l.VIP, home)
	}
}

func (c *checker) prefixesOf(segments []string) string {
	var prefixes []string
	for _, name := range segments {
		if s, ok := c.segments[name]; ok {
			prefixes = append(prefixes, s.Prefix.Masked().String())
		}
	}
	return listing(prefixes)
}
