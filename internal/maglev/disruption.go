package maglev

import "fmt"

// A Report says what a change from one table to another does to the slots.
type Report struct {
	Slots     int // slots of the table after the change
	Moved     int // slots whose owner changed
	Necessary int // moved slots whose move the change of members explains
	Foreign   int // the other moved slots: Moved - Necessary
}

// Disruption compares two tables of a pool, slot by slot.
//
// The weight with which a member takes part is its weight when it is live, and 0 when it is dead,
// drained, of weight 0 or not configured. A slot has moved when its owners before and after
// differ, or when it had none and has one, or the reverse. A move is necessary when
//
//   - the old owner takes part with less weight than before (it departed or was turned down), or
//   - the new owner takes part with more weight than before (it arrived, returned or was turned
//     up).
//
// Every other move is foreign: both members were there before and after, and nothing about
// either of them called for it.
//
// Tables of different pools or sizes have no slot in common, since another basis or modulus sends
// every connection elsewhere: then all slots of the second table have moved and are foreign.
func Disruption(before, after Table) Report {
	r := Report{Slots: len(after.owner)}
	if before.pool.ID != after.pool.ID || len(before.owner) != len(after.owner) {
		r.Moved, r.Foreign = r.Slots, r.Slots
		return r
	}
	was, is := before.weights(), after.weights()
	for slot := range after.owner {
		from, _ := before.Owner(slot)
		to, _ := after.Owner(slot)
		if from == to {
			continue
		}
		r.Moved++
		if is[from] < was[from] || is[to] > was[to] {
			r.Necessary++
		}
	}
	r.Foreign = r.Moved - r.Necessary
	return r
}

// weights maps member keys to the weight with which they take part.
func (t Table) weights() map[string]int {
	w := make(map[string]int, len(t.pool.Members))
	for _, m := range t.pool.Members {
		w[m.Key] = m.effective()
	}
	return w
}

// String is the report on one line: "moved 256 of 1024: necessary 256, foreign 0".
func (r Report) String() string {
	return fmt.Sprintf("moved %d of %d: necessary %d, foreign %d", r.Moved, r.Slots, r.Necessary, r.Foreign)
}
