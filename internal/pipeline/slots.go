package pipeline

import of "hpnn/datapath/openflow"

var slots = stage{
	Table: Table{
		ID:      tableSlots,
		Name:    "slots",
		Purpose: "Finds the member that owns the slot; a pool whose slots nobody owns drops.",
		Matches: []of.Field{regPool, regSlot},
		Sets:    []of.Field{regMember},
		Next:    []of.TableID{tableMember},
	},
	render: renderSlots,
}

// Priorities of the slot table.
const (
	slotOwned   = 100
	slotUnowned = 1 // counts what a pool drops for want of a member
)

func renderSlots(n network, w *writer) {
	onward := jump(tableMember)
	for _, p := range n.pools {
		of := always.with(regPool, uint64(p.ID))
		w.add(slotUnowned, of)
		ids := make(map[string]uint16, len(p.members))
		for _, m := range p.members {
			ids[m.Key()] = m.ID
		}
		layout := n.layouts[p.ID]
		for slot := range min(layout.Slots(), int(p.Slots)) {
			owner, _ := layout.Owner(slot)
			if id, ok := ids[owner]; ok {
				w.add(slotOwned, of.with(regSlot, uint64(slot)), set(regMember, uint64(id)), onward)
			}
		}
	}
}
