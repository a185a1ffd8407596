package maglev

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// MaxSlots is the largest table: the slot number is the result of a 16-bit modulo_n hash.
const MaxSlots = 65536

// MaxWeight is the largest weight of a member.
const MaxWeight = 100

// Algorithm names a way of laying out slots. Its number is the version that enters the digest.
type Algorithm uint8

// Possible Algorithm values. Zero is reserved, so that a forgotten choice is an error.
const (
	// Maglev is version 1: turn-taking over the live members.
	Maglev Algorithm = 1
	// MaglevStable is version 2: turn-taking over the configured members, after which only
	// the slots of members that are not live are given to others.
	MaglevStable Algorithm = 2
)

// Default is the algorithm of a pool that does not name one.
const Default = MaglevStable

// ParseAlgorithm is the inverse of String: "maglev" or "maglev-stable".
func ParseAlgorithm(name string) (Algorithm, error) {
	for _, a := range []Algorithm{Maglev, MaglevStable} {
		if a.String() == name {
			return a, nil
		}
	}
	return 0, fmt.Errorf("parse layout algorithm: unknown name %q: use maglev or maglev-stable", name)
}

// String is the name used in configuration files.
func (a Algorithm) String() string {
	switch a {
	case Maglev:
		return "maglev"
	case MaglevStable:
		return "maglev-stable"
	}
	return fmt.Sprintf("algorithm(%d)", uint8(a))
}

// A Member of a pool, as configured and as seen now.
type Member struct {
	Key    string // address:port, unique in the pool; its spelling decides the layout
	Weight int    // 0..MaxWeight, relative to the other members; 0 takes no slots
	Live   bool   // false when dead or drained
}

// takes tells whether the member may own slots now.
func (m Member) takes() bool { return m.effective() > 0 }

// effective is the weight with which the member takes part now.
func (m Member) effective() int {
	if !m.Live {
		return 0
	}
	return m.Weight
}

// A Pool is everything a layout depends on.
type Pool struct {
	ID        uint16 // seeds the permutations; also the basis of the slot hash
	Slots     int    // 1..MaxSlots; any number, prime or not
	Algorithm Algorithm
	Members   []Member // in any order
}

// sound tells whether Validate has nothing to report. The members must be sorted by key, which
// makes it quick.
func (p Pool) sound() bool {
	if !p.sized() || !p.Algorithm.known() {
		return false
	}
	last := ""
	for _, m := range p.Members {
		if !m.named() || !m.weighted() || m.Key == last {
			return false
		}
		last = m.Key
	}
	return true
}

func (p Pool) sized() bool      { return p.Slots >= 1 && p.Slots <= MaxSlots }
func (a Algorithm) known() bool { return a == Maglev || a == MaglevStable }
func (m Member) weighted() bool { return m.Weight >= 0 && m.Weight <= MaxWeight }
func (m Member) named() bool {
	return m.Key != "" && m.Key != "-" && !strings.ContainsFunc(m.Key, unicode.IsSpace)
}

// Validate reports every fault of the pool, one per line, or nil.
func (p Pool) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("pool %d: "+format, append([]any{p.ID}, args...)...))
	}
	if !p.sized() {
		fault("slots %d out of range: use 1 to %d", p.Slots, MaxSlots)
	}
	if !p.Algorithm.known() {
		fault("unknown layout %v: use maglev or maglev-stable", p.Algorithm)
	}
	seen := make(map[string]bool, len(p.Members))
	for i, m := range p.Members {
		switch {
		case !m.named():
			fault("member %d: key %q: use address:port without spaces", i, m.Key)
		case seen[m.Key]:
			fault("member %d: key %q appears twice: remove one", i, m.Key)
		}
		seen[m.Key] = true
		if !m.weighted() {
			fault("member %d (%s): weight %d out of range: use 0 to %d", i, m.Key, m.Weight, MaxWeight)
		}
	}
	return errors.Join(faults...)
}
