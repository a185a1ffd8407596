package health

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func id(n int) ID { return ID{"web", fmt.Sprintf("10.0.%d.%d:80", n/250, n%250+1)} }

func at(d time.Duration) time.Time { return epoch.Add(d) }

func take(t *testing.T, s *Schedule, now time.Time) Flight {
	t.Helper()
	f, ok := s.Take(now)
	require.True(t, ok, "nobody is due")
	return f
}

func requireIdle(t *testing.T, s *Schedule, now time.Time) {
	t.Helper()
	f, ok := s.Take(now)
	require.False(t, ok, "%s is due", f.ID)
}

func TestScheduleIsEmptyAtFirst(t *testing.T) {
	var s Schedule
	_, ok := s.Wake()
	require.False(t, ok)
	requireIdle(t, &s, epoch)
	s.Remove(id(1))
}

func TestScheduleGoesByTimeThenByOrder(t *testing.T) {
	var s Schedule
	s.Plan(id(1), at(3*time.Second))
	s.Plan(id(2), at(time.Second))
	s.Plan(id(3), at(time.Second))
	wake, ok := s.Wake()
	require.True(t, ok)
	require.Equal(t, at(time.Second), wake)
	requireIdle(t, &s, at(time.Second-1))
	require.Equal(t, Flight{id(2), at(time.Second)}, take(t, &s, at(5*time.Second)))
	require.Equal(t, id(3), take(t, &s, at(5*time.Second)).ID)
	require.Equal(t, id(1), take(t, &s, at(5*time.Second)).ID)
	requireIdle(t, &s, at(time.Hour))
}

func TestAMemberBeingProbedIsNotDue(t *testing.T) {
	var s Schedule
	s.Plan(id(1), epoch)
	f := take(t, &s, epoch)
	_, ok := s.Wake()
	require.False(t, ok)
	requireIdle(t, &s, at(time.Hour))
	require.True(t, s.Counts(f))
	s.Land(f, at(5500*time.Millisecond), 2*time.Second) // longer than the interval
	g := take(t, &s, at(5500*time.Millisecond))
	require.Equal(t, at(4*time.Second), g.Due)
	s.Land(g, at(5600*time.Millisecond), 2*time.Second)
	wake, _ := s.Wake()
	require.Equal(t, at(6*time.Second), wake)
}

func TestAProbeOfAMemberThatLeftIsVoid(t *testing.T) {
	var s Schedule
	s.Plan(id(1), epoch)
	f := take(t, &s, epoch)
	s.Remove(id(1))
	require.False(t, s.Counts(f))
	s.Land(f, at(time.Second), time.Second)
	requireIdle(t, &s, at(time.Hour))
	require.Panics(t, func() { s.Land(f, epoch, time.Second) }, "it cannot land twice")
}

func TestAMemberThatReturnsWaitsForItsOldProbe(t *testing.T) {
	var s Schedule
	s.Plan(id(1), epoch)
	f := take(t, &s, epoch)
	s.Remove(id(1))
	s.Plan(id(1), at(time.Second))
	requireIdle(t, &s, at(10*time.Second))
	require.False(t, s.Counts(f))
	s.Land(f, at(10*time.Second), 0)
	g := take(t, &s, at(10*time.Second))
	require.Equal(t, at(time.Second), g.Due)
	require.True(t, s.Counts(g))
}

func TestAMemberThatWaitsCanBePlannedAnew(t *testing.T) {
	var s Schedule
	s.Plan(id(1), at(time.Hour))
	s.Plan(id(2), at(time.Minute))
	s.Plan(id(1), at(time.Second))
	require.Equal(t, id(1), take(t, &s, at(time.Second)).ID)
	s.Remove(id(2))
	requireIdle(t, &s, at(time.Hour))
}

// A day of probes every 2 s, each taking a while: the last one is due to the nanosecond.
func TestNothingDriftsInADay(t *testing.T) {
	const interval, day = 2 * time.Second, 24 * time.Hour
	r := rand.New(rand.NewPCG(1, 2))
	var s Schedule
	first := Spread(3, interval)
	s.Plan(id(1), at(first))
	var due time.Time
	probes := 0
	for {
		wake, _ := s.Wake()
		if !wake.Before(at(day)) {
			break
		}
		late := time.Duration(r.Int64N(int64(time.Millisecond))) // the machine is not punctual
		f := take(t, &s, wake.Add(late))
		due = f.Due
		probes++
		s.Land(f, wake.Add(late+time.Duration(r.Int64N(int64(time.Second)))), interval)
	}
	require.Equal(t, int(day/interval), probes)
	require.Equal(t, at(first).Add(time.Duration(probes-1)*interval), due)
}

// A plan is the slow twin of a schedule: a list that is searched.
type plan []*planned

type planned struct {
	id               ID
	due              time.Time
	busy, void, gone bool
}

func (p plan) of(id ID) *planned {
	for _, e := range p {
		if e.id == id {
			return e
		}
	}
	return nil
}

func (p *plan) plan(id ID, due time.Time) {
	e := p.of(id)
	if e == nil {
		e = &planned{id: id}
		*p = append(*p, e)
	}
	e.due, e.gone, e.void = due, false, e.busy
}

func (p *plan) remove(id ID) {
	for i, e := range *p {
		switch {
		case e.id != id:
		case e.busy:
			e.void, e.gone = true, true
		default:
			*p = append((*p)[:i:i], (*p)[i+1:]...)
			return
		}
	}
}

func (p plan) take(now time.Time) (Flight, bool) {
	var first *planned
	for _, e := range p {
		if !e.busy && !e.due.After(now) && (first == nil || e.due.Before(first.due)) {
			first = e
		}
	}
	if first == nil {
		return Flight{}, false
	}
	first.busy, first.void = true, false
	return Flight{first.id, first.due}, true
}

func (p *plan) land(f Flight, now time.Time, interval time.Duration) {
	e := p.of(f.ID)
	e.busy = false
	switch {
	case e.gone:
		p.remove(f.ID)
	case !e.void:
		for e.due = f.Due.Add(interval); !e.due.Add(interval).After(now); {
			e.due = e.due.Add(interval)
		}
	}
}

func TestScheduleAgreesWithAList(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 9))
		var s Schedule
		var p plan
		now, flying := epoch, []Flight{}
		for range 400 {
			now = now.Add(time.Duration(r.IntN(400)) * time.Millisecond)
			who := id(r.IntN(12))
			switch action := r.IntN(10); {
			case action < 2:
				due := now.Add(time.Duration(r.IntN(2000)) * time.Millisecond)
				s.Plan(who, due)
				p.plan(who, due)
			case action < 3:
				s.Remove(who)
				p.remove(who)
			case action < 7:
				got, ok := s.Take(now)
				want, wanted := p.take(now)
				require.Equal(t, wanted, ok)
				require.Equal(t, want, got)
				if ok {
					flying = append(flying, got)
				}
			case len(flying) > 0:
				i := r.IntN(len(flying))
				f, interval := flying[i], time.Duration(1+r.IntN(20))*100*time.Millisecond
				flying = append(flying[:i], flying[i+1:]...)
				require.Equal(t, !p.of(f.ID).void, s.Counts(f))
				s.Land(f, now, interval)
				p.land(f, now, interval)
			}
			for i, f := range flying {
				for _, g := range flying[:i] {
					if f.ID == g.ID {
						t.Fatalf("two probes of %s at a time", f.ID)
					}
				}
			}
		}
	}
}

// The intervals of a member that fails, is dead for a while and comes back, as a schedule and a tracker make them together.
func TestIntervalsFollowTheState(t *testing.T) {
	pace := Pace{Interval: 2 * time.Second, Fast: 500 * time.Millisecond, Slow: 10 * time.Second}
	tracker := NewTracker(Rule{Rise: 2, Fall: 3}, Unknown, epoch)
	var s Schedule
	s.Plan(id(1), epoch)
	var waits []time.Duration
	for _, word := range []string{"ok", "ok", "timeout", "ok", "timeout", "timeout", "timeout", "timeout", "ok", "timeout", "ok", "ok", "ok"} {
		wake, _ := s.Wake()
		f := take(t, &s, wake)
		result, _ := resultOf(word)
		now := wake.Add(time.Millisecond)
		tracker.Observe(result, now)
		s.Land(f, now, pace.For(tracker.Status()))
		next, _ := s.Wake()
		waits = append(waits, next.Sub(wake))
	}
	const usual, fast, slow = 2 * time.Second, 500 * time.Millisecond, 10 * time.Second
	require.Equal(t, []time.Duration{
		usual, usual, // up
		fast, usual, // one failure, taken back
		fast, fast, slow, slow, // three failures: down
		fast, slow, // one success, taken back
		fast, usual, usual, // two successes: up
	}, waits)
}
