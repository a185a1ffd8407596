package scenarios

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hpnn/datapath/openflow"
	"hpnn/internal/control"
	"hpnn/internal/pipeline"
)

var slotsCommand = command{
	name:  "slots",
	usage: "slots",
	about: `Prints each pool's layout: the beginning of its digest, and how many slots each member owns. If slots moved since it was
last asked for, prints below how many, from whom to whom, as the switch has it.`,
	example: `slots
drain be1
until be1 out within 1s
slots`,
	run: func(t *story, a *args) error {
		if err := a.done(); err != nil {
			return err
		}
		owners, err := t.slotOwners()
		if err != nil {
			return err
		}
		for _, p := range t.bed.Node().State().View.Pools {
			t.print("%s %s: %s", p.Name, p.Digest[:8], shares(p))
			if moves := t.moves(p, t.owners[p.ID], owners[p.ID]); t.owners != nil && moves != "" {
				t.print("  moved: %s", moves)
			}
		}
		t.owners = owners
		return nil
	},
}

// shares are the slots of a pool's members.
func shares(p control.PoolView) string {
	var parts []string
	for _, m := range p.Members {
		if m.Slots > 0 {
			parts = append(parts, fmt.Sprintf("%s(%d)", m.Name, m.Slots))
		}
	}
	if parts == nil {
		return "nobody"
	}
	return strings.Join(parts, " ")
}

// register finds a register of the pipeline.
func register(name string) openflow.Field {
	for _, r := range pipeline.Registers() {
		if r.Name == name {
			return r.Field
		}
	}
	panic("scenarios: the pipeline has no register " + name)
}

// slotOwners reads from the switch which member owns each slot of each pool, by their ids.
func (t *story) slotOwners() (map[uint16]map[uint64]uint64, error) {
	entries, err := t.bed.Switch().Bridge().Flows(context.Background())
	if err != nil {
		return nil, err
	}
	pool, slot, member := register("pool"), register("slot"), register("member")
	owners := map[uint16]map[uint64]uint64{}
	for _, e := range entries {
		p, ofPool := e.Match.Exact(pool)
		s, ofSlot := e.Match.Exact(slot)
		if !ofPool || !ofSlot || len(e.Actions) == 0 {
			continue
		}
		if choose, ok := e.Actions[0].(openflow.SetField); ok && choose.Field == member {
			if owners[uint16(p.Lo)] == nil {
				owners[uint16(p.Lo)] = map[uint64]uint64{}
			}
			owners[uint16(p.Lo)][s.Lo] = choose.Value.Lo
		}
	}
	return owners, nil
}

// moves says how many slots went from whom to whom.
func (t *story) moves(p control.PoolView, before, after map[uint64]uint64) string {
	names := map[uint64]string{0: "nobody"}
	if pool, ok := t.topology.Pool(p.Name); ok {
		for _, m := range pool.Members {
			names[uint64(m.ID)] = m.Name
		}
	}
	counts := map[string]int{}
	for slot := range uint64(p.Slots) {
		if before[slot] != after[slot] {
			counts[cmp.Or(names[before[slot]], "former member")+"->"+names[after[slot]]]++
		}
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, counts[k]))
	}
	return strings.Join(parts, ", ")
}
