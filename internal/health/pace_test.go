package health

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/model"
)

func TestPace(t *testing.T) {
	full := Pace{Interval: 2 * time.Second, Fast: 500 * time.Millisecond, Slow: 10 * time.Second}
	plain := Pace{Interval: 2 * time.Second}
	up, down := Status{State: Up}, Status{State: Down}
	upFailing, downRising := Status{State: Up, Undecided: true}, Status{State: Down, Undecided: true}
	for _, row := range []struct {
		why    string
		pace   Pace
		status Status
		want   time.Duration
	}{
		{"up", full, up, 2 * time.Second},
		{"up, a failure seen", full, upFailing, 500 * time.Millisecond},
		{"down", full, down, 10 * time.Second},
		{"down, a success seen: the faster one wins", full, downRising, 500 * time.Millisecond},
		{"no other intervals given", plain, upFailing, 2 * time.Second},
		{"no other intervals given", plain, down, 2 * time.Second},
		{"no interval at all must not probe without pause", Pace{}, up, 10 * time.Millisecond},
	} {
		require.Equal(t, row.want, row.pace.For(row.status), row.why)
	}
	m := model.HealthMonitor{Interval: 1, FastInterval: 2, SlowInterval: 3}
	require.Equal(t, Pace{Interval: 1, Fast: 2, Slow: 3}, PaceOf(m))
}

// gaps returns the smallest and the largest distance between the first n moments, around the circle.
func gaps(first, n int, interval time.Duration) (smallest, largest time.Duration) {
	moments := make([]time.Duration, n)
	for i := range moments {
		moments[i] = Spread(uint64(first+i), interval)
	}
	slices.Sort(moments)
	smallest, largest = interval, 0
	for i, m := range moments {
		next := interval + moments[0]
		if i+1 < n {
			next = moments[i+1]
		}
		smallest, largest = min(smallest, next-m), max(largest, next-m)
	}
	return smallest, largest
}

func TestSpreadIsEvenForAnyNumberOfMembers(t *testing.T) {
	const interval = 2 * time.Second
	for _, first := range []int{0, 1, 17, 1000} {
		for n := 2; n <= 1500; n += 1 + n/7 {
			fair := interval / time.Duration(n)
			smallest, largest := gaps(first, n, interval)
			require.Greater(t, smallest, fair*44/100, "%d members from %d", n, first)
			require.Less(t, largest, fair*190/100, "%d members from %d", n, first)
		}
	}
}

func TestSpreadLiesInTheInterval(t *testing.T) {
	require.Zero(t, Spread(0, time.Second), "the first member need not wait")
	require.Zero(t, Spread(5, 0))
	require.Zero(t, Spread(5, -time.Second))
	for k := range uint64(10000) {
		d := Spread(k, time.Hour)
		if d < 0 || d >= time.Hour {
			t.Fatalf("member %d starts at %s", k, d)
		}
	}
}

// Of 500 members at 2 s, five start in each 20 ms, give or take two.
func TestFiveHundredMembersDoNotFireAtOnce(t *testing.T) {
	const members, interval, window = 500, 2 * time.Second, 20 * time.Millisecond
	counts := map[time.Duration]int{}
	for k := range uint64(members) {
		counts[Spread(k, interval)/window]++
	}
	require.Len(t, counts, int(interval/window), "no window is idle")
	for w, n := range counts {
		require.LessOrEqual(t, n, 7, "at %s", w*window)
	}
}

func TestFollowing(t *testing.T) {
	at := func(ms int) time.Time { return epoch.Add(time.Duration(ms) * time.Millisecond) }
	for _, row := range []struct {
		why       string
		due, ends int
		want      int
	}{
		{"a quick probe does not move the grid", 0, 3, 2000},
		{"nor does one that started late", 0, 1700, 2000},
		{"one as long as the interval is followed at once", 0, 2000, 2000},
		{"one a little longer is followed at once, and its grid stays", 0, 2001, 2000},
		{"and the one after that is on the grid", 2000, 2004, 4000},
		{"moments that were missed are left out", 0, 7100, 6000},
		{"to the last one", 0, 8000, 8000},
	} {
		require.Equal(t, at(row.want), following(at(row.due), at(row.ends), 2*time.Second), row.why)
	}
}
