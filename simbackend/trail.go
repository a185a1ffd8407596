package simbackend

import (
	"encoding/binary"
	"slices"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend/conntrack"
	"hpnn/simbackend/flow"
)

// trail is what a pass of a microflow came to: whose counters it moves, and what is done to the frame. An
// equal pass would come to the same as long as its path is alive.
type trail struct {
	*path
	last  lookup
	steps []trailStep
	fork  *fork // the ct() it ends with, if it does

	found findings // by the ct() that led to it
	next  *trail   // after the same ct(), with other findings
}

// trailStep is a step of a trail: one that needs a frame and nothing else.
type trailStep struct {
	kind    stepKind
	patch   *flow.Patch        // stepSet
	port    *datapath.Port     // stepOutput
	request *conntrack.Request // stepCT
}

// fork is a ct(table=) at the end of a trail.
type fork struct {
	request *conntrack.Request
	trails  *trail // the passes that followed, the latest first
	count   int

	frozen flow.Key
	table  openflow.TableID
	stack  []openflow.Value
}

// maxTrails bounds what is remembered behind one ct().
const maxTrails = 4

// findings is all in which frames of a microflow may differ behind a ct(): what the tracker has found,
// and the addresses and ports that it may have written.
type findings struct {
	state conntrack.State
	zone  uint16
	mark  uint32
	ports uint32
	label conntrack.Label
	orig  conntrack.Tuple
	ipv4  uint64
}

// findings is those of a frame of a microflow, that has come from a ct().
func (f *frame) findings() findings {
	m, b := &f.ct.Meta, f.Bytes()
	x := findings{
		state: m.State, zone: m.Zone, mark: m.Mark, label: m.Label, orig: m.Orig,
		ipv4: binary.BigEndian.Uint64(b[f.L3+12:]),
	}
	if f.ct.Frame[f.L3+9] != openflow.ProtoICMP {
		x.ports = binary.BigEndian.Uint32(b[f.L4:])
	}
	return x
}

// find is the trail of those findings, if it is still good.
func (k *fork) find(x *findings) *trail {
	for t := k.trails; t != nil; t = t.next {
		if t.found == *x && !t.dead {
			return t
		}
	}
	return nil
}

// add remembers a trail. Those that are no good any more, or too many, give way.
func (k *fork) add(t *trail) {
	t.next, k.trails = k.trails, t
	for n, at := 1, &t.next; *at != nil; {
		if n < maxTrails && !(*at).dead && (*at).found != t.found {
			n, at = n+1, &(*at).next
		} else {
			*at = (*at).next
		}
	}
}

// spot is where the trail of the next pass is to be remembered: as the first of a microflow or behind a
// fork; nowhere if it is zero.
type spot struct {
	hash  uint64
	key   flow.Microflow
	first bool
	fork  *fork
	found findings
}

func (at *spot) wanted() bool { return at.first || at.fork != nil }

// remember makes a trail of a pass that has ended, for a frame of a microflow, and puts it in its spot. If
// the pass cannot be repeated by that, it does nothing.
func (s *Switch) remember(at *spot, f *frame, p *pass, level int) {
	var t trail
	if p.fleeting || p.err != nil || len(p.learned) > 0 || !s.retrace(&t, f.key, p, level) {
		return
	}
	t.path, t.last, t.found = s.emc.of(p.met), p.last, at.found
	p.fork = t.fork
	if at.first {
		s.emc.remember(at.hash, &microflow{at.key, t})
	} else {
		at.fork.add(&t)
	}
}

// retrace gives a trail the steps of a pass. fields is what the frame's bytes are known to hold.
func (s *Switch) retrace(t *trail, fields flow.Key, p *pass, level int) bool {
	for i := range p.steps {
		st := &p.steps[i]
		step := trailStep{kind: st.kind}
		switch st.kind {
		case stepSet:
			patch, ok := flow.NewPatch(&fields, &p.keys[st.key])
			if !ok {
				return false
			}
			if patch.IsEmpty() {
				continue
			}
			step.patch = &patch
		case stepOutput:
			step.port = s.ports.find(openflow.PortNo(st.port))
		case stepCT:
			step.request = p.lasting(st.request)
			if st.recirc {
				if i != len(p.steps)-1 || level >= maxRecirc {
					return false
				}
				t.fork = &fork{request: step.request, frozen: p.keys[st.key], table: st.table}
				if st.stack != nil {
					t.fork.stack = *st.stack
				}
				continue
			}
		case stepCTClear:
		default:
			return false
		}
		t.steps = append(t.steps, step)
	}
	return true
}

// lasting is a request of a step that stays as it is when the pass is over.
func (p *pass) lasting(r *conntrack.Request) *conntrack.Request {
	if slices.Contains(p.requests[:p.asked], r) {
		c := *r
		return &c
	}
	return r
}

// replay sends a frame of a microflow along its trails, and through the tables from where they end.
func (s *Switch) replay(f *frame, t *trail) {
	f.ct.Frame, f.ct.L3, f.ct.EtherType, f.ct.Recirc = f.Bytes(), int(f.L3), openflow.EthTypeIPv4, 0
	for level := 0; ; level++ {
		s.emc.hits++
		s.emc.count(t.path, f.Len, s.now)
		s.verdict.Table, s.verdict.rule = t.last.table, t.last.rule
		for i := range t.steps {
			s.repeat(f, &t.steps[i])
		}
		k := t.fork
		if k == nil {
			return
		}
		s.ct.Execute(s.now, &f.ct, k.request)
		found := f.findings()
		if t = k.find(&found); t == nil {
			s.spot = spot{fork: k, found: found}
			s.recirculate(f, &k.frozen, k.table, k.stack, level)
			return
		}
	}
}

func (s *Switch) repeat(f *frame, st *trailStep) {
	switch st.kind {
	case stepSet:
		f.Apply(st.patch)
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
