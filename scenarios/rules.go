package scenarios

import (
	"context"
	"fmt"
	"iter"
	"time"

	"hpnn/datapath/openflow"
	"hpnn/internal/control"
	"hpnn/internal/pipeline"
	"hpnn/model"
)

// A Rule is something that holds after every step of every story.
type Rule string

// The rules.
const (
	// InStep: the switch holds what a fresh rendering of the node's state gives, and learned flows, and
	// nothing else, so that a re-sync would be empty. A node that does not run, whose calls to the switch
	// are made to fail, or that was not yet given Grace to notice what others did, may be out of step.
	InStep Rule = "in step"
	// Lint: the rules keep what pipeline.Lint asks, for one that no frame matches two of equal priority.
	Lint Rule = "lint"
	// Living: no frame for a VIP leaves to a member that is down and owns no slot.
	Living Rule = "living"
	// Checksums: a frame whose checksums are right leaves with right ones.
	Checksums Rule = "checksums"
	// OneHop: the TTL of a frame falls by one at most, and not to zero.
	OneHop Rule = "one hop"
	// Translated: nothing addressed to a VIP leaves addressed to it.
	Translated Rule = "translated"
	// Disguised: no answer of a member to a client that called a VIP leaves with the member's address.
	Disguised Rule = "disguised"
)

// Grace is how long a node may take to notice that others changed the switch's flows.
const Grace = 2 * time.Second

// RuleMeanings explains the rules, in order.
func RuleMeanings() [][2]string {
	return [][2]string{
		{string(InStep), "The switch holds what a fresh rendering of the node's state gives, and learned flows, and nothing else: a re-sync would be empty. " +
			"A node that is dead, whose calls to the switch are made to fail, or that has not yet had " + Grace.String() + " to notice what others did, may be out of step."},
		{string(Lint), "The rules keep to the declarations of the pipeline's tables; no frame matches two flows of equal priority."},
		{string(Living), "No frame for a VIP leaves to a member that is down and owns no slot."},
		{string(Checksums), "A frame whose checksums are right leaves with right ones."},
		{string(OneHop), "The TTL of a frame falls by one at most, and never to zero."},
		{string(Translated), "Nothing addressed to a VIP leaves addressed to it."},
		{string(Disguised), "No answer of a member to a client that called a VIP leaves with the member's address."},
	}
}

// ViolationError says that a rule was broken.
type ViolationError struct {
	Rule   Rule
	Step   Step
	Detail string // what was wrong: the frame and where it left, or the flows
}

// Error names rule, step and frame.
func (e *ViolationError) Error() string {
	return fmt.Sprintf("%v: rule %q is broken: %s", e.Step, e.Rule, e.Detail)
}

// breach is a rule that was found broken.
type breach struct {
	rule   Rule
	detail string
}

// verify checks the rules after a step.
func (t *story) verify() error {
	if b := t.rules.broken; b != nil {
		return &ViolationError{b.rule, t.now, b.detail}
	}
	problem, err := t.violation()
	if err != nil || problem == "" || t.bed.Now() < t.rules.disturbed+Grace {
		return err
	}
	return &ViolationError{InStep, t.now, problem}
}

// verifyInTime does so where the node goes on while it is looked at. What is wrong for a moment may be a change under way:
// it must be right within the time that the node has.
func (t *story) verifyInTime() error {
	if t.bed.Now() < t.rules.disturbed+Grace { // this is not the time to wait for it: what comes next may be about just that
		return nil
	}
	var problem string
	var err error
	right := func() bool {
		t.rules.want = nil
		problem, err = t.violation()
		return err == nil && problem == ""
	}
	switch {
	case t.until(right, Grace+Slack):
		return nil
	case err != nil:
		return err
	}
	return &ViolationError{InStep, t.now, problem}
}

// violation is how the switch differs from what it should hold, if it may not.
func (t *story) violation() (string, error) {
	state := t.bed.Node().State()
	if !state.Running || state.Due > 0 || t.rules.failing {
		return "", nil
	}
	problem, err := t.outOfStep()
	if err != nil {
		return "", fmt.Errorf("%v: %w", t.now, err)
	}
	if problem != "" {
		return problem, nil
	}
	t.rules.damaged = false
	return "", t.lint()
}

// outOfStep is how the switch differs from what the node wants it to hold; empty if it does not.
func (t *story) outOfStep() (string, error) {
	entries, err := t.bed.Switch().Bridge().Flows(context.Background())
	if err != nil {
		return "", err
	}
	if t.rules.want == nil {
		want := t.bed.Node().Program()
		t.rules.want = &want
	}
	have := make([]openflow.Flow, len(entries))
	for i, e := range entries {
		have[i] = e.Flow
	}
	if problem := unlike(have, *t.rules.want); problem != "" {
		return problem, nil
	}
	if b := openflow.Diff(have, *t.rules.want); len(b) > 0 {
		return fmt.Sprintf("a re-sync would change %d flows: %v", len(b), b[0]), nil
	}
	return "", nil
}

// unlike is how the flows of a switch, in order, differ from a program; learned ones do not count.
func unlike(have []openflow.Flow, want openflow.Program) string {
	next, stop := iter.Pull(want.All())
	defer stop()
	for _, f := range have {
		if kind := f.Cookie & pipeline.CookieKind; kind == pipeline.CookieFDB || kind == pipeline.CookieAdjacency {
			continue
		}
		w, ok := next()
		if !ok || w.Key().Compare(f.Key()) > 0 {
			return fmt.Sprintf("the switch holds %v", f)
		}
		if !w.Equal(f) {
			return fmt.Sprintf("the switch lacks %v", w)
		}
	}
	if w, more := next(); more {
		return fmt.Sprintf("the switch lacks %v", w)
	}
	return ""
}

// lint checks the program that is in force, if it is another than the last time.
func (t *story) lint() error {
	if t.rules.linted {
		return nil
	}
	t.rules.linted = true
	if findings := pipeline.Lint(t.bed.Node().Program()); len(findings) > 0 {
		return &ViolationError{Lint, t.now, findings[0].String()}
	}
	return nil
}

// rules is what the rules have to remember.
type rules struct {
	broken    *breach // the first
	failing   bool    // calls of the node to the switch fail
	damaged   bool    // flows of others are in the switch: frames may go anywhere
	disturbed time.Duration
	linted    bool
	want      *openflow.Program            // what the node wants the switch to hold; nil if it may be another by now
	services  map[endpoint]uint16          // the pool of each listener, by its address and port
	vips      map[address]bool             // of all listeners
	dead      map[uint16]map[endpoint]bool // members that are proved down and own no slot, by pool
	members   map[endpoint]bool            // of any pool
	balanced  map[conversation]bool        // whether it is by a VIP, as its last SYN was
}

// begin starts anew for a topology.
func (r *rules) begin(t model.Topology) {
	*r = rules{balanced: map[conversation]bool{}, disturbed: -Grace}
	r.learn(t)
}

// learn takes in a topology.
func (r *rules) learn(t model.Topology) {
	r.linted, r.want = false, nil
	r.services, r.vips, r.members = map[endpoint]uint16{}, map[address]bool{}, map[endpoint]bool{}
	for _, l := range t.Listeners {
		p, _ := t.Pool(l.Pool)
		r.services[endpoint{l.VIP.As4(), l.Port}] = p.ID
		r.vips[l.VIP.As4()] = true
	}
	for _, p := range t.Pools {
		for _, m := range p.Members {
			r.members[endpoint{m.Address.As4(), m.Port}] = true
		}
	}
}

// committed takes in what the node has brought about.
func (r *rules) committed(t model.Topology, v control.View) {
	r.linted, r.want = false, nil
	r.dead = map[uint16]map[endpoint]bool{}
	for _, p := range v.Pools {
		r.dead[p.ID] = map[endpoint]bool{}
		pool, _ := t.Pool(p.Name)
		for i, m := range p.Members {
			if i < len(pool.Members) && !m.Up && !m.Doubted && !m.InPool && m.Admin == model.Enabled.String() {
				r.dead[p.ID][endpoint{pool.Members[i].Address.As4(), pool.Members[i].Port}] = true
			}
		}
	}
}

func (r *rules) breaks(rule Rule, format string, values ...any) {
	if r.broken == nil {
		r.broken = &breach{rule, fmt.Sprintf(format, values...)}
	}
}
