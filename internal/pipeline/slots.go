package pipeline

import (
	"slices"

	of "hpnn/datapath/openflow"
	"hpnn/internal/maglev"
	"hpnn/model"
)

// The slot table is the only one that depends on who lives: the daemon changes nothing else when a member comes or goes. One flow a
// slot, so that a change of layout is a change of exactly the slots that move.
var stageSlots = stage{
	Table: Table{
		ID:      tableSlots,
		Name:    "slots",
		Purpose: "Finds the member that owns the slot; a pool whose slots nobody owns drops, or lets the daemon refuse.",
		Matches: []of.Field{regPool, regSlot},
		Sets:    []of.Field{regMember},
		Next:    []of.TableID{tableMember},
		Reports: true,
		Drops: []Drop{
			{Priority: slotUnowned, Reason: "no member of the pool lives"},
			{Priority: 0, Reason: "a pool that is not known"},
		},
	},
	render: renderSlots,
}

// Priorities of the slot table.
const (
	slotOwned   = 100
	slotUnowned = 1 // counts what a pool drops for want of a member
)

// reportedBytes is how much of a packet the daemon needs to refuse it: the headers.
const reportedBytes = 128

// unowned is what becomes of a packet whose slot nobody owns. OpenFlow cannot turn a SYN into a RST; the daemon can.
func unowned(p pool) []of.Action {
	if p.NoLiveMember == model.Reject {
		return []of.Action{of.Controller{MaxLen: reportedBytes, Reason: of.ReasonAction}}
	}
	return nil
}

func renderSlots(n network, w *writer) {
	for _, p := range n.pools {
		w.add(slotUnowned, always.with(regPool, uint64(p.ID)), unowned(p)...)
		layout := n.layouts[p.ID]
		w.flows = slices.Grow(w.flows, layout.Slots())
		choices := choicesOf(p.Pool)
		for slot := range slotsOf(p.Pool, layout) {
			if f, ok := choices.flow(layout, slot); ok {
				w.flows = append(w.flows, f)
			}
		}
	}
}

// choices are what the flows of a pool's slots do, by the key of the member that they choose.
type choices struct {
	pool    when
	actions map[string][]of.Action
}

func choicesOf(p model.Pool) choices {
	c := choices{always.with(regPool, uint64(p.ID)), make(map[string][]of.Action, len(p.Members))}
	for _, m := range p.Members {
		c.actions[m.Key()] = []of.Action{set(regMember, uint64(m.ID)), jump(tableMember)}
	}
	return c
}

// flow is the flow of a slot; false if no member of the pool owns it.
func (c choices) flow(layout maglev.Table, slot int) (of.Flow, bool) {
	owner, _ := layout.Owner(slot)
	choose, ok := c.actions[owner]
	return of.Flow{Table: tableSlots, Priority: slotOwned, Match: c.pool.with(regSlot, uint64(slot)).Match, Actions: choose}, ok
}

// slotsOf is how many slots of a layout have flows.
func slotsOf(p model.Pool, layout maglev.Table) int { return min(layout.Slots(), int(p.Slots)) }
