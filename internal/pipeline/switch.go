package pipeline

import (
	of "hpnn/datapath/openflow"
	"hpnn/model"
)

// The switch of a segment knows its declared hosts, which are never learned and so never forged, and learns what is behind the
// uplink. Frames to all, and to a MAC that is not known, leave by all ports but the one they came from and the probe's: the
// node's kernel hears only what is meant for it.
//
// A public segment is not switched, but if it has a probe port, frames of probes come here too.
var stageSwitch = stage{
	Table: Table{
		ID:   tableSwitch,
		Name: "switch",
		Purpose: "Switches inside a segment: to the port of a declared host, of the probe or of a MAC address that was learned, " +
			"else to all hosts, and never back.",
		Matches: []of.Field{regSegment, of.InPort, of.EthDst},
		Drops: []Drop{
			{Priority: bridgeReserved, Reason: "a protocol of the link, which no bridge forwards"},
			{Priority: bridgeGateway, Reason: "our MAC, but nothing to route"},
			{Reason: "a segment that is not switched"},
		},
	},
	render: renderBridging,
}

// Priorities of the switching table.
const (
	bridgeReserved = 160 // the link's own protocols, which no bridge forwards (IEEE 802.1Q, 8.6.3)
	bridgeGateway  = 150 // to our MAC, but nothing for a router
	bridgeKnown    = 100
	bridgeLearned  = 50
	bridgeFlood    = 10
)

// reservedMACs are 01:80:c2:00:00:00 to 01:80:c2:00:00:0f.
var (
	reservedMACs = of.MAC(model.MAC{0x01, 0x80, 0xc2})
	reservedMask = of.PrefixMask(44, 48)
)

func renderBridging(n network, w *writer) {
	w.add(bridgeReserved, always.masked(of.EthDst, reservedMACs, reservedMask))
	for _, s := range n.segments {
		in := always.segment(s)
		w.add(bridgeGateway, in.ethDst(s.Gateway.MAC))
		for _, h := range s.hosts {
			w.add(bridgeKnown, in.ethDst(h.MAC), output(h.Port))
		}
		if s.Probe != nil {
			w.add(bridgeKnown, in.ethDst(s.Probe.MAC), output(s.Probe.Port))
		}
		switch {
		case s.private() && len(s.ports()) > 0:
			w.add(bridgeFlood, in, flood(s)...)
		case !s.private() && s.Probe != nil:
			w.add(bridgeFlood, in.inPort(s.Probe.Port), flood(s)...)
		}
	}
}

func flood(s segment) []of.Action {
	var all []of.Action
	for _, p := range s.ports() {
		all = append(all, output(p))
	}
	return all
}

// learnMAC remembers the port that the frame's source was heard on.
func learnMAC(s segment) of.Action {
	return of.Learn{
		Table:       tableSwitch,
		Priority:    bridgeLearned,
		HardTimeout: learnedSeconds,
		Limit:       learnedLimit,
		Cookie:      CookieFDB | uint64(s.ID),
		Specs: []of.LearnSpec{
			of.LearnMatchField{Dst: of.Whole(regSegment), Src: of.Whole(regSegment)},
			of.LearnMatchField{Dst: of.Whole(of.EthDst), Src: of.Whole(of.EthSrc)},
			of.LearnOutput{Src: of.Whole(of.InPort)},
		},
	}
}
