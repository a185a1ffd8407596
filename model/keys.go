package model

import (
	"net/netip"
	"time"
)

// The tables below are the YAML file's keys, in canonical order, each with its type, its default and its meaning.

var topologyKeys = object[Topology]{fields: []field[Topology]{
	nested[Topology, Node]{about: about{"node", defaulted, "The machine that routes, balances and switches."},
		of: &nodeKeys, at: func(t *Topology) *Node { return &t.Node }},
	list[Topology, Segment]{about: about{"segments", required, "The subnets the node has a leg in."},
		of: &segmentKeys, at: func(t *Topology) *[]Segment { return &t.Segments }},
	list[Topology, Host]{about: about{"hosts", optional, "Machines whose address, MAC and port are known in advance."},
		of: &hostKeys, at: func(t *Topology) *[]Host { return &t.Hosts }},
	list[Topology, Route]{about: about{"routes", optional, "Static routes to what lies behind a host."},
		of: &routeKeys, at: func(t *Topology) *[]Route { return &t.Routes }},
	list[Topology, Pool]{about: about{"pools", optional, "Sets of members that share the connections of their listeners."},
		of: &poolKeys, at: func(t *Topology) *[]Pool { return &t.Pools }},
	list[Topology, Listener]{about: about{"listeners", optional, "Addresses and ports that clients connect to."},
		of: &listenerKeys, at: func(t *Topology) *[]Listener { return &t.Listeners }},
}}

var nodeKeys = object[Node]{inline: true, fields: []field[Node]{
	value[Node, string]{about: about{"name", defaulted, "What the node calls itself in logs and metrics."},
		codec: name(), def: "hpnn-lb", at: func(n *Node) *string { return &n.Name }},
	value[Node, string]{about: about{"bridge", defaulted, "The Open vSwitch bridge that holds the rules."},
		codec: interfaceName(), def: "br-lb", at: func(n *Node) *string { return &n.Bridge }},
}}

var segmentKeys = object[Segment]{fields: []field[Segment]{
	value[Segment, uint16]{about: about{"id", defaulted, "Number of the segment in the rules. Give it before you remove an earlier segment."},
		codec: number[uint16](1, 65535), from: "position in the list", at: func(s *Segment) *uint16 { return &s.ID }},
	value[Segment, string]{about: about{"name", required, "What hosts and listeners call it."},
		codec: name(), at: func(s *Segment) *string { return &s.Name }},
	value[Segment, SegmentKind]{about: about{"kind", required, "public: routed only, clients are behind the uplink. private: the node also switches between its hosts."},
		codec: word(segmentKinds), at: func(s *Segment) *SegmentKind { return &s.Kind }},
	value[Segment, netip.Prefix]{about: about{"prefix", required, "The addresses of the segment."},
		codec: subnet(), at: func(s *Segment) *netip.Prefix { return &s.Prefix }},
	nested[Segment, Gateway]{about: about{"gateway", required, "The node's own address here; the address alone will do."},
		of: &gatewayKeys, at: func(s *Segment) *Gateway { return &s.Gateway }},
	pointer[Segment, Port]{about: about{"uplink", optional, "The port behind which the rest of the segment is. A public segment needs one. The number alone will do."},
		of: &uplinkKeys, at: func(s *Segment) **Port { return &s.Uplink }},
	pointer[Segment, Probe]{about: about{"probe", optional, "Where health probes leave from. A segment of probed members needs one."},
		of: &probeKeys, at: func(s *Segment) **Probe { return &s.Probe }},
}}

var gatewayKeys = object[Gateway]{inline: true, short: shortGateway, fields: []field[Gateway]{
	value[Gateway, netip.Addr]{about: about{"address", required, "An address of the segment that no machine has."},
		codec: address(), at: func(g *Gateway) *netip.Addr { return &g.Address }},
	value[Gateway, MAC]{about: about{"mac", defaulted, "The node's MAC in the segment; its VIPs answer with it too."},
		codec: mac(), from: "02:42 and the four bytes of the address", at: func(g *Gateway) *MAC { return &g.MAC }},
}}

var (
	uplinkKeys    = portKeys("name of the segment")
	probePortKeys = portKeys("hcif- and the name of the segment")
	hostPortKeys  = portKeys("name of the host, or of the uplink with that number")
)

// portKeys describes a port; where it stands decides what it is called by default.
func portKeys(defaultName string) object[Port] {
	return object[Port]{inline: true, short: shortPort, fields: []field[Port]{
		value[Port, string]{about: about{"name", defaulted, "The interface's name on the bridge."},
			codec: interfaceName(), from: defaultName, at: func(p *Port) *string { return &p.Name }},
		value[Port, uint32]{about: about{"number", required, "The OpenFlow port number (ofport_request)."},
			codec: number[uint32](1, 65279), at: func(p *Port) *uint32 { return &p.Number }},
	}}
}

var probeKeys = object[Probe]{inline: true, fields: []field[Probe]{
	value[Probe, netip.Addr]{about: about{"address", required, "An address of the segment that no machine has; the node's kernel takes it."},
		codec: address(), at: func(p *Probe) *netip.Addr { return &p.Address }},
	value[Probe, MAC]{about: about{"mac", defaulted, "MAC of the internal port."},
		codec: mac(), from: "02:42 and the four bytes of the address", at: func(p *Probe) *MAC { return &p.MAC }},
	nested[Probe, Port]{about: about{"port", required, "The internal port of the bridge. The number alone will do."},
		of: &probePortKeys, at: func(p *Probe) *Port { return &p.Port }},
}}

var hostKeys = object[Host]{inline: true, fields: []field[Host]{
	value[Host, string]{about: about{"name", required, "What members call it."},
		codec: name(), at: func(h *Host) *string { return &h.Name }},
	value[Host, string]{about: about{"segment", required, "Name of the segment it is in."},
		codec: name(), at: func(h *Host) *string { return &h.Segment }},
	value[Host, netip.Addr]{about: about{"address", required, "Its address in the segment."},
		codec: address(), at: func(h *Host) *netip.Addr { return &h.Address }},
	value[Host, MAC]{about: about{"mac", required, "The MAC of its interface."},
		codec: mac(), at: func(h *Host) *MAC { return &h.MAC }},
	nested[Host, Port]{about: about{"port", required, "The port it is attached to: its own, or the uplink of its segment. The number alone will do."},
		of: &hostPortKeys, at: func(h *Host) *Port { return &h.Port }},
}}

var routeKeys = object[Route]{inline: true, fields: []field[Route]{
	value[Route, netip.Prefix]{about: about{"prefix", required, "Where to; 0.0.0.0/0 is everywhere else."},
		codec: destination(), at: func(r *Route) *netip.Prefix { return &r.Prefix }},
	value[Route, netip.Addr]{about: about{"via", required, "The address of the host that forwards."},
		codec: address(), at: func(r *Route) *netip.Addr { return &r.Via }},
}}

var poolKeys = object[Pool]{fields: []field[Pool]{
	value[Pool, uint16]{about: about{"id", defaulted, "Seed of the slot hash and of the layout. Give it before you remove an earlier pool: another number moves connections."},
		codec: number[uint16](1, 65535), from: "position in the list", at: func(p *Pool) *uint16 { return &p.ID }},
	value[Pool, string]{about: about{"name", required, "What listeners call it."},
		codec: name(), at: func(p *Pool) *string { return &p.Name }},
	value[Pool, uint32]{about: about{"slots", defaulted, "Size of the slot table. More slots make finer shares."},
		codec: number[uint32](1, 65536), def: "1024", at: func(p *Pool) *uint32 { return &p.Slots }},
	value[Pool, Hash]{about: about{"hash", defaulted, "What chooses the slot. tuple: addresses and ports. source: the client's address. symmetric_l4: Open vSwitch's hash as it is, MACs included."},
		codec: word(hashes), def: "tuple", at: func(p *Pool) *Hash { return &p.Hash }},
	value[Pool, Algorithm]{about: about{"algorithm", defaulted, "What lays out the slots. maglev-stable: a member that leaves or returns moves no other's slots. maglev: the table of the Maglev paper."},
		codec: word(algorithms), def: "maglev-stable", at: func(p *Pool) *Algorithm { return &p.Algorithm }},
	value[Pool, Policy]{about: about{"no_live_member", defaulted, "What happens to connections while no member lives. drop: dropped and counted. reject: reset. last-known: the last layout stays."},
		codec: word(policies), def: "drop", at: func(p *Pool) *Policy { return &p.NoLiveMember }},
	nested[Pool, HealthMonitor]{about: about{"health", defaulted, "How members are probed."},
		of: &healthKeys, at: func(p *Pool) *HealthMonitor { return &p.Health }},
	list[Pool, Member]{about: about{"members", required, "The services that share the connections."},
		of: &memberKeys, at: func(p *Pool) *[]Member { return &p.Members }},
}}

var memberKeys = object[Member]{inline: true, fields: []field[Member]{
	value[Member, uint16]{about: about{"id", defaulted, "Number of the member in the rules. Give it before you remove an earlier member."},
		codec: number[uint16](1, 65535), from: "position in the list", at: func(m *Member) *uint16 { return &m.ID }},
	value[Member, string]{about: about{"name", defaulted, "What drain and enable call it."},
		codec: name(), quiet: true, from: "name of the host, or the address of a member behind a route", at: func(m *Member) *string { return &m.Name }},
	value[Member, string]{about: about{"host", defaulted, "The host it runs on, or that forwards to it. This or address is required."},
		codec: name(), quiet: true, from: "host with that address, or the next hop of the route to it", at: func(m *Member) *string { return &m.Host }},
	value[Member, netip.Addr]{about: about{"address", defaulted, "Its address."},
		codec: address(), quiet: true, from: "address of the host", at: func(m *Member) *netip.Addr { return &m.Address }},
	value[Member, uint16]{about: about{"port", required, "The port it listens on."},
		codec: number[uint16](1, 65535), at: func(m *Member) *uint16 { return &m.Port }},
	value[Member, int]{about: about{"weight", defaulted, "Its share relative to the other members; 0 keeps it without slots."},
		codec: number[int](0, 100), def: "1", zero: true, at: func(m *Member) *int { return &m.Weight }},
	value[Member, AdminState]{about: about{"admin", defaulted, "drained: no new connections; old ones live on and it is still probed."},
		codec: word(adminStates), def: "enabled", at: func(m *Member) *AdminState { return &m.Admin }},
}}

var healthKeys = object[HealthMonitor]{fields: []field[HealthMonitor]{
	value[HealthMonitor, MonitorType]{about: about{"type", defaulted, "The kind of probe. none: no probes, every member counts as live."},
		codec: word(monitorTypes), def: "http", at: func(h *HealthMonitor) *MonitorType { return &h.Type }},
	value[HealthMonitor, time.Duration]{about: about{"interval", defaulted, "From the start of one probe of a member to the start of the next."},
		codec: probeTime(), def: "2s", only: probing, at: func(h *HealthMonitor) *time.Duration { return &h.Interval }},
	value[HealthMonitor, time.Duration]{about: about{"timeout", defaulted, "How long a probe may take; at most the interval."},
		codec: probeTime(), def: "1s", only: probing, at: func(h *HealthMonitor) *time.Duration { return &h.Timeout }},
	value[HealthMonitor, int]{about: about{"rise", defaulted, "Successes in a row that make a member live."},
		codec: number[int](1, 255), def: "2", only: probing, at: func(h *HealthMonitor) *int { return &h.Rise }},
	value[HealthMonitor, int]{about: about{"fall", defaulted, "Failures in a row that make a member dead."},
		codec: number[int](1, 255), def: "3", only: probing, at: func(h *HealthMonitor) *int { return &h.Fall }},
	value[HealthMonitor, string]{about: about{"path", defaulted, "http and https: what is asked for."},
		codec: target(), def: "/healthz", only: overHTTP, at: func(h *HealthMonitor) *string { return &h.Path }},
	value[HealthMonitor, string]{about: about{"host_header", optional, "http and https: the Host header, if it is not the member's address and port."},
		codec: hostHeader(), only: overHTTP, at: func(h *HealthMonitor) *string { return &h.HostHeader }},
	value[HealthMonitor, StatusRange]{about: about{"expect", defaulted, "http and https: the statuses that count as success, as 200 or 200-299."},
		codec: statusRange(), def: "200-299", only: overHTTP, at: func(h *HealthMonitor) *StatusRange { return &h.Expect }},
	value[HealthMonitor, int]{about: about{"body_limit", defaulted, "http and https: bytes of the answer's body that are read."},
		codec: number[int](1, 1<<20), def: "4096", only: overHTTP, at: func(h *HealthMonitor) *int { return &h.BodyLimit }},
	value[HealthMonitor, string]{about: about{"payload", optional, "udp: what is sent."},
		codec: payload(), only: overUDP, at: func(h *HealthMonitor) *string { return &h.Payload }},
	value[HealthMonitor, string]{about: about{"reply", optional, "udp: what the answer must begin with; any answer will do without it."},
		codec: payload(), only: overUDP, at: func(h *HealthMonitor) *string { return &h.Reply }},
	value[HealthMonitor, InitialState]{about: about{"initial", defaulted, "What a member counts as before its first verdict. down: dead, but the first success makes it live. up: live until fall failures. rise: dead until rise successes."},
		codec: word(initialStates), def: "down", only: probing, at: func(h *HealthMonitor) *InitialState { return &h.Initial }},
	value[HealthMonitor, time.Duration]{about: about{"fast_interval", optional, "The interval while a member is between two states, if shorter."},
		codec: probeTime(), only: probing, at: func(h *HealthMonitor) *time.Duration { return &h.FastInterval }},
	value[HealthMonitor, time.Duration]{about: about{"slow_interval", optional, "The interval while a member is dead, if longer."},
		codec: probeTime(), only: probing, at: func(h *HealthMonitor) *time.Duration { return &h.SlowInterval }},
}}

var listenerKeys = object[Listener]{inline: true, fields: []field[Listener]{
	value[Listener, string]{about: about{"name", required, "What the listener is called in logs and metrics."},
		codec: name(), at: func(l *Listener) *string { return &l.Name }},
	value[Listener, netip.Addr]{about: about{"vip", required, "The address clients connect to, in the prefix of one of its segments; no machine has it."},
		codec: address(), at: func(l *Listener) *netip.Addr { return &l.VIP }},
	value[Listener, Protocol]{about: about{"protocol", defaulted, "tcp; udp is not yet supported."},
		codec: word(protocols), def: "tcp", at: func(l *Listener) *Protocol { return &l.Protocol }},
	value[Listener, uint16]{about: about{"port", required, "The port clients connect to."},
		codec: number[uint16](1, 65535), at: func(l *Listener) *uint16 { return &l.Port }},
	texts[Listener]{about: about{"segments", required, "Names of the segments whose clients are served."},
		codec: name(), at: func(l *Listener) *[]string { return &l.Segments }},
	value[Listener, string]{about: about{"pool", required, "Name of the pool that answers."},
		codec: name(), at: func(l *Listener) *string { return &l.Pool }},
}}

// probeTime is a duration of the health monitor.
func probeTime() codec[time.Duration] { return span(10*time.Millisecond, time.Hour) }

func probing(h *HealthMonitor) *complaint {
	return onlyFor(h, "a type other than none", h.Type != MonitorNone)
}

func overHTTP(h *HealthMonitor) *complaint {
	return onlyFor(h, "type: http", h.Type == MonitorHTTP || h.Type == MonitorHTTPS)
}

func overUDP(h *HealthMonitor) *complaint {
	return onlyFor(h, "type: udp", h.Type == MonitorUDP)
}

func onlyFor(h *HealthMonitor, wanted string, fits bool) *complaint {
	if fits {
		return nil
	}
	return complain("remove it or use "+wanted, "has no meaning for a monitor of type %s", h.Type)
}

// shortPort reads the number that stands for a port.
func shortPort(d *decoder, s scalar, path string, into *Port) {
	v, wrong := number[uint32](1, 65279).read(s)
	if wrong != nil && s.form == formPlain {
		wrong = complain("write {name: "+s.text+", number: …}, or the number alone", "%q is not a port number", s.text)
	}
	if wrong != nil {
		d.reject(path, wrong)
		return
	}
	into.Number = v
	d.index[join(path, "number")] = d.index[path]
}

// shortGateway reads the address that stands for a gateway.
func shortGateway(d *decoder, s scalar, path string, into *Gateway) {
	v, wrong := readAddress(s)
	if wrong != nil {
		d.reject(path, wrong)
		return
	}
	into.Address = v
	d.index[join(path, "address")] = d.index[path]
}
