package simbackend

import (
	"slices"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend/conntrack"
	"hpnn/simbackend/flow"
)

// telling is what was written of a pass and came of it, to be told again of others of its megaflow: they meet the same
// rules, and what actions write has the same values. Of the fields, only those differ that nobody looked at.
type telling struct {
	text   []byte         // between the fields and the final ones
	nodes  []datapath.Cut // of text
	after  []byte         // behind the final fields
	cut    span           // of after: the datapath actions
	steps  []step
	keys   []overlay // that steps refer to
	final  overlay
	output bool // the action set had one
	last   lookup
	fork   *fork
}

// maxTold bounds the tellings that a tracer keeps; then it forgets them all.
const maxTold = 1 << 12

// overlay is what a pass has written of the fields.
type overlay []writtenWord

type writtenWord struct {
	word       uint8
	bits, held uint64
}

// overlay is what was written so far, if that is all in which the fields k differ from those at the beginning.
func (w *wildcards) overlay(k *flow.Key) (o overlay, ok bool) {
	for i, bits := range w.written {
		if bits != 0 {
			o = append(o, writtenWord{uint8(i), bits, k[i] & bits})
		}
		ok = ok || (k[i]^w.before[i])&^bits != 0
	}
	return o, !ok
}

// on writes o over the fields k.
func (o overlay) on(k *flow.Key) {
	for _, w := range o {
		k[w.word] = k[w.word]&^w.bits | w.held
	}
}

// foretell looks up what a traced frame comes to in a place, so that the next pass is told if it is known, and recorded
// if not. m is what the tracker has found; nil if the frame has come in.
func (s *Switch) foretell(f *frame, place *megaflows, inPort uint16, m *conntrack.Meta) {
	at := &s.spot
	if _, ok := at.view.Read(f.Bytes(), inPort); !ok {
		return
	}
	if m != nil {
		c := connection(m)
		at.view.SetConnection(&c)
	}
	known := place.find(&at.view, &s.cache.work)
	told := s.tracer.told[known]
	switch {
	case told != nil:
		s.cache.earn()
	case known == nil && !s.cache.affords():
		return
	}
	at.place, at.told, at.microflow, at.sequel = place, told, false, nil
}

// whole translates a pass and writes it down.
func (t *tracer) whole(p *pass, table openflow.TableID) (index int) {
	index = t.begin(p)
	start := len(t.text)
	p.translate(table)
	t.passes[index].body = span{int32(start), int32(len(t.text))}
	t.end(p, index)
	return index
}

// keep remembers a pass that is recorded as one of m.
func (t *tracer) keep(m *megaflow, p *pass, index int) {
	final, ok := p.wildcards.overlay(&p.key)
	if !ok || len(p.overlays) != len(p.keys) {
		return
	}
	out := &t.passes[index]
	told := &telling{
		text: slices.Clone(t.text[out.body.from:out.body.to]), nodes: slices.Clone(t.nodes[out.nodes.from:out.nodes.to]),
		after: slices.Clone(t.text[out.final.to:]), cut: span{out.datapath.from - out.final.to, out.datapath.to - out.final.to},
		steps: slices.Clone(p.steps), keys: slices.Clone(p.overlays), final: final, output: p.set.output, last: p.last, fork: p.fork,
	}
	for i := range told.nodes {
		told.nodes[i].From -= out.body.from
		told.nodes[i].To -= out.body.from
	}
	for i := range told.steps {
		if st := &told.steps[i]; st.kind == stepCT {
			st.request = p.lasting(st.request)
		}
	}
	if len(t.told) >= maxTold || t.told == nil {
		t.told = map[*megaflow]*telling{}
	}
	t.told[m] = told
}

// retell makes a pass what another of its megaflow was, and writes it down.
func (t *tracer) retell(p *pass, told *telling) {
	index := t.begin(p)
	base := int32(len(t.text))
	t.text = append(t.text, told.text...)
	for i := range told.nodes {
		n := told.nodes[i]
		n.From += base
		n.To += base
		t.nodes = append(t.nodes, n)
	}
	p.steps = append(p.steps, told.steps...)
	for _, o := range told.keys {
		o.on(&p.keys[p.keep()])
	}
	told.final.on(&p.key)
	p.set.output, p.last, p.fork = told.output, told.last, told.fork
	t.final(p, index)
	base = int32(len(t.text))
	t.text = append(t.text, told.after...)
	t.passes[index].datapath = span{base + told.cut.from, base + told.cut.to}
}
