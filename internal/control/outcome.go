package control

import (
	"hpnn/datapath/openflow"
	"hpnn/internal/maglev"
	"hpnn/internal/pipeline"
	"hpnn/model"
)

// Outcome is what a step did.
type Outcome struct {
	Bundle  openflow.Bundle // committed; empty if the switch held what it should
	Changed bool            // something was wanted anew; a bundle without that is a repair
	Pools   []PoolChange    // the pools whose slots moved
	Flushed int             // filters of connections that were forgotten
	Err     error           // why it is to be tried again
}

// Repaired reports whether the step found the switch altered.
func (o Outcome) Repaired() bool { return o.Err == nil && !o.Changed && len(o.Bundle) > 0 }

// PoolChange is a slot table that became another.
type PoolChange struct {
	Pool   string
	ID     uint16
	Before [32]byte // digest; zero if there was no table
	After  [32]byte // digest
	Report maglev.Report
	Shares []maglev.Share
}

func compareLayouts(t model.Topology, before, after pipeline.Layouts) []PoolChange {
	var changes []PoolChange
	for _, p := range t.Pools {
		old, known := before[p.ID]
		now := after[p.ID]
		if known && old.Equal(now) {
			continue
		}
		change := PoolChange{Pool: p.Name, ID: p.ID, After: now.Digest(), Shares: now.Shares()}
		if known {
			change.Before, change.Report = old.Digest(), maglev.Disruption(old, now)
		}
		if change.Before != change.After {
			changes = append(changes, change)
		}
	}
	return changes
}

// owned reports whether any member owns a slot.
func owned(t maglev.Table) bool {
	for _, s := range t.Shares() {
		if s.Slots > 0 {
			return true
		}
	}
	return false
}
