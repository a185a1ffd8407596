package pipeline

import (
	"fmt"
	"slices"

	of "hpnn/datapath/openflow"
)

// A Rule is something that the flows of the pipeline keep.
type Rule uint8

// The rules.
const (
	RuleTable    Rule = iota + 1 // a flow is in a declared table
	RuleMatch                    // it matches fields that its table declares
	RuleSet                      // it changes fields that its table declares
	RuleJump                     // it leads to a later table that its table declares
	RuleEnd                      // its last action, and no other, sends the frame on
	RuleAction                   // it uses actions that the pipeline knows, in the way the pipeline uses them
	RuleNAT                      // a translation is that of TCP to one address and at most one port
	RuleLearn                    // what it learns is bounded, marked by a cookie, and allowed in the table it goes to
	RuleIdentity                 // it has no cookie and no timeout: those are for learned flows
	RuleOverlap                  // no frame matches two flows of a table with the same priority
	RuleMiss                     // a table's flow of priority 0 does what the table declares
	RuleDrop                     // a flow that drops has a declared reason
)

var ruleNames = [...]string{"", "table", "match", "set", "jump", "end", "action", "nat", "learn", "identity", "overlap", "miss", "drop"}

// String is the rule's name.
func (r Rule) String() string { return ruleNames[r] }

// A Finding is a breach of a rule.
type Finding struct {
	Rule    Rule
	Problem string
	Flows   []of.Flow // one; two that overlap; none if one is missing
}

// String is the rule, the problem and the flows.
func (f Finding) String() string {
	text := fmt.Sprintf("%v: %s", f.Rule, f.Problem)
	for _, flow := range f.Flows {
		text += "\n\t" + flow.String()
	}
	return text
}

// Lint holds a program to the declarations of the tables and to what no program may do to Open vSwitch 3.1. A rendered program
// has no findings. The order is that of the flows.
func Lint(p of.Program) []Finding {
	l := linter{tables: map[of.TableID]declaration{}, learned: map[level]bool{}}
	for _, t := range Tables() {
		l.tables[t.ID] = declare(t)
	}
	var equals []of.Flow // flows of one level
	for f := range p.All() {
		if len(equals) > 0 && levelOf(equals[0]) != levelOf(f) {
			l.overlaps(equals)
			equals = equals[:0]
		}
		equals = append(equals, f)
		l.flow(f)
	}
	l.overlaps(equals)
	for _, t := range Tables() {
		l.miss(p, t)
	}
	return l.findings
}

// A linter gathers findings.
type linter struct {
	tables   map[of.TableID]declaration
	learned  map[level]bool // that flows are learned into
	findings []Finding
}

// A level is a table and a priority.
type level struct {
	table    of.TableID
	priority uint16
}

func levelOf(f of.Flow) level { return level{f.Table, f.Priority} }

// A declaration is a table with its fields as sets.
type declaration struct {
	Table
	matches, sets fieldSet
}

// A fieldSet has a bit for each field.
type fieldSet [4]uint64

func setOf(fields []of.Field) (s fieldSet) {
	for _, f := range fields {
		s[f/64] |= 1 << (f % 64)
	}
	return s
}

func (s fieldSet) has(f of.Field) bool { return s[f/64]&(1<<(f%64)) != 0 }

func declare(t Table) declaration {
	t.Next = append(slices.Clone(t.Next), t.Miss.tables()...)
	return declaration{Table: t, matches: setOf(t.Matches), sets: setOf(t.Sets)}
}

func (l *linter) report(r Rule, f of.Flow, problem string, args ...any) {
	l.findings = append(l.findings, Finding{r, fmt.Sprintf(problem, args...), []of.Flow{f}})
}

func (l *linter) flow(f of.Flow) {
	t, ok := l.tables[f.Table]
	if !ok {
		l.report(RuleTable, f, "table %d is not declared", f.Table)
		return
	}
	for _, term := range f.Match.Terms() {
		if !t.matches.has(term.Field) {
			l.report(RuleMatch, f, "table %s does not match %v", t.Name, term.Field)
		}
	}
	if f.Cookie != 0 || f.IdleTimeout != 0 || f.HardTimeout != 0 {
		l.report(RuleIdentity, f, "a flow that is not learned has a cookie or a timeout")
	}
	if l.learned[levelOf(f)] {
		l.report(RuleLearn, f, "flows are learned into table %s with the same priority", t.Name)
	}
	if _, why := t.Why(f.Priority); len(f.Actions) == 0 && !why {
		l.report(RuleDrop, f, "table %s does not declare why", t.Name)
	}
	for i, a := range f.Actions {
		if l.action(t, f, a) == misplaced(i == len(f.Actions)-1) {
			l.report(RuleEnd, f, "action %d, %v, is not where it belongs: the last one sends the frame on, and it alone", i+1, a)
		}
	}
}

// miss checks a table's flow for frames that no other flow matches.
func (l *linter) miss(p of.Program, t Table) {
	f, ok := p.Get(of.Flow{Table: t.ID}.Key())
	switch {
	case !ok:
		l.findings = append(l.findings, Finding{RuleMiss, fmt.Sprintf("table %s has no flow of priority 0 for all frames", t.Name), nil})
	case !of.EqualActions(f.Actions, t.Miss.actions()):
		l.report(RuleMiss, f, "table %s declares %v for frames that match nothing", t.Name, t.Miss)
	}
}

// jump checks that a flow may lead to a table by one of these ways.
func (l *linter) jump(t declaration, f of.Flow, next of.TableID, ways []of.TableID) {
	switch {
	case next <= t.ID:
		l.report(RuleJump, f, "table %d is not after table %d", next, t.ID)
	case !slices.Contains(ways, next):
		l.report(RuleJump, f, "table %s does not lead to table %d", t.Name, next)
	}
}
