package maglev

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func take(demand []int, count int) []int {
	order := newTurns(demand)
	var got []int
	for len(got) < count {
		first, n := order.run(count - len(got))
		for _, m := range order.members[first : first+n] {
			got = append(got, int(m))
		}
	}
	return got
}

func TestTurnsInRotation(t *testing.T) {
	for _, c := range []struct {
		name   string
		demand []int
		want   []int
	}{
		{"one member", []int{7}, []int{0, 0, 0}},
		{"equal demands rotate by index", []int{1, 1, 1}, []int{0, 1, 2, 0, 1, 2, 0}},
		{"whatever the demand is", []int{100, 100}, []int{0, 1, 0, 1}},
		{"none for zero", []int{0, 1, 0, 1}, []int{1, 3, 1, 3}},
		{"twice the turns, spread", []int{1, 2}, []int{1, 0, 1, 1, 0, 1}},
		{"the small one takes its last chance", []int{3, 1}, []int{0, 0, 0, 1, 0, 0, 0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, take(c.demand, len(c.want)))
		})
	}
}

// After every turn each member has had its exact share rounded down or up.
func TestTurnsStayWithinOneOfTheExactShare(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 100 {
		demand, total := make([]int, 1+r.IntN(64)), 0
		for i := range demand {
			demand[i] = r.IntN(MaxWeight + 1)
			total += demand[i]
		}
		if total == 0 {
			continue
		}
		had := make([]int, len(demand))
		for now, i := range take(demand, 1024) {
			had[i]++
			for i, d := range demand {
				if ahead := had[i]*total - (now+1)*d; ahead <= -total || ahead >= total {
					t.Fatalf("%v: after turn %d member %d had %d", demand, now+1, i, had[i])
				}
			}
		}
	}
}

func TestTurnsEqualTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 100 {
		demand := make([]int, 1+r.IntN(20))
		for i := range demand {
			demand[i] = r.IntN(1 << r.IntN(7))
		}
		demand[0]++
		require.Equal(t, slowTurns(demand, 200), take(demand, 200), "%v", demand)
	}
}
