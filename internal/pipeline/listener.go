package pipeline

import (
	of "hpnn/datapath/openflow"
	"hpnn/model"
)

// Here the ways part: what is for a listener gets a slot, what is for another port of a VIP ends, and all else is routed. A VIP
// is an address of ours in every respect, so nothing to it may pass this table but by a listener.
//
// Learning takes place here and not earlier, because by now a packet is addressed to our MAC, has a source that belongs
// behind its segment, and has a destination that we route to. Clients of VIPs are not learned at all: see the label in member.go.
var stageListener = stage{
	Table: Table{
		ID:   tableListener,
		Name: "listener",
		Purpose: "Chooses a slot of the pool for a packet to a listener; drops what is sent to other ports of a VIP; " +
			"learns the neighbours behind an uplink that are routed.",
		Matches: []of.Field{regSegment, of.InPort, of.EthType, of.IPSrc, of.IPDst, of.IPProto, of.TCPDst},
		Sets:    []of.Field{regPool, regSlot, regMACs, of.EthSrc, of.EthDst},
		Next:    []of.TableID{tableSlots},
		Learns:  []of.TableID{tableAdjacency},
		Miss:    jumps(tableRouted),
		Drops: []Drop{
			{Priority: listenerOther, Reason: "a VIP, but no listener of this segment"},
		},
	},
	render: renderListeners,
}

// Priorities of the listener table.
const (
	listenerPort  = 200
	listenerOther = 150 // a VIP, but no listener
	listenerLearn = 50
)

func renderListeners(n network, w *writer) {
	for _, s := range n.segments {
		for _, l := range s.listeners {
			to := isTCP.segment(s).dst(l.VIP).with(of.TCPDst, uint64(l.Port))
			w.add(listenerPort, to, chooseSlot(l.pool)...)
		}
		if s.Uplink != nil {
			w.add(listenerLearn, isIP.inPort(*s.Uplink).srcIn(s.Prefix), learnNeighbour(s), jump(tableRouted))
		}
	}
	for _, vip := range n.vips() {
		w.add(listenerOther, isIP.dst(vip))
	}
}

// chooseSlot loads the pool and the slot.
func chooseSlot(p model.Pool) []of.Action {
	actions := append([]of.Action{set(regPool, uint64(p.ID))}, hash(p)...)
	return append(actions, jump(tableSlots))
}

// hash loads the slot. Open vSwitch has one hash of addresses and ports that every build computes alike, symmetric_l4, but
// it takes in the MAC addresses too: one client behind two routers would be two. It hashes the packet as it is by then, so a
// tuple is hashed with both MACs set to zero.
func hash(p model.Pool) []of.Action {
	switch p.Hash {
	case model.Source:
		return []of.Action{multipath(of.HashNwSrc, p)}
	case model.SymmetricL4:
		return []of.Action{multipath(of.HashSymmetricL4, p)}
	}
	src, dst := of.Whole(of.EthSrc), of.Whole(of.EthDst)
	return []of.Action{
		of.Move{Src: src, Dst: parkedSrc},
		of.Move{Src: dst, Dst: parkedDst},
		set(of.EthSrc, 0),
		set(of.EthDst, 0),
		multipath(of.HashSymmetricL4, p),
		of.Move{Src: parkedSrc, Dst: src},
		of.Move{Src: parkedDst, Dst: dst},
		set(regMACs, 0),
	}
}

func multipath(fields of.HashFields, p model.Pool) of.Action {
	return of.Multipath{Fields: fields, Basis: p.ID, Algorithm: of.ModuloN, Links: p.Slots, Dst: of.Whole(regSlot)}
}
