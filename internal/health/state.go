package health

import "fmt"

// A State is what a member counts as.
type State uint8

// The states.
const (
	Down State = iota // gets no new connections
	Up                // may get them, if it is enabled
)

// Evidence is what a member's state rests on.
type Evidence uint8

// The kinds of evidence.
const (
	Assumed Evidence = iota // the monitor's initial state; no verdict yet
	Adopted                 // found in place at start ([Seed]); no verdict yet
	Probed                  // `rise` or `fall` results in a row, or the first success
)

// A Seed is what is known of a member before its first probe, for instance from the slots the switch holds.
type Seed uint8

// The seeds.
const (
	Unknown  Seed = iota // nothing: the monitor's initial state applies
	SeenUp               // it was live: only `fall` failures in a row take it down
	SeenDown             // it was dead: only `rise` successes in a row bring it up
)

// String returns down or up.
func (s State) String() string { return name(s, "state", "down", "up") }

// MarshalText returns down or up.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String returns assumed, adopted or probed.
func (e Evidence) String() string { return name(e, "evidence", "assumed", "adopted", "probed") }

// MarshalText returns assumed, adopted or probed.
func (e Evidence) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// String returns unknown, up or down.
func (s Seed) String() string { return name(s, "seed", "unknown", "up", "down") }

func name[E ~uint8](v E, what string, names ...string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", what, uint8(v))
}
