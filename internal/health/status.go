package health

import (
	"fmt"
	"time"

	"hpnn/model"
)

// A Status is everything known of one member's health: a value, a moment's picture.
type Status struct {
	State    State
	Evidence Evidence
	Since    time.Time // when it came into this state, or when it was first tracked

	// Undecided says that a count has begun and is not finished: the last result speaks against the state, or no verdict
	// has been reached at all. The member may then be probed at the monitor's faster interval.
	Undecided bool

	Last        Outcome       // of the last probe that said anything; NotProbed before the first
	Consecutive int           // how many results in a row were like the last one, success or failure
	Latency     time.Duration // of the last probe that said anything
	LastProbe   time.Time     // when the last probe of any outcome ended; zero before the first

	LastError   string    // why the last probe that did not pass did not; kept when the member recovers
	LastErrorAt time.Time // when that was; zero if every probe passed

	Probes      uint64 // probes that ended, of any outcome
	Failures    uint64 // those that failed
	NotProbed   uint64 // those that said nothing about the member
	Transitions uint64 // changes of state

	Admin model.AdminState // the operator's word; no part of the health
}

// Serves reports whether the member takes new connections: it is up, and the operator lets it.
func (s Status) Serves() bool { return s.State == Up && s.Admin == model.Enabled }

// String returns one line without times, as "up (probed), 2 successes in a row, 1 of 3 probes failed, drained".
func (s Status) String() string {
	text := fmt.Sprintf("%s (%s)", s.State, s.Evidence)
	if s.Undecided {
		text += " undecided"
	}
	if s.Consecutive > 0 {
		text += ", " + inARow(s.Last, s.Consecutive)
	}
	text += fmt.Sprintf(", %d of %d probes failed", s.Failures, s.Probes)
	if s.NotProbed > 0 {
		text += fmt.Sprintf(", %d not probed", s.NotProbed)
	}
	if s.LastError != "" {
		text += fmt.Sprintf(", last error: %s", s.LastError)
	}
	if s.Admin != model.Enabled {
		text += ", " + s.Admin.String()
	}
	return text
}

// inARow counts results that are alike.
func inARow(last Outcome, n int) string {
	switch {
	case last == Passed && n == 1:
		return "1 success"
	case last == Passed:
		return fmt.Sprintf("%d successes in a row", n)
	case n == 1:
		return "1 failure"
	}
	return fmt.Sprintf("%d failures in a row", n)
}
