package simbackend

import (
	"encoding/binary"
	"slices"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend/conntrack"
	"hpnn/simbackend/flow"
)

// outcome is what a pass of a microflow came to: whose counters it moves, and what is done to the frame. An
// equal pass would come to the same as long as its path is alive. Many microflows share one.
type outcome struct {
	*path
	result
}

// result is an outcome apart from its path.
type result struct {
	steps []outcomeStep
	fork  *fork // the ct() it ends with, if it does
}

// outcomeStep is a step that needs a frame and nothing else.
type outcomeStep struct {
	kind    stepKind
	patch   flow.Patch         // stepSet
	port    *datapath.Port     // stepOutput
	request *conntrack.Request // stepCT
}

func (r *result) equal(o *result) bool {
	return r.fork == o.fork && slices.EqualFunc(r.steps, o.steps, outcomeStep.equal)
}

func (st outcomeStep) equal(o outcomeStep) bool {
	if st.request != nil && o.request != nil && *st.request == *o.request {
		o.request = st.request
	}
	return st == o
}

// common and own are all in which frames of a microflow may differ behind a ct(): what the tracker has
// found, and the addresses and ports that it may have written. common tends to be the same for many
// microflows.
type common struct {
	label conntrack.Label
	mark  uint32
	state conntrack.State
	proto uint8
}

type own struct {
	ipv4, orig       uint64
	ports, origPorts uint32
}

// commonly is the common part for what the tracker has found.
func commonly(m *conntrack.Meta) common { return common{m.Label, m.Mark, m.State, m.Orig.Proto} }

// commons is one of each, so that trails share them.
type commons map[common]*common

const maxCommons = 1 << 10

func (all commons) of(c common) *common {
	if known := all[c]; known != nil {
		return known
	}
	if len(all) >= maxCommons {
		clear(all)
	}
	all[c] = &c
	return &c
}

// is reports whether c is commonly(m).
func (c *common) is(m *conntrack.Meta) bool {
	return c.state == m.State && c.mark == m.Mark && c.label == m.Label && c.proto == m.Orig.Proto
}

// own is that of a frame of a microflow that has come from a ct().
func (f *frame) own() (x own) {
	m, b := &f.ct.Meta, f.Bytes()
	x.ipv4 = binary.BigEndian.Uint64(b[f.L3+12:])
	if b[f.L3+9] != openflow.ProtoICMP {
		x.ports = binary.BigEndian.Uint32(b[f.L4:])
	}
	x.orig = uint64(address(m.Orig.Src))<<32 | uint64(address(m.Orig.Dst))
	x.origPorts = uint32(m.Orig.SrcPort)<<16 | uint32(m.Orig.DstPort)
	return x
}

// sequel is what a microflow does behind the ct() that an outcome ends with.
type sequel struct {
	trail *trail         // for what was found there; the latest first
	hint  conntrack.Hint // at the connection that was found last
}

// trail is a pass of a microflow behind a ct(): the outcome for what was found there.
type trail struct {
	*outcome
	own
	after *common
	next  *trail // after the same ct(), for other findings
	sequel
}

// find is the trail for what was found of a frame, if it is still good.
func (t *trail) find(m *conntrack.Meta, x own) *trail {
	for ; t != nil; t = t.next {
		if t.own == x && t.after.is(m) && !t.dead {
			return t
		}
	}
	return nil
}

// maxTrails bounds what is remembered behind one ct() of a microflow.
const maxTrails = 4

// add puts a trail before others. Those that are no good any more, or too many, give way.
func (t *trail) add(first **trail) {
	t.next, *first = *first, t
	for n, at := 1, &t.next; *at != nil; {
		if o := *at; n < maxTrails && !o.dead && (o.own != t.own || *o.after != *t.after) {
			n, at = n+1, &o.next
		} else {
			*at = o.next
		}
	}
}

// spot is where the next pass is to be remembered; nowhere if it is zero.
type spot struct {
	place *megaflows
	view  flow.View // of the frame
	told  *telling  // what is known of it already, if it is traced

	microflow bool // as a microflow too
	hash      uint64
	sequel    *sequel // or among the trails behind a ct()
	after     *common
	own       own
}

// remember keeps what came of a pass of a frame in its spot. If the pass cannot be repeated by that, it returns nil.
func (s *Switch) remember(at *spot, f *frame, p *pass, level int) *megaflow {
	if p.fleeting || p.err != nil || len(p.learned) > 0 {
		return nil
	}
	r, ok := s.retrace(f.key, p, level)
	if !ok {
		return nil
	}
	o := s.cache.of(p.met).outcome(r)
	m := s.cache.enter(at.place, &at.view, p.wildcards, o)
	p.fork = r.fork
	switch {
	case at.microflow:
		p.sequel = s.cache.remember(at.hash, at.view.Microflow(), o)
	case at.sequel != nil:
		p.sequel = at.add(o)
	}
	return m
}

// add enters an outcome among trails, and returns its sequel.
func (at *spot) add(o *outcome) *sequel {
	t := &trail{outcome: o, own: at.own, after: at.after}
	t.add(&at.sequel.trail)
	return &t.sequel
}

// retrace makes a result of a pass. fields is what the frame's bytes are known to hold.
func (s *Switch) retrace(fields flow.Key, p *pass, level int) (r result, ok bool) {
	for i := range p.steps {
		st := &p.steps[i]
		step := outcomeStep{kind: st.kind}
		switch st.kind {
		case stepSet:
			if step.patch, ok = flow.NewPatch(&fields, &p.keys[st.key]); !ok {
				return r, false
			}
			if step.patch.IsEmpty() {
				continue
			}
		case stepOutput:
			step.port = s.ports.find(openflow.PortNo(st.port))
		case stepCT:
			step.request = p.lasting(st.request)
			if st.recirc {
				r.fork = s.cache.forks.of(p.retraceFork(st, step.request))
				return r, i == len(p.steps)-1
			}
		case stepCTClear:
		default:
			return r, false
		}
		r.steps = append(r.steps, step)
	}
	return r, true
}

func (p *pass) retraceFork(st *step, request *conntrack.Request) *fork {
	k := &fork{request: request, frozen: p.keys[st.key], table: st.table}
	var bare flow.Key
	bare.SetInPort(k.frozen.InPort())
	k.frozen.CopyFrame(&bare)
	if st.stack != nil {
		k.stack = *st.stack
	}
	return k
}

// lasting is a request of a step that stays as it is when the pass is over.
func (p *pass) lasting(r *conntrack.Request) *conntrack.Request {
	if slices.Contains(p.requests[:p.asked], r) {
		c := *r
		return &c
	}
	return r
}

// replay does to a frame what its pass on a level came to, and what the passes behind it did, and sends it through
// the tables from where nothing is remembered. next is what is known, and to be known, of its microflow behind the
// ct(); nil if nobody wants to know.
func (s *Switch) replay(f *frame, o *outcome, next *sequel, level int) {
	f.ct.Frame, f.ct.L3, f.ct.EtherType, f.ct.Recirc = f.Bytes(), int(f.L3), openflow.EthTypeIPv4, 0
	for ; ; level++ {
		s.cache.hits++
		s.cache.count(o.path, f.Len, s.now)
		s.fate.last = o.last
		for i := range o.steps {
			s.repeat(f, &o.steps[i])
		}
		k := o.fork
		if k == nil {
			return
		}
		if next == nil {
			s.ct.Execute(s.now, &f.ct, k.request)
		} else {
			s.ct.ExecuteHinted(s.now, &f.ct, k.request, &next.hint)
		}
		if level >= maxRecirc {
			return
		}
		if o, next = s.behind(f, k, next); o == nil {
			s.recirculate(f, &k.frozen, k.table, k.stack, level)
			return
		}
	}
}

// behind is what a frame comes to behind a ct(), and what follows that. If it is not known, the next pass will be
// remembered.
func (s *Switch) behind(f *frame, k *fork, next *sequel) (*outcome, *sequel) {
	m := &f.ct.Meta
	at := &s.spot
	if next != nil {
		at.own = f.own()
		if t := next.trail.find(m, at.own); t != nil {
			return t.outcome, &t.sequel
		}
		at.after = s.cache.commons.of(commonly(m))
	}
	at.sequel = next
	if _, ok := at.view.Read(f.Bytes(), k.frozen.InPort()); !ok {
		return nil, nil
	}
	c := connection(m)
	at.view.SetConnection(&c)
	if m := k.find(&at.view, &s.cache.work); m != nil {
		if next != nil {
			next = at.add(m.outcome)
		}
		return m.outcome, next
	}
	if next != nil || s.cache.affords() {
		at.place, at.microflow = &k.megaflows, false
	}
	return nil, nil
}

func (s *Switch) repeat(f *frame, st *outcomeStep) {
	switch st.kind {
	case stepSet:
		f.Apply(&st.patch)
		if st.patch.MovesEndpoints() {
			f.ct.Meta.HeaderChanged()
		}
	case stepOutput:
		s.send(st.port, f.Bytes())
	case stepCT:
		s.ct.Execute(s.now, &f.ct, st.request)
	case stepCTClear:
		f.ct.Meta.Clear()
	}
}
