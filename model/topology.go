package model

import "net/netip"

// A Topology is everything one node is told: the single source of truth for its addresses.
type Topology struct {
	Node      Node
	Segments  []Segment
	Hosts     []Host
	Routes    []Route
	Pools     []Pool
	Listeners []Listener
}

// A Node is the machine that routes, balances and switches.
type Node struct {
	Name   string
	Bridge string // the Open vSwitch bridge that holds the rules; an interface name, 1 to 15 bytes
}

// A Segment is one IPv4 subnet the node has a leg in.
type Segment struct {
	ID      uint16 // 1..65535, unique; the pipeline's segment register holds it
	Name    string
	Kind    SegmentKind
	Prefix  netip.Prefix // IPv4, /8 to /30, host bits zero
	Gateway Gateway
	Uplink  *Port  // where neighbours beyond the bridge are reached; required in a public segment
	Probe   *Probe // where health probes leave from; required if a probed member is delivered here
}

// A Gateway is the node's own address in a segment. VIPs of the segment answer with its MAC too.
type Gateway struct {
	Address netip.Addr
	MAC     MAC
}

// A Port is a port of the bridge: its interface name and its OpenFlow number (1..65279).
type Port struct {
	Name   string
	Number uint32
}

// A Probe is the one address of a segment that the node's kernel holds: health probes leave from it, by an internal port.
type Probe struct {
	Address netip.Addr
	MAC     MAC
	Port    Port
}

// A Host is a machine whose address, MAC and port are known in advance: a backend, a client or a neighbouring router.
// A host has a port of its own, or sits behind the uplink of its segment and names that port.
type Host struct {
	Name    string
	Segment string // the name of its segment
	Address netip.Addr
	MAC     MAC
	Port    Port
}

// A Route is a static route. Via is the address of a declared host, so the next hop never has to be resolved.
type Route struct {
	Prefix netip.Prefix
	Via    netip.Addr
}
