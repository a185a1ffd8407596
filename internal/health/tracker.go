package health

import (
	"fmt"
	"time"

	"hpnn/model"
)

// A Rule says how many results in a row change a member's state, and what the state is before the first.
type Rule struct {
	Rise    int // successes that bring it up; less than 1 counts as 1
	Fall    int // failures that take it down; less than 1 counts as 1
	Initial model.InitialState
}

// RuleOf returns the rule of a monitor.
func RuleOf(m model.HealthMonitor) Rule {
	return Rule{Rise: m.Rise, Fall: m.Fall, Initial: m.Initial}
}

// keeps returns how many results in a row bring about, or confirm, a state.
func (r Rule) keeps(s State) int {
	if s == Up {
		return max(r.Rise, 1)
	}
	return max(r.Fall, 1)
}

// A Tracker turns the results of one member's probes into its state. It is a plain value: a copy is a tracker of its own.
type Tracker struct {
	rule   Rule
	eager  bool // the first success is enough
	status Status
}

// NewTracker returns the tracker of a member that is watched from the given moment on.
func NewTracker(rule Rule, seed Seed, at time.Time) Tracker {
	t := Tracker{rule: rule, status: Status{Since: at, Undecided: true}}
	switch {
	case seed != Unknown:
		t.status.Evidence = Adopted
		if seed == SeenUp {
			t.status.State = Up
		}
	case rule.Initial == model.InitialUp:
		t.status.State = Up
	default:
		t.eager = rule.Initial == model.InitialDown
	}
	return t
}

// Unprobed returns the tracker of a member that nobody probes (type none): it counts as up.
func Unprobed(at time.Time) Tracker {
	return Tracker{status: Status{State: Up, Since: at}}
}

// Status returns the member's health.
func (t Tracker) Status() Status { return t.status }

// SetRule changes the counts for the results to come. State and counts so far stay, so nothing happens before the next
// result; the initial state no longer matters.
func (t *Tracker) SetRule(r Rule) { t.rule = r }

// SetAdmin notes the operator's word. The health does not change by it.
func (t *Tracker) SetAdmin(a model.AdminState) { t.status.Admin = a }

// Observe takes the result of a probe that ended at the given moment, and returns the change of state it caused, if any.
func (t *Tracker) Observe(r Result, at time.Time) Transition {
	s := &t.status
	s.Probes++
	s.LastProbe = at
	if r.Outcome != Passed {
		s.LastError, s.LastErrorAt = r.String(), at
	}
	if !r.Outcome.Conclusive() {
		s.NotProbed++
		return Transition{From: s.State, To: s.State}
	}
	t.count(r)
	return t.judge(at)
}

// count adds a result to the run it continues, or begins another.
func (t *Tracker) count(r Result) {
	s := &t.status
	if s.Consecutive > 0 && (r.Outcome == Passed) != (s.Last == Passed) {
		s.Consecutive = 0
	}
	s.Consecutive++
	s.Last, s.Latency = r.Outcome, r.Latency
	if r.Outcome != Passed {
		s.Failures++
	}
}

// judge settles the state after a result has been counted.
func (t *Tracker) judge(at time.Time) Transition {
	s := &t.status
	from, speaksFor, proved := s.State, Down, s.Evidence == Probed
	if s.Last == Passed {
		speaksFor = Up
	}
	if s.Consecutive >= t.rule.keeps(speaksFor) || speaksFor == Up && t.eager {
		s.State, s.Evidence = speaksFor, Probed
	}
	t.eager = t.eager && speaksFor == Down
	s.Undecided = s.State != speaksFor || s.Evidence != Probed
	if s.State == from {
		return Transition{From: from, To: from, Proved: !proved && s.Evidence == Probed}
	}
	s.Since = at
	s.Transitions++
	return Transition{From: from, To: s.State, Because: because(*s), Proved: !proved}
}

func because(s Status) string {
	if s.State == Up {
		return inARow(s.Last, s.Consecutive)
	}
	return fmt.Sprintf("%s: %s", inARow(s.Last, s.Consecutive), s.LastError)
}

// A Transition is a change of a member's state, or none.
type Transition struct {
	From, To State
	Because  string // "3 failures in a row: connection refused"
	Proved   bool   // until now nobody had probed often enough to know; true also if the state stays what it was
}

// Happened reports whether the state changed.
func (t Transition) Happened() bool { return t.From != t.To }

// String returns "up -> down after 3 failures in a row: connection refused", or "no change".
func (t Transition) String() string {
	if !t.Happened() {
		return "no change"
	}
	return fmt.Sprintf("%s -> %s after %s", t.From, t.To, t.Because)
}
