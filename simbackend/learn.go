package simbackend

import (
	"fmt"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend/flow"
)

// learnCode is a learn() action worked out: the mask of the flows it makes, and where their values
// come from, one after the other.
type learnCode struct {
	action openflow.Learn
	mask   flow.Key
	parts  []part
	// untagged is the mask of the flow that an untagged frame makes, if that is another: one whose
	// vlan_tci comes from the frame.
	untagged flow.Key
	tag      bool
}

// part is a part of the learned flow's match: a constant, or what the learning frame has in src.
type part struct {
	dst, src flow.Ref
	constant bool
	value    openflow.Value
}

func compileLearn(a openflow.Learn) (op, error) {
	if a.DeleteLearned || a.FinIdleTimeout != 0 || a.FinHardTimeout != 0 {
		return op{}, fmt.Errorf("%v: delete_learned and fin timeouts: %w by the simulator", a, datapath.ErrNotSupported)
	}
	if f, ok := leftOut(a); ok {
		return op{}, fmt.Errorf("%v: a condition on %v, which the real switch leaves out: %w by the simulator", a, f, datapath.ErrNotSupported)
	}
	c := learnCode{action: a}
	var tagged, untagged openflow.Match
	for _, s := range a.Specs {
		switch s := s.(type) {
		case openflow.LearnMatchValue:
			tagged, untagged = matchSub(tagged, s.Dst, s.Value), matchSub(untagged, s.Dst, s.Value)
			c.parts = append(c.parts, part{dst: flow.NewRef(s.Dst), constant: true, value: s.Value})
		case openflow.LearnMatchField:
			ones := openflow.Ones(int(s.Dst.Width))
			tagged, untagged = matchSub(tagged, s.Dst, ones), matchSub(untagged, s.Dst, openflow.Value{})
			c.parts = append(c.parts, part{dst: flow.NewRef(s.Dst), src: flow.NewRef(s.Src)})
		}
	}
	_, c.mask = flow.Compile(tagged)
	_, c.untagged = flow.Compile(untagged)
	c.tag = c.mask != c.untagged
	return op{code: opLearn, dst: flow.NewRef(a.ResultDst), header: isHeader(a.ResultDst.Field), more: &operand{learn: c}}, nil
}

// leftOut finds a condition that the real switch leaves out of the flows it learns, so that they
// match more than was written: one on a part of a field that takes no mask, and for these three
// fields, which are shorter than their bytes, even one on the whole.
func leftOut(a openflow.Learn) (openflow.Subfield, bool) {
	for _, s := range a.Specs {
		var dst openflow.Subfield
		switch s := s.(type) {
		case openflow.LearnMatchValue:
			dst = s.Dst
		case openflow.LearnMatchField:
			dst = s.Dst
		default:
			continue
		}
		short := dst.Field == openflow.IPDSCP || dst.Field == openflow.IPECN || dst.Field == openflow.VLANPCP
		if short || !dst.IsWhole() && !maskable(dst.Field) {
			return dst, true
		}
	}
	return openflow.Subfield{}, false
}

// maskable reports whether a match may be about a part of a field.
func maskable(f openflow.Field) bool {
	switch f {
	case openflow.InPort, openflow.EthType, openflow.CTZone, openflow.CTNwProto, openflow.IPProto, openflow.ARPOp,
		openflow.IPTTL, openflow.ICMPType, openflow.ICMPCode, openflow.ICMPv6Type, openflow.ICMPv6Code:
		return false
	}
	return true
}

func matchSub(m openflow.Match, dst openflow.Subfield, v openflow.Value) openflow.Match {
	return m.WithMask(dst.Field, v.Shl(int(dst.Offset)), dst.Mask())
}

// key is the value of the flow that a frame with fields k makes, and its mask.
func (c *learnCode) key(k *flow.Key) (value flow.Key, mask *flow.Key) {
	for i := range c.parts {
		switch s := &c.parts[i]; {
		case s.constant:
			s.dst.Set(&value, s.value)
		default:
			s.dst.Set(&value, s.src.Get(k))
		}
	}
	mask = &c.mask
	if c.tag && value.Get(openflow.VLANTCI).IsZero() {
		mask = &c.untagged
	}
	for i := range value {
		value[i] &= mask[i]
	}
	return value, mask
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
			if a := learnedAction(s, k); a != nil {
				f.Actions = append(f.Actions, a)
			}
		}
	}
	return f
}

// learnedAction is the action that a spec makes of a frame with fields k; nil if there is none, for
// an output to what is no port.
func learnedAction(s openflow.LearnSpec, k *flow.Key) openflow.Action {
	switch s := s.(type) {
	case openflow.LearnLoadField:
		return openflow.Load(k.GetSub(s.Src), s.Dst)
	case openflow.LearnLoadValue:
		return openflow.Load(s.Value, s.Dst)
	case openflow.LearnOutput:
		if port, ok := learnedPort(k.GetSub(s.Src)); ok {
			return openflow.Output{Port: port}
		}
		return nil
	}
	panic(fmt.Sprintf("simbackend: learn spec %v is not an action", s))
}

// learnedPort is the port of a value, if a learned flow may name it.
func learnedPort(v openflow.Value) (openflow.PortNo, bool) {
	if v.BitLen() > 16 {
		return 0, false
	}
	switch p := openflow.PortNo(v.Lo); p {
	case openflow.PortIn, openflow.PortFlood, openflow.PortAll, openflow.PortLocal:
		return p, true
	default:
		return p, p < openflow.PortMax
	}
}

// agrees reports whether f, which has the match and priority of the flow that the frame would
// make, is that flow in all else too, so that learning it again only refreshes it.
func (c *learnCode) agrees(f *openflow.Flow, k *flow.Key) bool {
	a := &c.action
	if f.Cookie != a.Cookie || f.IdleTimeout != a.IdleTimeout || f.HardTimeout != a.HardTimeout ||
		f.Importance != 0 || f.Flags&openflow.SendFlowRem != 0 != a.SendFlowRem {
		return false
	}
	n := 0
	for _, s := range a.Specs {
		switch s := s.(type) {
		case openflow.LearnLoadField:
			v, ok := at[openflow.SetField](f, n)
			if !ok || v != openflow.Load(k.GetSub(s.Src), s.Dst) {
				return false
			}
		case openflow.LearnLoadValue:
			v, ok := at[openflow.SetField](f, n)
			if !ok || v != openflow.Load(s.Value, s.Dst) {
				return false
			}
		case openflow.LearnOutput:
			port, ok := learnedPort(k.GetSub(s.Src))
			if !ok {
				continue
			}
			if v, ok := at[openflow.Output](f, n); !ok || v.Port != port {
				return false
			}
		default:
			continue
		}
		n++
	}
	return n == len(f.Actions)
}

// at is the flow's action n, if it is an A.
func at[A openflow.Action](f *openflow.Flow, n int) (a A, ok bool) {
	if n < len(f.Actions) {
		a, ok = f.Actions[n].(A)
	}
	return a, ok
}

// lesson is a flow that a pass has learned, which waits for the pass to end: the pass itself
// does not see it.
type lesson struct {
	flow        openflow.Flow
	value, mask flow.Key
	old         *rule // whose place it takes, or nil
}

// learn executes a learn() action for a frame with fields k. It reports whether the limit
// allowed it. The limit is asked before a flow is added and before one is changed.
func (p *pass) learn(c *learnCode) bool {
	value, mask := c.key(&p.key)
	waiting := p.lesson(c, &value, mask)
	r := p.sw.tables[c.action.Table].exact(&value, mask, c.action.Priority)
	switch {
	case p.preview && r != nil:
		p.fleeting = true
		return true
	case waiting != nil && c.agrees(&waiting.flow, &p.key):
		return true
	case waiting == nil && r != nil && c.agrees(&r.flow, &p.key):
		r.modified = p.sw.now
		p.sw.timed(r)
		if p.recorded {
			p.met = append(p.met, met{c.action.Table, true, r})
		}
		return true
	case c.action.Limit != 0 && p.cookies(c) >= int(c.action.Limit):
		p.fleeting = true
		return false
	case waiting != nil:
		waiting.flow = modifiedFlow(waiting.flow, c.flow(&p.key))
	default:
		p.learned = append(p.learned, lesson{c.flow(&p.key), value, *mask, r})
	}
	return true
}

// lesson is what the pass has learned of a flow with c's priority and this match, or nil.
func (p *pass) lesson(c *learnCode, value, mask *flow.Key) *lesson {
	for i := range p.learned {
		l := &p.learned[i]
		if l.flow.Table == c.action.Table && l.flow.Priority == c.action.Priority && l.value == *value && l.mask == *mask {
			return l
		}
	}
	return nil
}

// cookies counts the flows that c's limit is about.
func (p *pass) cookies(c *learnCode) int {
	n := p.sw.cookies[cookieKey{c.action.Table, c.action.Cookie}]
	for i := range p.learned {
		l := &p.learned[i]
		if l.flow.Table != c.action.Table {
			continue
		}
		if l.flow.Cookie == c.action.Cookie {
			n++
		}
		if l.old != nil && l.old.flow.Cookie == c.action.Cookie {
			n--
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
func (s *Switch) settle(learned []lesson) {
	if len(learned) == 0 {
		return
	}
	s.cache.settle()
	for i := range learned {
		l := &learned[i]
		code, err := compile(l.flow.Actions)
		if err != nil {
			panic(fmt.Sprintf("simbackend: learned flow %v: %v", l.flow, err)) // loads and outputs always compile
		}
		if l.old != nil {
			s.replace(l.old, s.modified(l.old, l.flow, code))
			continue
		}
		r := &rule{flow: l.flow, priority: l.flow.Priority, code: code, added: s.now, modified: s.now, used: s.now}
		s.tables[l.flow.Table].condition(r, &l.value, &l.mask)
		s.insert(r)
	}
}

// modifiedFlow is old with the actions and the cookie of new.
func modifiedFlow(old, new openflow.Flow) openflow.Flow {
	old.Actions, old.Cookie = new.Actions, new.Cookie
	return old
}
