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
	after common
}

// outcomeStep is a step that needs a frame and nothing else.
type outcomeStep struct {
	kind    stepKind
	patch   flow.Patch         // stepSet
	port    *datapath.Port     // stepOutput
	request *conntrack.Request // stepCT
}

// fork is a ct(table=) at the end of a pass.
type fork struct {
	request *conntrack.Request
	table   openflow.TableID
	stack   []openflow.Value
	frozen  flow.Key // without the frame's fields
}

func (r *result) equal(o *result) bool {
	return r.after == o.after && slices.EqualFunc(r.steps, o.steps, outcomeStep.equal) &&
		(r.fork == nil) == (o.fork == nil) && (r.fork == nil || r.fork.equal(o.fork))
}

func (st outcomeStep) equal(o outcomeStep) bool {
	if st.request != nil && o.request != nil && *st.request == *o.request {
		o.request = st.request
	}
	return st == o
}

func (k *fork) equal(o *fork) bool {
	return *k.request == *o.request && k.table == o.table && slices.Equal(k.stack, o.stack) && k.frozen == o.frozen
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

// trail is a pass of a microflow behind a ct(): the outcome for what was found there.
type trail struct {
	*outcome
	own
	next  *trail // after the same ct(), for other findings
	trail *trail // behind the ct() that the outcome ends with, the latest first
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
		if o := *at; n < maxTrails && !o.dead && (o.own != t.own || o.after != t.after) {
			n, at = n+1, &o.next
		} else {
			*at = o.next
		}
	}
}

// spot is where the next pass is to be remembered: as the first of a microflow, or among the trails behind
// a ct(); nowhere if it is zero.
type spot struct {
	hash   uint64
	key    flow.Microflow
	first  bool
	trails **trail
	after  common
	own    own
}

func (at *spot) wanted() bool { return at.first || at.trails != nil }

// remember keeps what came of a pass of a frame of a microflow in its spot. If the pass cannot be repeated by
// that, it does nothing.
func (s *Switch) remember(at *spot, f *frame, p *pass, level int) {
	if p.fleeting || p.err != nil || len(p.learned) > 0 {
		return
	}
	r, ok := s.retrace(f.key, p, level)
	if !ok {
		return
	}
	r.after = at.after
	o := s.emc.of(p.met).outcome(r)
	if at.first {
		m := &microflow{key: at.key, outcome: o}
		p.trails = &m.trail
		s.emc.remember(at.hash, m)
		return
	}
	t := &trail{outcome: o, own: at.own}
	p.trails = &t.trail
	t.add(at.trails)
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
				r.fork = p.retraceFork(st, step.request)
				return r, i == len(p.steps)-1 && level < maxRecirc
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

// replay sends a frame of a microflow where its passes went, and through the tables from where nothing is
// remembered.
func (s *Switch) replay(f *frame, m *microflow) {
	f.ct.Frame, f.ct.L3, f.ct.EtherType, f.ct.Recirc = f.Bytes(), int(f.L3), openflow.EthTypeIPv4, 0
	o, trails := m.outcome, &m.trail
	for level := 0; ; level++ {
		s.emc.hits++
		s.emc.count(o.path, f.Len, s.now)
		s.fate.last = o.last
		for i := range o.steps {
			s.repeat(f, &o.steps[i])
		}
		k := o.fork
		if k == nil {
			return
		}
		s.ct.Execute(s.now, &f.ct, k.request)
		own := f.own()
		t := (*trails).find(&f.ct.Meta, own)
		if t == nil {
			s.spot = spot{trails: trails, after: commonly(&f.ct.Meta), own: own}
			s.recirculate(f, &k.frozen, k.table, k.stack, level)
			return
		}
		o, trails = t.outcome, &t.trail
	}
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
