package pipeline

import (
	"net/netip"

	of "hpnn/datapath/openflow"
	"hpnn/model"
)

// The node has no ARP table of its own. It never asks: hosts are declared, and the stations that are not declared are learned from
// what they send. It answers in the place of addresses that exist in the rules alone.
var stageARP = stage{
	Table: Table{
		ID:   tableARP,
		Name: "arp",
		Purpose: "Answers ARP requests for gateways, VIPs and probe addresses, each only in its own segment; " +
			"in a private segment other ARP is switched.",
		Matches: []of.Field{regSegment, of.InPort, of.EthDst, of.EthType, of.ARPOp, of.ARPTpa},
		Sets:    []of.Field{of.EthSrc, of.EthDst, of.ARPOp, of.ARPSpa, of.ARPTpa, of.ARPSha, of.ARPTha},
		Next:    []of.TableID{tableSwitch},
		Drops: []Drop{
			{Priority: 0, Reason: "ARP of others in the public segment"},
		},
	},
	render: renderARP,
}

// Priorities of the ARP table.
const (
	arpClaim    = 110 // the node's kernel asks whether its address is free: that is for others to answer
	arpOurs     = 100
	arpSwitched = 50 // in a public segment only what the node's kernel asks
	arpReply    = 45 // and what it is told
)

// Operations of ARP (RFC 826).
const (
	opRequest = 1
	opReply   = 2
)

func renderARP(n network, w *writer) {
	for _, s := range n.segments {
		for _, a := range append([]netip.Addr{s.Gateway.Address}, s.vips...) {
			w.add(arpOurs, asks(s, a), answerARP(s.Gateway.MAC, a)...)
		}
		if s.Probe != nil {
			w.add(arpClaim, asks(s, s.Probe.Address).inPort(s.Probe.Port), jump(tableSwitch))
			w.add(arpOurs, asks(s, s.Probe.Address), answerARP(s.Probe.MAC, s.Probe.Address)...)
		}
		switch {
		case s.private():
			w.add(arpSwitched, isARP.segment(s), jump(tableSwitch))
		case s.Probe != nil:
			w.add(arpSwitched, isARP.segment(s).inPort(s.Probe.Port), jump(tableSwitch))
			w.add(arpReply, isARP.segment(s).ethDst(s.Probe.MAC), jump(tableSwitch))
		}
	}
}

func asks(s segment, a netip.Addr) when {
	return isARP.segment(s).with(of.ARPOp, opRequest).arpTpa(a)
}

// answerARP turns the request for an address into its answer.
func answerARP(m model.MAC, a netip.Addr) []of.Action {
	return []of.Action{
		move(of.EthSrc, of.EthDst),
		setMAC(of.EthSrc, m),
		set(of.ARPOp, opReply),
		move(of.ARPSha, of.ARPTha),
		move(of.ARPSpa, of.ARPTpa),
		setMAC(of.ARPSha, m),
		of.Set(of.ARPSpa, of.Addr(a)),
		back,
	}
}
