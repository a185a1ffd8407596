package simbackend

import (
	"slices"

	"hpnn/datapath/openflow"
)

// actionSet is OpenFlow's action set: at most one action of a kind, executed in an order of
// its own when the pass ends (OpenFlow 1.5, 5.6).
type actionSet struct {
	list   []openflow.Action
	output bool // one was written in this pass and not cleared: the fields hold it (actset_output)
}

func (s *actionSet) reset()          { s.list, s.output = s.list[:0], false }
func (s *actionSet) clear()          { s.list = s.list[:0] }
func (s *actionSet) copy() actionSet { return actionSet{slices.Clone(s.list), s.output} }
func (s *actionSet) empty() bool     { return len(s.list) == 0 }

// write merges actions in.
func (s *actionSet) write(c *code) {
	s.list = append(s.list, c.actions...)
	s.output = s.output || slices.ContainsFunc(c.actions, func(a openflow.Action) bool { return rank(a) == rankOutput })
}

// shown is the actions in the order in which they would be executed, as a trace goes on after
// "action set is".
func (s *actionSet) shown() string {
	ordered := s.ordered()
	if len(ordered) == 0 {
		return " empty"
	}
	return ": " + openflow.FormatActions(ordered)
}

// Ranks of actions in the set's order.
const (
	rankPopVLAN = iota
	rankPushVLAN
	rankDecTTL
	rankSet
	rankCT // from here on only the last that is there counts
	rankCTClear
	rankResubmit
	rankOutput
	ranks
)

func rank(a openflow.Action) int {
	switch a.(type) {
	case openflow.PopVLAN:
		return rankPopVLAN
	case openflow.PushVLAN:
		return rankPushVLAN
	case openflow.DecTTL:
		return rankDecTTL
	case openflow.Output, openflow.OutputField, openflow.Controller:
		return rankOutput
	case openflow.Resubmit:
		return rankResubmit
	case openflow.CTClear:
		return rankCTClear
	case openflow.CT:
		return rankCT
	}
	return rankSet
}

// ordered sorts the set by rank. Of one kind the last written counts; sets and moves all count,
// in the order written. Only one action sends the frame somewhere, that of the highest rank; if
// there is none, the set does nothing.
func (s *actionSet) ordered() []openflow.Action {
	var last [ranks]openflow.Action
	var sets []openflow.Action
	for _, a := range s.list {
		if r := rank(a); r == rankSet {
			sets = append(sets, a)
		} else {
			last[r] = a
		}
	}
	var final openflow.Action
	for _, a := range last[rankCT:] {
		if a != nil {
			final = a
		}
	}
	if final == nil {
		return nil
	}
	var out []openflow.Action
	for _, a := range last[:rankSet] {
		if a != nil {
			out = append(out, a)
		}
	}
	return append(append(out, sets...), final)
}

// runSet executes the action set, unless an exit has dropped it. table is where the pass began:
// a resubmit to the current table goes there.
func (p *pass) runSet(table openflow.TableID) {
	ordered := p.set.ordered()
	p.set.clear()
	if p.trace != nil && len(ordered) > 0 {
		defer p.trace.actionSet()()
	}
	if p.exited || len(ordered) == 0 {
		return
	}
	c, err := compile(ordered)
	if err != nil {
		p.fail(err, err.Error())
		return
	}
	p.inSet = true
	p.perform(c, table)
	p.inSet = false
}
