package simbackend

import (
	"fmt"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend/flow"
)

// learnCode is a learn() action worked out: the mask of the flows it makes, the constant part
// of their value, and what is copied from the learning frame.
type learnCode struct {
	action      openflow.Learn
	value, mask flow.Key
	copies      []copied
}

// copied is a part of the learned flow's match that comes from the learning frame.
type copied struct{ dst, src flow.Ref }

func compileLearn(a openflow.Learn) (op, error) {
	if a.DeleteLearned || a.FinIdleTimeout != 0 || a.FinHardTimeout != 0 {
		return op{}, fmt.Errorf("%v: delete_learned and fin timeouts: %w by the simulator", a, datapath.ErrNotSupported)
	}
	c := learnCode{action: a}
	var match openflow.Match
	for _, s := range a.Specs {
		switch s := s.(type) {
		case openflow.LearnMatchValue:
			match = matchSub(match, s.Dst, s.Value)
		case openflow.LearnMatchField:
			match = matchSub(match, s.Dst, openflow.Value{})
			c.copies = append(c.copies, copied{flow.NewRef(s.Dst), flow.NewRef(s.Src)})
		}
	}
	c.value, c.mask = flow.Compile(match)
	return op{code: opLearn, dst: flow.NewRef(a.ResultDst), header: isHeader(a.ResultDst.Field), more: &operand{learn: c}}, nil
}

func matchSub(m openflow.Match, dst openflow.Subfield, v openflow.Value) openflow.Match {
	return m.WithMask(dst.Field, v.Shl(int(dst.Offset)), dst.Mask())
}

// key is the value of the flow that a frame with fields k makes.
func (c *learnCode) key(k *flow.Key) flow.Key {
	value := c.value
	for i := range c.copies {
		s := &c.copies[i]
		s.dst.Set(&value, s.src.Get(k))
	}
	for i := range value {
		value[i] &= c.mask[i]
	}
	return value
}

// flow is the flow that a frame with fields k makes.
func (c *learnCode) flow(k *flow.Key) openflow.Flow {
	a := &c.action
	f := openflow.Flow{
		Table: a.Table, Priority: a.Priority, Cookie: a.Cookie,
		IdleTimeout: a.IdleTimeout, HardTimeout: a.HardTimeout,
	}
	if a.SendFlowRem {
		f.Flags = openflow.SendFlowRem
	}
	for _, s := range a.Specs {
		switch s := s.(type) {
		case openflow.LearnMatchValue:
			f.Match = matchSub(f.Match, s.Dst, s.Value)
		case openflow.LearnMatchField:
			f.Match = matchSub(f.Match, s.Dst, k.GetSub(s.Src))
		default:
			f.Actions = append(f.Actions, learnedAction(s, k))
		}
	}
	return f
}

// learnedAction is the action that a spec makes of a frame with fields k.
func learnedAction(s openflow.LearnSpec, k *flow.Key) openflow.Action {
	switch s := s.(type) {
	case openflow.LearnLoadField:
		return openflow.Load(k.GetSub(s.Src), s.Dst)
	case openflow.LearnLoadValue:
		return openflow.Load(s.Value, s.Dst)
	case openflow.LearnOutput:
		return openflow.Output{Port: openflow.PortNo(k.GetSub(s.Src).Lo)}
	}
	panic(fmt.Sprintf("simbackend: learn spec %v is not an action", s))
}

// agrees reports whether the rule has the actions that the frame would give it.
func (c *learnCode) agrees(r *rule, k *flow.Key) bool {
	n := 0
	for _, s := range c.action.Specs {
		switch s := s.(type) {
		case openflow.LearnLoadField:
			v, ok := at[openflow.SetField](r, n)
			if !ok || v != openflow.Load(k.GetSub(s.Src), s.Dst) {
				return false
			}
		case openflow.LearnLoadValue:
			v, ok := at[openflow.SetField](r, n)
			if !ok || v != openflow.Load(s.Value, s.Dst) {
				return false
			}
		case openflow.LearnOutput:
			v, ok := at[openflow.Output](r, n)
			if !ok || v.Port != openflow.PortNo(k.GetSub(s.Src).Lo) {
				return false
			}
		default:
			continue
		}
		n++
	}
	return n == len(r.flow.Actions) && r.flow.Cookie == c.action.Cookie
}

// at is the rule's action n, if it is an A.
func at[A openflow.Action](r *rule, n int) (a A, ok bool) {
	if n < len(r.flow.Actions) {
		a, ok = r.flow.Actions[n].(A)
	}
	return a, ok
}

// learn executes a learn() action for a frame with fields k. A new or changed flow waits in
// p.learned, for the pass that learns a flow does not see it. It reports whether the limit
// allowed it.
func (p *pass) learn(c *learnCode) bool {
	value := c.key(&p.key)
	r := p.sw.tables[c.action.Table].exact(&value, &c.mask, c.action.Priority)
	switch {
	case p.preview && r != nil:
		return true
	case r != nil && c.agrees(r, &p.key):
		r.modified = p.sw.now
		p.sw.timed(r)
		return true
	case r == nil && c.action.Limit != 0 && p.cookies(c) >= int(c.action.Limit):
		return false
	}
	p.learned = append(p.learned, c.flow(&p.key))
	return true
}

// cookies counts the flows that c's limit is about.
func (p *pass) cookies(c *learnCode) int {
	n := p.sw.cookies[cookieKey{c.action.Table, c.action.Cookie}]
	for _, f := range p.learned {
		if f.Table == c.action.Table && f.Cookie == c.action.Cookie {
			n++
		}
	}
	return n
}

// cookieKey is what a learn limit counts by.
type cookieKey struct {
	table  openflow.TableID
	cookie uint64
}

// settle puts the flows learned by a pass into the tables. One that is there already with other
// actions is modified: it keeps its counters, timeouts and idle time.
func (s *Switch) settle(learned []openflow.Flow) {
	for _, f := range learned {
		code, err := compile(f.Actions)
		if err != nil {
			panic(fmt.Sprintf("simbackend: learned flow %v: %v", f, err)) // loads and outputs always compile
		}
		value, mask := flow.Compile(f.Match)
		old := s.tables[f.Table].exact(&value, &mask, f.Priority)
		if old == nil {
			s.insert(&rule{flow: f, value: value, code: code, added: s.now, modified: s.now, used: s.now})
			continue
		}
		s.replace(old, s.modified(old, f, code))
	}
}
