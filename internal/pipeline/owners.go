package pipeline

import (
	"slices"

	"hpnn/datapath"
	of "hpnn/datapath/openflow"
	"hpnn/model"
)

// Owners lists the members of a topology that own slots in a switch with the given flows, in the order of the topology:
// what a node that starts anew can know of the one that went before it.
func Owners(t model.Topology, flows []of.Flow) []MemberName {
	type owner struct{ pool, member uint64 }
	owns := map[owner]bool{}
	for _, f := range flows {
		pool, ofPool := f.Match.Exact(regPool)
		_, ofSlot := f.Match.Exact(regSlot)
		if f.Table != tableSlots || !ofPool || !ofSlot || len(f.Actions) == 0 {
			continue
		}
		if choose, ok := f.Actions[0].(of.SetField); ok && choose.Field == regMember {
			owns[owner{pool.Lo, choose.Value.Lo}] = true
		}
	}
	var names []MemberName
	for _, p := range t.Pools {
		for _, m := range p.Members {
			if owns[owner{uint64(p.ID), uint64(m.ID)}] {
				names = append(names, MemberName{p.Name, m.Name})
			}
		}
	}
	return slices.Clip(names)
}

// Connections selects the tracked connections that a member serves by a VIP: its answers are known by their source, and
// what it sends to itself by their destination.
func Connections(m model.Member) []datapath.ConnFilter {
	return []datapath.ConnFilter{
		{Zone: zoneBalanced, Reply: datapath.TupleFilter{Proto: of.ProtoTCP, Src: m.Address, SrcPort: m.Port}},
		{Zone: zoneHairpin, Orig: datapath.TupleFilter{Proto: of.ProtoTCP, Dst: m.Address, DstPort: m.Port}},
	}
}
