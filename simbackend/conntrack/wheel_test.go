package conntrack

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWheelAgainstList holds the wheel against a list of what is in it: each timer comes out when its tick is
// reached, in no order within an advance, and next is never behind the first.
func TestWheelAgainstList(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		var w wheel
		var all []timer
		now, id := tick(rng.Uint32()>>(8+rng.IntN(24))), uint32(0)
		w.advance(now, func([]timer) { t.Fatal("nothing is in it") })
		for range 300 {
			for range rng.IntN(5) * rng.IntN(20) {
				id++
				fresh := timer{id, now + tick(rng.Uint32()>>(8+rng.IntN(24)))}
				if rng.IntN(10) == 0 {
					fresh.due = tick(rng.IntN(int(now) + 1)) // late
				}
				w.add(fresh)
				all = append(all, fresh)
			}
			first, _, ok := w.next()
			require.Equal(t, len(all) > 0, ok)
			if soonest := slices.MinFunc(append(all, timer{due: never}), byDue); ok {
				require.LessOrEqual(t, first, max(soonest.due, now))
			}
			now += tick(rng.Uint32() >> (8 + rng.IntN(24)))
			var got, again []timer
			w.advance(now, func(some []timer) {
				got = append(got, some...)
				for _, out := range some {
					if rng.IntN(3) == 0 {
						out.due = now + 1 + tick(rng.IntN(3))
						w.add(out)
						again = append(again, out)
					}
				}
			})
			later, want := split(all, now)
			require.ElementsMatch(t, want, got)
			all = append(later, again...)
		}
	}
}

func byDue(a, b timer) int { return cmp.Compare(a.due, b.due) }

// split separates the timers that are due.
func split(all []timer, now tick) (later, due []timer) {
	for _, one := range all {
		if one.due <= now {
			due = append(due, one)
		} else {
			later = append(later, one)
		}
	}
	return later, due
}
