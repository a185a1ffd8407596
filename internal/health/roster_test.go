package health

import (
	"context"
	"hash/fnv"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/model"
)

// An oracle says how a member answers the n-th probe of it, and how long that takes.
type oracle func(id ID, n int) (Result, time.Duration)

// moody answers as chance has it, but always the same: mostly quickly and well, at times for longer than the interval.
func moody(id ID, n int) (Result, time.Duration) {
	h := fnv.New64a()
	h.Write([]byte(id.String() + string(rune(n/7%3)) + string(rune(n))))
	sum := h.Sum64()
	took := time.Duration(sum % uint64(40*time.Millisecond))
	switch sum >> 40 % 9 {
	case 0, 1, 2:
		return Result{Outcome: Refused, Detail: "connection refused", Latency: took}, took
	case 3:
		took += 2500 * time.Millisecond
		return Result{Outcome: TimedOut, Detail: "timeout after 2.5s", Latency: took}, took
	case 4:
		return Result{Outcome: NotProbed, Detail: "not probed: no free port on this node"}, took
	}
	return Result{Outcome: Passed, Latency: took}, took
}

// drive lets a roster's time pass without any clock: the slow and obvious runner. All probes may run at a time.
func drive(r *Roster, from, until time.Time, answer oracle) (events []Event) {
	type flying struct {
		launch Launch
		result Result
		ends   time.Time
	}
	var air []flying
	asked := map[ID]int{}
	for now := from; ; {
		for {
			l, ok := r.Take(now)
			if !ok {
				break
			}
			result, took := answer(l.Flight.ID, asked[l.Flight.ID])
			asked[l.Flight.ID]++
			air = append(air, flying{l, result, now.Add(took)})
		}
		slices.SortFunc(air, func(a, b flying) int { return a.ends.Compare(b.ends) })
		wake, ok := r.Wake()
		switch {
		case len(air) > 0 && (!ok || !air[0].ends.After(wake)):
			now = air[0].ends
			if now.After(until) {
				return events
			}
			if e, counts := r.Land(air[0].launch, air[0].result, now); counts {
				events = append(events, e)
			}
			air = air[1:]
		case ok && !wake.After(until):
			now = wake
		default:
			return events
		}
	}
}

// oracular is the prober of an oracle.
type oracular struct {
	answer oracle
	ids    map[Target]ID
	asked  chan map[ID]int
}

func (o oracular) Probe(ctx context.Context, t Target) Result {
	asked := <-o.asked
	n := asked[o.ids[t]]
	asked[o.ids[t]]++
	o.asked <- asked
	result, took := o.answer(o.ids[t], n)
	<-time.After(took)
	return result
}

// The runner and the plain loop over a roster see the same, event by event, to the nanosecond.
func TestTheRunnerDoesWhatItsRosterSays(t *testing.T) {
	m := monitor
	m.FastInterval, m.SlowInterval, m.Timeout = time.Second, 5*time.Second, 0
	all := checks(40, m)
	const long = 5 * time.Minute
	synctest.Test(t, func(t *testing.T) {
		begin, j := time.Now(), &journal{}
		o := oracular{moody, map[Target]ID{}, make(chan map[ID]int, 1)}
		o.asked <- map[ID]int{}
		for _, c := range all {
			o.ids[c.Target] = c.ID
		}
		runner := Start(Config{Prober: func(model.HealthMonitor) Prober { return o }, Report: j.add})
		defer runner.Stop()
		require.NoError(t, runner.Update(all))
		var roster Roster
		_, err := roster.Update(all, begin)
		require.NoError(t, err)
		want := drive(&roster, begin, begin.Add(long), moody)
		pass(long)
		got := j.all()
		require.Greater(t, len(got), 3000)
		changes := 0
		for i := range min(len(got), len(want)) {
			if want[i] != got[i] {
				require.Equal(t, want[i], got[i])
			}
			if got[i].Transition.Happened() {
				changes++
			}
		}
		require.Len(t, got, len(want))
		require.Greater(t, changes, 100)
		require.Equal(t, roster.Statuses(), runner.Statuses())
	})
}

func TestRosterTellsWhoseProbeNoLongerCounts(t *testing.T) {
	var r Roster
	a, b, c := check("web", 1, monitor), check("web", 2, monitor), check("web", 3, monitor)
	update := func(checks ...Check) []ID {
		cut, err := r.Update(checks, epoch)
		require.NoError(t, err)
		return cut
	}
	require.Equal(t, []ID{a.ID, b.ID, c.ID}, update(a, b, c), "new ones might have been there before")
	require.Empty(t, update(c, b, a), "another order")
	b.Admin, b.Name, b.Seed = model.Drained, "another name", SeenUp
	require.Empty(t, update(a, b, c), "nothing that matters to a probe")
	require.Equal(t, "another name", r.Statuses()[1].Check.Name)
	require.Equal(t, model.Drained, r.Statuses()[1].Status.Admin)
	a.Target.Source = netip.MustParseAddr("10.20.0.254")
	b.Monitor.Path = "/other"
	require.Equal(t, []ID{c.ID, a.ID, b.ID}, update(a, b))
	b.Monitor = model.HealthMonitor{Type: model.MonitorNone}
	require.Equal(t, []ID{b.ID}, update(a, b))
	require.Equal(t, []ID{a.ID, b.ID}, update())
	_, ok := r.Wake()
	require.False(t, ok)
}

func TestARosterIsEmptyAtFirst(t *testing.T) {
	var r Roster
	require.Empty(t, r.Statuses())
	_, ok := r.Wake()
	require.False(t, ok)
	_, ok = r.Take(epoch)
	require.False(t, ok)
}
