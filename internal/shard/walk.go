package shard

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"hpnn/datapath/openflow"
)

// maxSteps bounds the walk of one class, which takes about a second then: names that rules are asked
// about.
const maxSteps = 100_000_000

// refusal is why frames of a class cannot be executed apart.
type refusal struct{ error }

// program is a rule set prepared for walking.
type program struct {
	names   names
	all     []uint32 // the names in ascending order
	tables  [256][]openflow.Flow
	lessons [256]bool // tables that flows are learned into
}

func newProgram(p openflow.Program, n names) *program {
	w := &program{names: n}
	for a := range n.set {
		w.all = append(w.all, a)
	}
	slices.Sort(w.all)
	for f := range p.All() {
		w.tables[f.Table] = append(w.tables[f.Table], f)
		for t := range taught(f.Actions) {
			w.lessons[t] = true
		}
	}
	for t := range w.tables {
		slices.SortStableFunc(w.tables[t], func(a, b openflow.Flow) int { return cmp.Compare(b.Priority, a.Priority) })
	}
	return w
}

// walk follows frames of one class through the tables.
type walk struct {
	*program
	seen    map[signature]bool
	steps   int
	tracks  bool // a ct() can be reached with IPv4
	touches bool // what can be reached remembers frames: ct(), learn(), or a table with learned flows
	keyed   bool // one of the frame's addresses is no name
	foreign bool // two addresses are no names: nothing of that is allowed
}

// enter looks a frame up in a table.
func (w *walk) enter(s state, table openflow.TableID) error {
	sig := s.signature(table)
	if w.seen[sig] {
		return nil
	}
	w.seen[sig] = true
	if w.lessons[table] && s.ipv4 {
		if w.touches = true; !w.foreign && (s.src.kind == unknown || s.dst.kind == unknown) {
			return refusal{fmt.Errorf("table %d has learned flows, and the addresses that are looked up there may be any", table)}
		}
	}
	rules := w.tables[table]
	for i := range rules {
		if w.steps += 1 + len(s.src.set) + len(s.dst.set); w.steps > maxSteps {
			return refusal{errors.New("the rules are too many to tell")}
		}
		m := s.meet(rules[i].Match.Terms())
		if m.feasible {
			if err := w.run(m.where, rules[i].Actions, &rules[i]); err != nil {
				return err
			}
		}
		if m.certain {
			return nil
		}
		s = m.elsewhere
	}
	return nil
}

// run executes a rule's actions, or a list inside one.
func (w *walk) run(s state, actions []openflow.Action, rule *openflow.Flow) error {
	for _, a := range actions {
		if err := w.act(&s, a, rule); err != nil {
			return err
		}
		if _, exit := a.(openflow.Exit); exit {
			return nil
		}
	}
	return nil
}

func (w *walk) act(s *state, a openflow.Action, rule *openflow.Flow) error {
	switch a := a.(type) {
	case openflow.SetField:
		s.set(a, w.names)
	case openflow.Move:
		s.move(a, w.names)
	case openflow.Pop:
		s.forget(a.Dst.Field)
	case openflow.Multipath:
		s.forget(a.Dst.Field)
	case openflow.GotoTable:
		return w.enter(*s, a.Table)
	case openflow.Resubmit:
		return w.resubmit(s, a, rule.Table)
	case openflow.Clone:
		return w.run(*s, a.Actions, rule)
	case openflow.WriteActions: // executed in the end, whatever the frame is then
		later := *s
		later.forgetAll()
		return w.run(later, a.Actions, rule)
	case openflow.CT:
		return w.track(s, a, rule)
	case openflow.Learn:
		return w.learn(s, a, rule)
	case openflow.Output, openflow.OutputField, openflow.Controller, openflow.Push, openflow.DecTTL, openflow.SetVLANVID,
		openflow.SetVLANPCP, openflow.PushVLAN, openflow.PopVLAN, openflow.CTClear, openflow.WriteMetadata,
		openflow.ClearActions, openflow.Note, openflow.Exit:
	default:
		return refusal{fmt.Errorf("%v: not known what it does", a)}
	}
	return nil
}

// resubmit looks the frame up in a table and comes back, with whatever was written there.
func (w *walk) resubmit(s *state, a openflow.Resubmit, from openflow.TableID) error {
	there, table := *s, a.Table
	if table == openflow.CurrentTable {
		table = from
	}
	if a.InPort != openflow.PortIn {
		there.port = uint16(a.InPort)
	}
	if err := w.enter(there, table); err != nil {
		return err
	}
	s.forgetAll()
	return nil
}

// set writes a constant.
func (s *state) set(a openflow.SetField, n names) {
	whole := a.Mask == a.Field.Mask()
	s.forget(a.Field)
	if whole && (isAddress(a.Field) || isRegister(a.Field)) {
		s.write(a.Field, uint32(a.Value.Lo), n)
	}
}

// move copies one field to another, as far as the walk knows fields.
func (s *state) move(a openflow.Move, n names) {
	from := *s
	s.forget(a.Dst.Field)
	if !a.Src.IsWhole() || !a.Dst.IsWhole() {
		return
	}
	var v value
	switch src := a.Src.Field; {
	case src == openflow.IPSrc:
		v = from.src
	case src == openflow.IPDst:
		v = from.dst
	case isRegister(src):
		if c, ok := from.regs[src-openflow.Reg0].whole(); ok {
			s.write(a.Dst.Field, c, n)
		}
		return
	}
	switch a.Dst.Field {
	case openflow.IPSrc:
		s.src = v
	case openflow.IPDst:
		s.dst = v
	}
}

// write notes that a field has a value.
func (s *state) write(f openflow.Field, c uint32, n names) {
	switch {
	case isRegister(f):
		s.regs[f-openflow.Reg0] = constant{c, ^uint32(0)}
	case n.set[c] && f == openflow.IPSrc:
		s.src = value{kind: name, set: []uint32{c}}
	case n.set[c] && f == openflow.IPDst:
		s.dst = value{kind: name, set: []uint32{c}}
	}
}
