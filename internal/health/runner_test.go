package health

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/model"
)

// monitor is the prototype's.
var monitor = model.HealthMonitor{
	Type: model.MonitorTCP, Interval: 2 * time.Second, Timeout: time.Second, Rise: 2, Fall: 3,
}

// A farm is a prober whose members are in a map: each answers in 5 ms, unless it is frozen or refuses. It notes when whom
// it was asked about, and whether it was asked about one member twice at a time.
type farm struct {
	mu      sync.Mutex
	frozen  map[netip.AddrPort]bool
	refuses map[netip.AddrPort]bool
	starts  map[netip.AddrPort][]time.Time
	busy    map[netip.AddrPort]bool
	total   load
}

// A load says how many probes there were at a time.
type load struct {
	now, most int
	overlap   bool // two of one member
}

func newFarm() *farm {
	return &farm{
		frozen: map[netip.AddrPort]bool{}, refuses: map[netip.AddrPort]bool{},
		starts: map[netip.AddrPort][]time.Time{}, busy: map[netip.AddrPort]bool{},
	}
}

func (f *farm) Probe(ctx context.Context, t Target) Result {
	frozen, refuses := f.enter(t.Address)
	defer f.leave(t.Address)
	answer := time.After(5 * time.Millisecond)
	if frozen {
		answer = nil
	}
	return timed(ctx, t, func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return during("no connection", ctx.Err())
		case <-answer:
		}
		if refuses {
			return verdict{Refused, "connection refused"}
		}
		return nil
	})
}

func (f *farm) enter(a netip.AddrPort) (frozen, refuses bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.total.overlap = f.total.overlap || f.busy[a]
	f.busy[a] = true
	f.total.now++
	f.total.most = max(f.total.most, f.total.now)
	f.starts[a] = append(f.starts[a], time.Now())
	return f.frozen[a], f.refuses[a]
}

func (f *farm) leave(a netip.AddrPort) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.busy[a] = false
	f.total.now--
}

func (f *farm) set(what map[netip.AddrPort]bool, a netip.AddrPort, v bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	what[a] = v
}

func (f *farm) load() load {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.total
}

func (f *farm) startsOf(a netip.AddrPort) []time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.starts[a])
}

// check returns the check of the n-th member of a pool.
func check(pool string, n int, m model.HealthMonitor) Check {
	a := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 20, byte(n / 250), byte(n%250 + 1)}), 8080)
	return Check{
		ID: ID{pool, a.String()}, Name: fmt.Sprintf("be%d", n), Monitor: m,
		Target: Target{Address: a, Source: netip.MustParseAddr("10.20.0.253"), Timeout: m.Timeout},
	}
}

func checks(n int, m model.HealthMonitor) []Check {
	all := make([]Check, n)
	for i := range all {
		all[i] = check("web", i, m)
	}
	return all
}

// A journal keeps the events.
type journal struct {
	mu     sync.Mutex
	events []Event
}

func (l *journal) add(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

func (l *journal) all() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// transitions returns what happened since the last call, as "be1 up -> down after … at 5.005s", and forgets it.
func (l *journal) transitions(since time.Time) (all []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if e.Transition.Happened() {
			all = append(all, fmt.Sprintf("%s %s at %s", e.Name, e.Transition, e.At.Sub(since)))
		}
	}
	l.events = nil
	return all
}

// run starts a runner on a farm, in a bubble of virtual time, and stops it at the end. The bubble fails the test if a
// goroutine is left.
func run(t *testing.T, parallel int, test func(t *testing.T, r *Runner, f *farm, l *journal)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f, l := newFarm(), &journal{}
		r := Start(Config{
			Prober:   func(model.HealthMonitor) Prober { return f },
			Parallel: parallel,
			Report:   l.add,
		})
		defer func() { require.False(t, f.load().overlap, "two probes of one member at a time") }()
		defer r.Stop()
		test(t, r, f, l)
	})
}

// pass lets virtual time pass.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestFiveHundredMembers(t *testing.T) {
	run(t, 0, func(t *testing.T, r *Runner, f *farm, l *journal) {
		begin := time.Now()
		all := checks(500, monitor)
		require.NoError(t, r.Update(all))
		pass(2*time.Second + 10*time.Millisecond)
		require.Len(t, l.transitions(begin), 500, "one round of probes brings all up")
		require.LessOrEqual(t, f.load().most, 4, "of 500 members in 2 s, each busy for 5 ms")

		// One is frozen. Its next three probes time out; with the third it is down.
		victim := all[123]
		f.set(f.frozen, victim.Target.Address, true)
		starts := f.startsOf(victim.Target.Address)
		last := starts[len(starts)-1]
		pass(10 * time.Second)
		down := last.Add(3*monitor.Interval + monitor.Timeout).Sub(begin)
		require.Equal(t, []string{
			fmt.Sprintf("be123 up -> down after 3 failures in a row: timeout after 1s: no connection at %s", down),
		}, l.transitions(begin))

		// It recovers. The second probe that starts after that brings it up.
		thawed := time.Now()
		f.set(f.frozen, victim.Target.Address, false)
		pass(10 * time.Second)
		starts = f.startsOf(victim.Target.Address)
		first := slices.IndexFunc(starts, func(s time.Time) bool { return s.After(thawed) })
		up := starts[first+1].Add(5 * time.Millisecond).Sub(begin)
		require.Equal(t, []string{fmt.Sprintf("be123 down -> up after 2 successes in a row at %s", up)}, l.transitions(begin))
		require.Equal(t, uint64(3), r.Statuses()[123].Status.Transitions)

		// All along, each was probed every two seconds to the nanosecond.
		for _, c := range all {
			starts := f.startsOf(c.Target.Address)
			for i, s := range starts {
				if want := starts[0].Add(time.Duration(i) * monitor.Interval); !s.Equal(want) {
					t.Fatalf("%s: probe %d at %s, want %s", c.Name, i, s.Sub(begin), want.Sub(begin))
				}
			}
		}
	})
}

// A whole segment is cut off: 500 probes hang at a time, and no more than the bound. The others keep their pace, late by as
// much as the bound makes them.
func TestParallelProbesAreBounded(t *testing.T) {
	run(t, 50, func(t *testing.T, r *Runner, f *farm, l *journal) {
		for n := range 400 {
			f.set(f.frozen, check("web", n, monitor).Target.Address, true)
		}
		require.NoError(t, r.Update(checks(500, monitor)))
		pass(60 * time.Second)
		require.Equal(t, 50, f.load().most)
		var lag time.Duration
		for _, e := range l.all() {
			lag = max(lag, e.Lag)
		}
		require.Greater(t, lag, 5*time.Second, "400 members that hang for a second take eight at 50 a time, and the events show it")
		for n := range 500 {
			require.NotEmpty(t, f.startsOf(check("web", n, monitor).Target.Address), "member %d has its turn", n)
		}
		up := 0
		for _, w := range r.Statuses() {
			if w.Status.State == Up {
				up++
			}
		}
		require.Equal(t, 100, up)
	})
}

// With room enough nobody is late, though 500 hang.
func TestNobodyIsLateWithRoomEnough(t *testing.T) {
	run(t, 0, func(t *testing.T, r *Runner, f *farm, l *journal) {
		for n := range 500 {
			f.set(f.frozen, check("web", n, monitor).Target.Address, true)
		}
		require.NoError(t, r.Update(checks(500, monitor)))
		pass(30 * time.Second)
		require.LessOrEqual(t, f.load().most, DefaultParallel)
		for _, e := range l.all() {
			require.Zero(t, e.Lag)
		}
	})
}

func TestUpdateKeepsWhatItKnows(t *testing.T) {
	run(t, 0, func(t *testing.T, r *Runner, f *farm, l *journal) {
		begin := time.Now()
		a, b, c := check("web", 1, monitor), check("web", 2, monitor), check("web", 3, monitor)
		require.NoError(t, r.Update([]Check{a, b}))
		pass(5 * time.Second)
		require.Len(t, l.transitions(begin), 2)
		before := r.Statuses()

		// a leaves, c comes, b stays - and keeps counts and moments.
		require.NoError(t, r.Update([]Check{c, b}))
		got := r.Statuses()
		require.Equal(t, []ID{c.ID, b.ID}, []ID{got[0].Check.ID, got[1].Check.ID}, "in the order given")
		require.Equal(t, before[1], got[1])
		require.Equal(t, Status{Since: time.Now(), Undecided: true}, got[0].Status)
		pass(6 * time.Second)
		require.Len(t, l.transitions(begin), 1)
		require.Len(t, f.startsOf(a.Target.Address), 3, "at 0, 2 and 4 s, and no more")
		starts := f.startsOf(b.Target.Address)
		require.Equal(t, 2*(time.Duration(len(starts))-1)*time.Second, starts[len(starts)-1].Sub(starts[0]), "no probe was left out")

		// a returns as a new member.
		require.NoError(t, r.Update([]Check{a}))
		require.Equal(t, Assumed, r.Statuses()[0].Status.Evidence)

		// The same key in another pool is another member.
		twice := check("api", 1, monitor)
		require.NoError(t, r.Update([]Check{a, twice}))
		pass(3 * time.Second)
		require.Len(t, l.transitions(begin), 2)

		require.EqualError(t, r.Update([]Check{a, b, a}), "update health checks: web/10.20.0.2:8080 is there twice: keep one")
		require.Len(t, r.Statuses(), 2, "nothing changed")
	})
}

func TestANewMonitorAppliesAtOnce(t *testing.T) {
	run(t, 0, func(t *testing.T, r *Runner, f *farm, l *journal) {
		begin := time.Now()
		slow := monitor
		slow.Interval = time.Hour
		require.NoError(t, r.Update([]Check{check("web", 1, slow)}))
		pass(time.Minute)
		before := r.Statuses()[0].Status
		require.Equal(t, Up, before.State)

		f.set(f.refuses, check("web", 1, monitor).Target.Address, true)
		fast := monitor
		fast.Fall = 1
		require.NoError(t, r.Update([]Check{check("web", 1, fast)}))
		require.Equal(t, before, r.Statuses()[0].Status)
		l.transitions(begin)
		updated := time.Now()
		pass(2 * time.Second)
		require.Equal(t, []string{
			fmt.Sprintf("be1 up -> down after 1 failure: connection refused at %s", Spread(1, fast.Interval)+5*time.Millisecond),
		}, l.transitions(updated), "not in an hour")
	})
}

// A probe that is under way when its member is changed or leaves is cut short, and its result does not count.
func TestUpdateCutsProbesShort(t *testing.T) {
	run(t, 0, func(t *testing.T, r *Runner, f *farm, l *journal) {
		a := check("web", 1, monitor)
		f.set(f.frozen, a.Target.Address, true)
		require.NoError(t, r.Update([]Check{a}))
		pass(500 * time.Millisecond)
		require.Equal(t, 1, f.load().now)

		b := a
		b.Monitor.Fall = 1
		require.NoError(t, r.Update([]Check{b}))
		synctest.Wait()
		require.Equal(t, 0, f.load().now)
		require.Zero(t, r.Statuses()[0].Status.Probes)

		pass(1300 * time.Millisecond) // the next one, planned as for a second member, is under way
		require.Equal(t, 1, f.load().now)
		require.NoError(t, r.Update(nil))
		synctest.Wait()
		require.Equal(t, 0, f.load().now)
		require.NoError(t, r.Update([]Check{a}))
		f.set(f.frozen, a.Target.Address, false)
		require.Empty(t, l.all())
		pass(2 * time.Second)
		require.Equal(t, Up, r.Statuses()[0].Status.State)
	})
}

func TestSeedsAndAdmin(t *testing.T) {
	run(t, 0, func(t *testing.T, r *Runner, f *farm, l *journal) {
		begin := time.Now()
		up, down, drained := check("web", 1, monitor), check("web", 2, monitor), check("web", 3, monitor)
		up.Seed, down.Seed, drained.Admin = SeenUp, SeenDown, model.Drained
		all := []Check{up, down, drained}
		f.set(f.refuses, up.Target.Address, true)
		require.NoError(t, r.Update(all))
		require.Equal(t, Up, r.Statuses()[0].Status.State, "before any probe: a restart changes nothing")
		require.Equal(t, Adopted, r.Statuses()[0].Status.Evidence)
		pass(20 * time.Second)
		require.Equal(t, []string{
			"be3 down -> up after 1 success at " + (Spread(2, 2*time.Second) + 5*time.Millisecond).String(),
			"be2 down -> up after 2 successes in a row at " + (Spread(1, 2*time.Second) + 2005*time.Millisecond).String(),
			"be1 up -> down after 3 failures in a row: connection refused at 4.005s",
		}, l.transitions(begin))
		require.False(t, r.Statuses()[2].Status.Serves(), "drained, though probed and up")

		before := r.Statuses()[2].Status
		all[2].Admin = model.Enabled
		all[0].Seed = SeenUp
		require.NoError(t, r.Update(all))
		after := r.Statuses()[2].Status
		require.True(t, after.Serves())
		after.Admin = before.Admin
		require.Equal(t, before, after)
		require.Equal(t, Down, r.Statuses()[0].Status.State, "a seed is for a member that is not watched yet")
	})
}

func TestMembersOfTypeNoneAreNotProbed(t *testing.T) {
	run(t, 0, func(t *testing.T, r *Runner, f *farm, l *journal) {
		none := model.HealthMonitor{Type: model.MonitorNone}
		require.NoError(t, r.Update([]Check{check("web", 1, none)}))
		pass(time.Hour)
		require.Zero(t, f.load().most)
		require.Equal(t, Up, r.Statuses()[0].Status.State)

		// Probes that begin do not take it down before `fall` of them have failed.
		f.set(f.refuses, check("web", 1, none).Target.Address, true)
		require.NoError(t, r.Update([]Check{check("web", 1, monitor)}))
		require.Equal(t, Up, r.Statuses()[0].Status.State)
		pass(5 * time.Second)
		require.Equal(t, Down, r.Statuses()[0].Status.State)

		// Nor is it down any longer once nobody probes it.
		require.NoError(t, r.Update([]Check{check("web", 1, none)}))
		require.Equal(t, Up, r.Statuses()[0].Status.State)
		probes := len(f.startsOf(check("web", 1, none).Target.Address))
		pass(time.Hour)
		require.Len(t, f.startsOf(check("web", 1, none).Target.Address), probes)
	})
}

func TestFastAndSlowIntervals(t *testing.T) {
	run(t, 0, func(t *testing.T, r *Runner, f *farm, l *journal) {
		begin := time.Now()
		m := monitor
		m.FastInterval, m.SlowInterval, m.Timeout = 500*time.Millisecond, 10*time.Second, 200*time.Millisecond
		a := check("web", 1, m)
		f.set(f.frozen, a.Target.Address, true)
		require.NoError(t, r.Update([]Check{a}))
		pass(11 * time.Second)
		f.set(f.frozen, a.Target.Address, false)
		pass(15 * time.Second)
		var moments []time.Duration
		for _, s := range f.startsOf(a.Target.Address) {
			moments = append(moments, s.Sub(begin))
		}
		const ms = time.Millisecond
		require.Equal(t, []time.Duration{
			0, 500 * ms, 1000 * ms, // three failures: down, and that is decided
			11000 * ms, // still down
			21000 * ms, // the first success is enough, and it is up
			23000 * ms, 25000 * ms,
		}, moments)
	})
}

// The results of one member come in order, and events while Report takes its time are kept.
func TestReportMayBeSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFarm()
		var r *Runner
		var events []Event
		busy := false
		r = Start(Config{
			Prober: func(model.HealthMonitor) Prober { return f },
			Report: func(e Event) {
				require.False(t, busy, "Report is called twice at a time")
				busy = true
				<-time.After(300 * time.Millisecond)
				r.Statuses() // may be asked
				busy = false
				events = append(events, e)
			},
		})
		require.NoError(t, r.Update(checks(5, monitor)))
		pass(30 * time.Second)
		r.Stop()
		counts := map[ID]uint64{}
		for _, e := range events {
			counts[e.ID]++
			require.Equal(t, counts[e.ID], e.Status.Probes)
			require.Equal(t, Passed, e.Result.Outcome)
		}
		for id, n := range counts {
			require.InDelta(t, 15, int(n), 2, id)
		}
	})
}

// Stop ends probes that hang, waits for them, and can come at any time.
func TestStop(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, 3 * time.Millisecond, time.Second, 1234 * time.Millisecond, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			f, l := newFarm(), &journal{}
			for n := range 100 {
				f.set(f.frozen, check("web", n, monitor).Target.Address, true)
			}
			r := Start(Config{Prober: func(model.HealthMonitor) Prober { return f }, Report: l.add})
			require.NoError(t, r.Update(checks(200, monitor)))
			pass(after)
			begin, seen := time.Now(), len(l.all())
			r.Stop()
			require.Zero(t, time.Since(begin), "at once")
			require.Equal(t, 0, f.load().now, "no probe is left")
			require.Len(t, r.Statuses(), 200, "which may still be asked")
			<-time.After(time.Minute)
			require.Len(t, l.all(), seen)
			r.Stop() // again does no harm
		})
	}
}

func TestARunnerWithNobodyToWatchIdles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := Start(Config{})
		pass(24 * time.Hour)
		require.Empty(t, r.Statuses())
		r.Stop()
	})
}

// Members come, go and change at random while they are probed: no two probes of one overlap, and all end.
func TestUpdatesAtRandom(t *testing.T) {
	for seed := range 20 {
		run(t, 3, func(t *testing.T, r *Runner, f *farm, l *journal) {
			for step := range 60 {
				var some []Check
				for n := range 8 {
					m := monitor
					m.Fall = 1 + (step*n+seed)%3
					if (step*7+n*13+seed)%5 < 3 {
						some = append(some, check("web", n, m))
					}
					f.set(f.frozen, check("web", n, m).Target.Address, (step+n*seed)%4 == 0)
				}
				require.NoError(t, r.Update(some))
				pass(time.Duration(1+(step*seed)%17) * 97 * time.Millisecond)
				require.LessOrEqual(t, f.load().most, 3)
			}
			for _, e := range l.all() {
				require.True(t, e.Result.Outcome.Conclusive(), "a probe that was cut short was reported: %s", e.Result)
			}
		})
	}
}
