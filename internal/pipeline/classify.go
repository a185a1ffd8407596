package pipeline

import (
	"net/netip"

	of "hpnn/datapath/openflow"
	"hpnn/model"
)

// Classify asks in the order of trust: first what only the segment and the frame's kind decide, then what is for the node's
// kernel or from it, then the router's traffic, then the rest. Most flows look at the destination MAC: a frame that reached us by
// flooding, or by a neighbour's mistake, is not for us even if its address is.
//
// Only members of the segment can reach the kernel, and only as an answer to its probe address. Its flows lead around the
// connection tracker, which would otherwise take a probe for a direct connection of a client.
var stageClassify = stage{
	Table: Table{
		ID:   tableClassify,
		Name: "classify",
		Purpose: "Tells apart what a frame is: ARP, ping to us, a probe, an answer of a hairpin, " +
			"traffic for the router and its VIPs, or traffic to be switched.",
		Matches: []of.Field{regSegment, of.InPort, of.EthDst, of.EthType,
			of.IPSrc, of.IPDst, of.IPProto, of.ICMPType, of.ICMPCode, of.TCPSrc, of.TCPFlags},
		Next:    []of.TableID{tableSource, tableARP, tableICMP, tableRoute, tableSwitched, tableSwitch},
		Tracked: []of.TableID{tableHairpinBack},
		Drops: []Drop{
			{Priority: classifyCall, Reason: "a member calls the node's kernel"},
			{Priority: classifyToProbe, Reason: "a stranger to the MAC of the node's kernel"},
			{Priority: classifyToProber, Reason: "a stranger to the address of the node's kernel"},
			{Priority: classifyGateway, Reason: "a gateway's address, and no ping in its segment"},
			{Priority: classifyStray, Reason: "a VIP by another MAC than its gateway's"},
			{Priority: classifyPublic, Reason: "noise of the public segment"},
			{Priority: 0, Reason: "a segment that is not known"},
		},
	},
	render: renderClassify,
}

// Priorities of the classification table.
const (
	classifyARP      = 200
	classifyPing     = 190 // an echo request to an address of ours in its own segment
	classifyHairpin  = 170 // what a member answers to the gateway's address is its own connection to a VIP
	classifyCall     = 167 // a member may answer the kernel, not call it
	classifyProbing  = 166 // from the node's kernel: past the connection tracker
	classifyProbed   = 165 // a member's answer to it
	classifyToProbe  = 164 // nobody else talks to the node's kernel
	classifyToProber = 163 // nor by its address
	classifyBalanced = 160 // to a VIP, from the public segment
	classifyGateway  = 155 // to a gateway's address, which does nothing but answer pings
	classifyRouted   = 150 // from the public segment to a prefix behind us
	classifyRouter   = 140 // from a private segment to its router
	classifyStray    = 130 // to a VIP, but not by way of us
	classifyPublic   = 100 // the noise of the public segment
	classifySwitched = 50
)

// An echo request (RFC 792).
const (
	echoReply   = 0
	echoRequest = 8
)

func renderClassify(n network, w *writer) {
	w.add(classifyARP, isARP, jump(tableARP))
	for _, s := range n.segments {
		classifyOurs(s, w)
		if s.Probe != nil {
			n.classifyProbes(s, w)
		}
		if s.private() {
			w.add(classifyRouter, isIP.segment(s).ethDst(s.Gateway.MAC), jump(tableSource))
			w.add(classifySwitched, always.segment(s), jump(tableSwitched))
		} else {
			n.classifyArrivals(s, w)
		}
	}
	for _, m := range n.services {
		ours := m.hop.in.Gateway
		w.add(classifyHairpin, isTCP.segment(m.hop.in).ethDst(ours.MAC).from(m).dst(ours.Address),
			untranslate(zoneHairpin, tableHairpinBack))
	}
	for _, vip := range n.vips() {
		w.add(classifyStray, isIP.dst(vip))
	}
}

// classifyOurs tells what is meant for the gateway's own addresses. They answer pings in their own segment only, so that
// from elsewhere nobody can tell them from addresses that do not exist.
func classifyOurs(s segment, w *writer) {
	for _, a := range append([]netip.Addr{s.Gateway.Address}, s.vips...) {
		ping := isICMP.segment(s).ethDst(s.Gateway.MAC).dst(a).with(of.ICMPType, echoRequest).with(of.ICMPCode, 0)
		w.add(classifyPing, ping, jump(tableICMP))
	}
	w.add(classifyGateway, isIP.dst(s.Gateway.Address))
}

// classifyProbes lets the node's kernel talk to members, them answer, and nobody else talk to it.
func (n network) classifyProbes(s segment, w *writer) {
	p := s.Probe
	w.add(classifyProbing, isIP.segment(s).inPort(p.Port).src(p.Address), jump(tableSwitch))
	for _, m := range s.members {
		w.add(classifyCall, isTCP.segment(s).src(m).dst(p.Address).calling())
		for _, kind := range n.probeAnswers(m) {
			answer := kind.segment(s).src(m).dst(p.Address)
			w.add(classifyProbed, answer.ethDst(p.MAC), jump(tableSwitch))
			w.add(classifyProbed, answer.ethDst(s.Gateway.MAC), jump(tableRoute))
		}
	}
	w.add(classifyToProbe, always.segment(s).ethDst(p.MAC))
	w.add(classifyToProber, isIP.dst(p.Address))
}

// icmpUnreachable is how a host says that nobody listens (RFC 792).
const icmpUnreachable = 3

// probeAnswers are the kinds of packet that answer the probes of a member. Calls of its own are not among them, but for
// UDP, where a member that is probed so could as well call.
func (n network) probeAnswers(a netip.Addr) []when {
	kinds := []when{isTCP, isICMP.with(of.ICMPType, echoReply), isICMP.with(of.ICMPType, icmpUnreachable)}
	for _, p := range n.pools {
		for _, m := range p.members {
			if m.Address == a && p.Health.Type == model.MonitorUDP {
				return append(kinds, isUDP)
			}
		}
	}
	return kinds
}

// classifyArrivals picks from the public segment what is addressed to us.
func (n network) classifyArrivals(s segment, w *writer) {
	toUs := isIP.segment(s).ethDst(s.Gateway.MAC)
	for _, vip := range s.served {
		w.add(classifyBalanced, toUs.dst(vip), jump(tableSource))
	}
	for _, p := range n.beyond(s) {
		w.add(classifyRouted, toUs.dstIn(p), jump(tableSource))
	}
	w.add(classifyPublic, always.segment(s))
}

// beyond are the prefixes that are reached by leaving the segment.
func (n network) beyond(s segment) []netip.Prefix {
	var all []netip.Prefix
	for _, r := range n.reaches {
		if r.in.ID != s.ID {
			all = append(all, r.prefix)
		}
	}
	return maximal(all)
}
