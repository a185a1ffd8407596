package pipeline

import of "hpnn/datapath/openflow"

// Route is a forwarding table by the longest prefix, which is the highest priority. Only the segment ahead matters: its gateway's MAC
// becomes the source. On a segment the next hop is the destination itself, and table adjacency knows it; a static route names a
// declared host, so its flow knows everything and the packet leaves at once.
//
// Open vSwitch does not send a frame back to the port that it came from. So a packet from behind an uplink to another station
// behind it ends here, which keeps the node from relaying for others.
var stageRoute = stage{
	Table: Table{
		ID:   tableRoute,
		Name: "route",
		Purpose: "Routes by the longest prefix: one hop less to live, the source MAC of the segment ahead, " +
			"and for a static route the next hop.",
		Matches: []of.Field{of.EthType, of.IPDst, of.IPTTL},
		Sets:    []of.Field{of.IPTTL, of.EthSrc, of.EthDst},
		Next:    []of.TableID{tableAdjacency},
		Drops: []Drop{
			{Priority: routeSpent, Reason: "no hop left to live"},
			{Priority: routeOurs, Reason: "an address of ours, which is not routed to"},
			{Reason: "no route"},
		},
	},
	render: renderRoutes,
}

// Priorities of the routing table. A prefix of n bits has routePrefix+n.
const (
	routeKernel = 250 // to the node's kernel, from a member that has no neighbours: no hop
	routeSpent  = 200 // no hop left; dec_ttl would trouble the slow path with each
	routeOurs   = 150 // to an address of ours: nothing may loop
	routePrefix = 100
)

func renderRoutes(n network, w *writer) {
	for ttl := range uint64(2) {
		w.add(routeSpent, isIP.with(of.IPTTL, ttl))
	}
	for _, a := range n.addresses() {
		w.add(routeOurs, isIP.dst(a))
	}
	for _, s := range n.segments {
		if s.Probe != nil {
			w.add(routeKernel, isIP.dst(s.Probe.Address), setMAC(of.EthSrc, s.Gateway.MAC), jump(tableAdjacency))
		}
	}
	for _, r := range n.reaches {
		w.add(routePrefix+uint16(r.prefix.Bits()), isIP.dstIn(r.prefix), r.actions()...)
	}
}

func (r reach) actions() []of.Action {
	hop := []of.Action{of.DecTTL{}, setMAC(of.EthSrc, r.in.Gateway.MAC)}
	if r.via == nil {
		return append(hop, jump(tableAdjacency))
	}
	return append(hop, setMAC(of.EthDst, r.via.MAC), output(r.via.Port))
}
