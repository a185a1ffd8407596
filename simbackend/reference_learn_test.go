package simbackend_test

import (
	"fmt"
	"slices"

	"hpnn/datapath/openflow"
)

// learn adds the rule that a learn action makes of the frame, or changes the one that is there. The pass itself does not see it.
func (p *pass) learn(a openflow.Learn) {
	ok := p.teach(a, p.lesson(a))
	if !ok {
		p.met["learn refused"]++
	}
	if a.ResultDst.Width > 0 {
		p.store(a.ResultDst, map[bool]openflow.Value{true: openflow.U64(1)}[ok])
	}
}

// teach reports whether the limit allows what is learned.
func (p *pass) teach(a openflow.Learn, f openflow.Flow) bool {
	r := p.reference
	i := slices.IndexFunc(r.rules, func(k *kept) bool { return k.Key().Compare(f.Key()) == 0 })
	if i >= 0 && alike(r.rules[i].Flow, f) {
		r.met["learn refreshed"]++
		r.rules[i].modified = r.now
		return true
	}
	n := 0
	for _, k := range r.rules {
		if k.Table == f.Table && k.Cookie == f.Cookie {
			n++
		}
	}
	switch {
	case a.Limit > 0 && n >= int(a.Limit):
		return false
	case i < 0:
		r.met["learn added"]++
		r.rules = append(r.rules, &kept{f, &hits{used: r.now}, r.now, r.now})
	default:
		r.met["learn changed"]++
		old := r.rules[i]
		changed := old.Flow
		changed.Actions, changed.Cookie = f.Actions, f.Cookie
		r.rules[i] = &kept{changed, old.hits, old.added, r.now}
	}
	return true
}

func alike(f, g openflow.Flow) bool {
	return f.Cookie == g.Cookie && f.IdleTimeout == g.IdleTimeout && f.HardTimeout == g.HardTimeout && f.Flags == g.Flags &&
		openflow.FormatActions(f.Actions) == openflow.FormatActions(g.Actions)
}

// lesson is the rule that a learn action makes of the frame.
func (p *pass) lesson(a openflow.Learn) openflow.Flow {
	f := openflow.Flow{Table: a.Table, Priority: a.Priority, Cookie: a.Cookie, IdleTimeout: a.IdleTimeout, HardTimeout: a.HardTimeout}
	match := func(dst openflow.Subfield, v openflow.Value) {
		f.Match = f.Match.WithMask(dst.Field, v.Shl(int(dst.Offset)), dst.Mask())
	}
	for _, s := range a.Specs {
		switch s := s.(type) {
		case openflow.LearnMatchField:
			match(s.Dst, p.part(s.Src))
		case openflow.LearnMatchValue:
			match(s.Dst, s.Value)
		case openflow.LearnLoadField:
			f.Actions = append(f.Actions, openflow.Load(p.part(s.Src), s.Dst))
		case openflow.LearnLoadValue:
			f.Actions = append(f.Actions, openflow.Load(s.Value, s.Dst))
		case openflow.LearnOutput:
			if v := p.part(s.Src); v.Lo < uint64(openflow.PortMax) && v.BitLen() <= 16 {
				f.Actions = append(f.Actions, openflow.Output{Port: openflow.PortNo(v.Lo)})
			}
		default:
			panic(fmt.Sprintf("reference: %v", s))
		}
	}
	return f
}
