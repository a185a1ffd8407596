package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"hpnn/internal/maglev"
	"hpnn/model"
)

// Layouts holds the slot table of each pool, by the pool's id.
type Layouts map[uint16]maglev.Table

// A MemberName names one member of one pool.
type MemberName struct{ Pool, Member string }

// String is "pool/member".
func (m MemberName) String() string { return m.Pool + "/" + m.Member }

// A State says which members take no new connections, on top of those that the topology drains. Names of no member mean
// nothing.
type State struct {
	Down    map[MemberName]bool // dead by their health monitor
	Drained map[MemberName]bool // by the operator's wish
}

// Takes reports whether a member may own slots.
func (s State) Takes(pool string, m model.Member) bool {
	name := MemberName{pool, m.Name}
	return m.Admin == model.Enabled && !s.Down[name] && !s.Drained[name]
}

// Layout lays out the slots of every pool of a valid topology. A pool none of whose members may own slots gets a table
// without owners, whatever its policy: the last layout that had some is history, which the caller may put in its place.
func Layout(t model.Topology, s State) Layouts {
	layouts := make(Layouts, len(t.Pools))
	for _, p := range t.Pools {
		table, err := maglev.Build(slotPool(p, s))
		if err != nil {
			panic("pipeline: " + err.Error())
		}
		layouts[p.ID] = table
	}
	return layouts
}

func slotPool(p model.Pool, s State) maglev.Pool {
	pool := maglev.Pool{ID: p.ID, Slots: int(p.Slots), Algorithm: maglev.Algorithm(p.Algorithm.Version())}
	for _, m := range p.Members {
		pool.Members = append(pool.Members, maglev.Member{Key: m.Key(), Weight: m.Weight, Live: s.Takes(p.Name, m)})
	}
	return pool
}

// FindMembers returns the members that a person means by "pool/member", or by "member" alone in whatever pools have one of
// that name.
func FindMembers(t model.Topology, name string) ([]MemberName, error) {
	var found, all []MemberName
	for _, p := range t.Pools {
		for _, m := range p.Members {
			all = append(all, MemberName{p.Name, m.Name})
		}
	}
	for _, m := range all {
		if name == m.Member || name == m.String() {
			found = append(found, m)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("find member %q: no pool has it: use %s", name, strings.Join(texts(all), ", "))
	}
	return found, nil
}

func texts(names []MemberName) []string {
	var all []string
	for _, n := range names {
		all = append(all, n.String())
	}
	slices.Sort(all)
	return all
}
