package openflow

// Learns reports whether some Learn in the program could have made f: with the same table,
// priority, cookie, timeouts and matched fields, the same constants, and actions of the same
// form. What the fields held in the learning frame may be anything.
func (p Program) Learns(f Flow) bool {
	for _, t := range p.learns[learnTarget{f.Table, f.Priority, f.Cookie}] {
		if t.fits(f) {
			return true
		}
	}
	return false
}

// learnTarget is where a Learn puts its flows.
type learnTarget struct {
	table    TableID
	priority uint16
	cookie   uint64
}

// learnTemplate is what the flows of a Learn have in common.
type learnTemplate struct {
	learn     Learn
	match     []Term // the conditions; the values mean nothing
	constants []Term // the bits that are always the same
	actions   []learnedAction
}

// learnedAction is an action of a learned flow.
type learnedAction struct {
	output bool
	set    SetField
	fixed  bool // the value is known
}

// collectLearns gathers the templates of all Learns among flows, each once.
func collectLearns(flows []Flow) map[learnTarget][]learnTemplate {
	var all map[learnTarget][]learnTemplate
	seen := map[string]bool{}
	var name []byte
	var visit func([]Action)
	visit = func(actions []Action) {
		for _, a := range actions {
			switch a := a.(type) {
			case Clone:
				visit(a.Actions)
			case Learn:
				name = a.append(name[:0])
				if seen[string(name)] {
					continue
				}
				seen[string(name)] = true
				if all == nil {
					all = map[learnTarget][]learnTemplate{}
				}
				target := learnTarget{a.Table, a.Priority, a.Cookie}
				all[target] = append(all[target], newLearnTemplate(a))
			}
		}
	}
	for _, f := range flows {
		visit(f.Actions)
	}
	return all
}

func newLearnTemplate(a Learn) learnTemplate {
	t := learnTemplate{learn: a}
	for _, s := range a.Specs {
		switch s := s.(type) {
		case LearnMatchField:
			t.addField(s.Dst)
		case LearnMatchValue:
			t.addConstant(s.Dst, s.Value)
		case LearnLoadField:
			t.actions = append(t.actions, learnedAction{set: Load(Value{}, s.Dst)})
		case LearnLoadValue:
			t.actions = append(t.actions, learnedAction{set: Load(s.Value, s.Dst), fixed: true})
		case LearnOutput:
			t.actions = append(t.actions, learnedAction{output: true})
		}
	}
	return t
}

// addField adds a condition on dst whose value the learning frame gives.
func (t *learnTemplate) addField(dst Subfield) {
	for s := range spread(dst.Field, Value{}, dst.Mask()) {
		t.match, _ = place(t.match, s)
		for i := range t.constants {
			if c := &t.constants[i]; c.Field == s.Field {
				c.Value, c.Mask = c.Value.AndNot(s.Mask), c.Mask.AndNot(s.Mask)
			}
		}
	}
}

// addConstant adds a condition on dst whose value is always v.
func (t *learnTemplate) addConstant(dst Subfield, v Value) {
	for s := range spread(dst.Field, v.Shl(int(dst.Offset)), dst.Mask()) {
		t.match, _ = place(t.match, s)
		t.constants, _ = place(t.constants, s)
	}
}

// fits reports whether the Learn could have made f.
func (t learnTemplate) fits(f Flow) bool {
	flags := Flags(0)
	if t.learn.SendFlowRem {
		flags = SendFlowRem
	}
	return f.Flags == flags && f.Importance == 0 && t.fitsTimeouts(f) && t.fitsMatch(f.Match) && t.fitsActions(f.Actions)
}

// fitsTimeouts allows for timeouts that a TCP FIN has lowered.
func (t learnTemplate) fitsTimeouts(f Flow) bool {
	fits := func(got, made, afterFIN uint16) bool {
		return got == made || afterFIN != 0 && got == afterFIN && (made == 0 || afterFIN < made)
	}
	return fits(f.IdleTimeout, t.learn.IdleTimeout, t.learn.FinIdleTimeout) &&
		fits(f.HardTimeout, t.learn.HardTimeout, t.learn.FinHardTimeout)
}

func (t learnTemplate) fitsMatch(m Match) bool {
	if len(t.match) != len(m.terms) {
		return false
	}
	for i, want := range t.match {
		got, known := m.terms[i], Match{t.constants}.Get(want.Field)
		made := Term{want.Field, got.Value.AndNot(known.Mask).Or(known.Value), want.Mask}
		if got != made.canonical() {
			return false
		}
	}
	return true
}

func (t learnTemplate) fitsActions(actions []Action) bool {
	if t.learn.FinIdleTimeout != 0 || t.learn.FinHardTimeout != 0 {
		if len(actions) == 0 || actions[0] != (FinTimeout{t.learn.FinIdleTimeout, t.learn.FinHardTimeout}) {
			return false
		}
		actions = actions[1:]
	}
	for _, want := range t.actions {
		if len(actions) > 0 && want.fits(actions[0]) {
			actions = actions[1:]
		} else if !want.output { // OVS leaves out an output to a port that takes none
			return false
		}
	}
	return len(actions) == 0
}

func (want learnedAction) fits(a Action) bool {
	switch a := a.(type) {
	case Output:
		return want.output
	case SetField:
		return !want.output && a.Field == want.set.Field && a.Mask == want.set.Mask && (!want.fixed || a.Value == want.set.Value)
	}
	return false
}
