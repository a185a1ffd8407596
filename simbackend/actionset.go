package simbackend

import (
	"strings"

	"hpnn/datapath/openflow"
)

// actionSet is OpenFlow's action set: at most one action of a kind, executed in an order of
// its own when the pass ends (OpenFlow 1.5, 5.6).
type actionSet struct {
	list    []openflow.Action
	written bool // at any time in this pass
}

func (s *actionSet) reset()      { s.list, s.written = s.list[:0], false }
func (s *actionSet) clear()      { s.list = s.list[:0] }
func (s *actionSet) empty() bool { return len(s.list) == 0 }

// write merges actions in.
func (s *actionSet) write(c *code) {
	s.list = append(s.list, c.actions...)
	s.written = true
}

// String is the actions in the order in which they would be executed.
func (s *actionSet) String() string {
	var b strings.Builder
	for i, a := range s.ordered() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(a.String())
	}
	return b.String()
}

// Ranks of actions in the set's order.
const (
	rankPopVLAN = iota
	rankPushVLAN
	rankDecTTL
	rankSet
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
	}
	return rankSet
}

// ordered sorts the set by rank. Of one kind the last written counts; sets and moves all count,
// in the order written.
func (s *actionSet) ordered() []openflow.Action {
	var out []openflow.Action
	for r := range ranks {
		var last openflow.Action
		for _, a := range s.list {
			switch {
			case rank(a) != r:
			case r == rankSet:
				out = append(out, a)
			default:
				last = a
			}
		}
		if last != nil {
			out = append(out, last)
		}
	}
	return out
}

// runSet executes the action set, unless an exit has dropped it.
func (p *pass) runSet() {
	if p.trace != nil {
		p.trace.actionSet()
	}
	if p.exited {
		return
	}
	c, err := compile(p.set.ordered())
	if err != nil {
		p.fail(err, err.Error())
		return
	}
	p.run(&c, openflow.CurrentTable)
}
