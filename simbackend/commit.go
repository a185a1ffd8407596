package simbackend

import (
	"errors"
	"fmt"
	"slices"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend/flow"
)

var (
	errBadTable = errors.New("table is not one a flow can be in: use 0 to 253")
	errOwnTable = errors.New("OFPBRC_EPERM: it is about flows of table 254, the switch's own: name another table")
	errOverlap  = errors.New("OFPFMFC_OVERLAP: another flow of the same priority overlaps, and check_overlap was asked for")
)

// lastTable is the highest table flows can be added to; 254 is the switch's own.
const lastTable = 253

// commit applies a bundle. Frames see all of it or nothing: if a modification fails, those before
// it are undone.
func (s *Switch) commit(b openflow.Bundle) error {
	s.cache.settle()
	t := transaction{sw: s, done: make([]change, 0, len(b)), left: len(b), codes: newCodes()}
	for i := range b {
		m := &b[i]
		if err := t.apply(m); err != nil {
			t.undo()
			return &datapath.CommitError{Index: i, Mod: *m, Err: err}
		}
		t.left--
	}
	return nil
}

// transaction is a bundle being applied, and how to take it back.
type transaction struct {
	sw    *Switch
	done  []change
	left  int // modifications to come
	codes codes
	rules []rule   // room for those to come
	words []uint64 // and for their values
}

// newRule is room for a rule, which lies together with others that came with it.
func (t *transaction) newRule() *rule {
	if len(t.rules) == 0 {
		t.rules = make([]rule, min(max(t.left, 1), together))
	}
	r := &t.rules[0]
	t.rules = t.rules[1:]
	return r
}

// packed is the words of a value that a subtable compares.
func (t *transaction) packed(s *subtable, value *flow.Key) []uint64 {
	n := len(s.words)
	if cap(t.words)-len(t.words) < n {
		t.words = make([]uint64, 0, n*min(max(t.left, 1), together))
	}
	t.words = s.appendPacked(t.words, value)
	end := len(t.words)
	return t.words[end-n : end : end]
}

// together is how many rules share a piece of memory: it is kept as long as one of them is.
const together = 46

// change is a rule that took the place of another; either may be missing.
type change struct{ old, new *rule }

func (t *transaction) change(old, new *rule) {
	switch {
	case new == nil:
		t.sw.remove(old)
	case old == nil:
		t.sw.insert(new)
	default:
		t.sw.replace(old, new)
	}
	t.done = append(t.done, change{old, new})
}

func (t *transaction) undo() {
	for _, c := range slices.Backward(t.done) {
		switch {
		case c.new == nil:
			t.sw.insert(c.old)
		case c.old == nil:
			t.sw.remove(c.new)
		default:
			t.sw.replace(c.new, c.old)
		}
	}
}

func (t *transaction) apply(m *openflow.FlowMod) error {
	switch m.Command {
	case openflow.Add:
		return t.add(&m.Flow)
	case openflow.Modify, openflow.ModifyStrict:
		return t.modify(*m)
	}
	found := t.sw.selected(*m)
	if len(found) == 0 && selectsOwn(*m) {
		return errOwnTable
	}
	for _, r := range found {
		t.change(r, nil)
	}
	return nil
}

// ownTable is where the switch keeps flows of its own; to them the actions of a table miss go.
const ownTable = 254

var ownFlows = []openflow.Flow{
	{Table: ownTable, Match: openflow.Match{}.With(openflow.Reg0, openflow.Value{Lo: 1}), Actions: []openflow.Action{openflow.Controller{}}},
	{Table: ownTable, Match: openflow.Match{}.With(openflow.Reg0, openflow.Value{Lo: 2})},
	{Table: ownTable, Match: openflow.Match{}.With(openflow.Reg0, openflow.Value{Lo: 3})},
}

// selectsOwn reports whether a delete is about flows of the switch's own. OVS hides them from those that name no table,
// but finds flows of a cookie in all tables.
func selectsOwn(m openflow.FlowMod) bool {
	if m.Flow.Table == openflow.CurrentTable && m.CookieMask != ^uint64(0) {
		return false
	}
	return slices.ContainsFunc(ownFlows, m.Selects)
}

// ready checks a flow and works out its actions.
func (t *transaction) ready(f *openflow.Flow) (*code, error) {
	if f.Table > lastTable {
		return nil, errBadTable
	}
	return t.codes.ready(f)
}

// add adds a flow. One with the same key gives way; its counters and idle time go over.
func (t *transaction) add(f *openflow.Flow) error {
	c, err := t.ready(f)
	if err != nil {
		return err
	}
	r := t.newRule()
	r.flow, r.priority, r.code = *f, f.Priority, c
	r.flow.Actions = c.actions
	var value, mask flow.Key
	flow.CompileTo(f.Match, &value, &mask)
	r.home = t.sw.tables[f.Table].home(&mask)
	r.value = t.packed(r.home, &value)
	old := r.home.exact(&value, f.Priority)
	if f.Flags&openflow.CheckOverlap != 0 && t.overlaps(f, old) {
		return errOverlap
	}
	r.added, r.modified, r.used = t.sw.now, t.sw.now, t.sw.now
	if old != nil {
		r.used = old.used
		if f.Flags&openflow.ResetCounts == 0 {
			r.packets, r.bytes = old.packets, old.bytes
		}
	}
	t.change(old, r)
	return nil
}

func (t *transaction) overlaps(f *openflow.Flow, same *rule) bool {
	for r := range t.sw.tables[f.Table].all {
		if r != same && r.priority == f.Priority && r.flow.Match.Overlaps(f.Match) {
			return true
		}
	}
	return false
}

// modify changes the actions of the flows selected, and nothing else of them. If there are none, it
// does nothing: unlike OpenFlow 1.0, later versions do not add the flow.
func (t *transaction) modify(m openflow.FlowMod) error {
	c, err := t.ready(&m.Flow)
	if err != nil {
		return err
	}
	for _, old := range t.sw.selected(m) {
		f := m.Flow
		f.Cookie = old.flow.Cookie
		t.change(old, t.sw.modified(old, f, c))
	}
	return nil
}

// modified is old with the actions and cookie of f.
func (s *Switch) modified(old *rule, f openflow.Flow, c *code) *rule {
	r := *old
	r.flow.Actions, r.flow.Cookie, r.code = f.Actions, f.Cookie, c
	r.modified, r.paths, r.line = s.now, nil, 0
	if f.Flags&openflow.ResetCounts != 0 {
		r.packets, r.bytes = 0, 0
	}
	return &r
}

// selected lists the rules that a modify or delete is about, oldest first.
func (s *Switch) selected(m openflow.FlowMod) []*rule {
	if m.Command == openflow.ModifyStrict || m.Command == openflow.DeleteStrict {
		return s.selectedStrict(m)
	}
	var found []*rule
	for id := range s.tables {
		if m.Flow.Table != openflow.CurrentTable && int(m.Flow.Table) != id {
			continue
		}
		for r := range s.tables[id].all {
			if m.Selects(r.flow) {
				found = append(found, r)
			}
		}
	}
	slices.SortFunc(found, func(a, b *rule) int { return int(a.seq) - int(b.seq) })
	return found
}

func (s *Switch) selectedStrict(m openflow.FlowMod) []*rule {
	value, mask := flow.Compile(m.Flow.Match)
	var found []*rule
	for id := range s.tables {
		if m.Flow.Table != openflow.CurrentTable && int(m.Flow.Table) != id {
			continue
		}
		if r := s.tables[id].exact(&value, &mask, m.Flow.Priority); r != nil && m.Selects(r.flow) {
			found = append(found, r)
		}
	}
	return found
}

// entries lists every rule in the order of a Program.
func (s *Switch) entries() []openflow.FlowEntry {
	s.cache.settle()
	all := make([]openflow.FlowEntry, 0, s.flows())
	for id := range s.tables {
		for r := range s.tables[id].all {
			all = append(all, r.entry(s.now))
		}
	}
	slices.SortFunc(all, func(a, b openflow.FlowEntry) int { return a.Key().Compare(b.Key()) })
	return all
}

// port returns a port by number, for an Injection.
func (s *Switch) port(number openflow.PortNo) (*datapath.Port, error) {
	if p := s.ports.find(number); p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("port %d does not exist", number)
}
