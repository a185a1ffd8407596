package simbackend

import (
	"slices"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend/conntrack"
	"hpnn/simbackend/flow"
)

// telling is what was written of a pass and came of it, to be told again of others of its megaflow: they meet the same
// rules, and what actions write has the same values. Of the fields, only those differ that nobody looked at. There may be
// thousands of them, so each is made of few pieces.
type telling struct {
	body    string         // between the fields and the final ones
	nodes   datapath.Nodes // of body
	behind  string         // behind the final fields
	actions span           // of that: the datapath actions
	steps   []step
	fields  []writtenWord // those that steps refer to, one overlay after the other, and the final ones
	output  bool          // the action set had one
	last    lookup
	fork    *fork
}

// maxTold bounds the tellings that a tracer keeps; then it forgets them all.
const maxTold = 1 << 12

// writtenWord is what a pass has written of a word of the fields. An overlay is such words, up to the first that
// is its end.
type writtenWord struct {
	word       uint8
	end        bool
	bits, held uint64
}

// overlay appends what was written so far, if that is all in which the fields k differ from those at the beginning.
func (w *wildcards) overlay(o []writtenWord, k *flow.Key) ([]writtenWord, bool) {
	for i, bits := range w.written {
		switch {
		case (k[i]^w.before[i])&^bits != 0:
			return o, false
		case bits != 0:
			o = append(o, writtenWord{uint8(i), false, bits, k[i] & bits})
		}
	}
	return append(o, writtenWord{end: true}), true
}

// overlaid writes the first overlay over the fields k, and returns the others.
func overlaid(o []writtenWord, k *flow.Key) []writtenWord {
	for i := range o {
		w := &o[i]
		if w.end {
			return o[i+1:]
		}
		k[w.word] = k[w.word]&^w.bits | w.held
	}
	return nil
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
	fields, ok := p.wildcards.overlay(p.overlays, &p.key)
	if !ok || p.overlaid != len(p.keys) {
		return
	}
	out := &t.passes[index]
	told := &telling{
		body: string(t.text[out.body.from:out.body.to]), behind: string(t.text[out.final.to:]),
		actions: span{out.datapath.from - out.final.to, out.datapath.to - out.final.to},
		steps:   slices.Clone(p.steps), fields: slices.Clone(fields),
		output: p.set.output, last: p.last, fork: p.fork,
	}
	nodes := slices.Clone(t.nodes[out.nodes.from:out.nodes.to])
	for i := range nodes {
		nodes[i].From -= out.body.from
		nodes[i].To -= out.body.from
	}
	told.nodes = datapath.CutNodes(told.body, nodes)
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

// retell makes a pass what another of its megaflow was, and writes it down if the trace is to be text. A trace as a structure
// shares what was told.
func (t *tracer) retell(p *pass, told *telling) {
	index := t.begin(p)
	if t.asText {
		t.text = append(t.text, told.body...)
	}
	fields := told.fields
	for i := range told.steps {
		st := &told.steps[i]
		if p.steps = append(p.steps, *st); st.kind == stepSet || st.kind == stepCT {
			fields = overlaid(fields, &p.keys[p.keep()])
		}
	}
	overlaid(fields, &p.key)
	p.set.output, p.last, p.fork = told.output, told.last, told.fork
	t.final(p, index)
	if t.asText {
		t.text = append(t.text, told.behind...)
	} else {
		t.passes[index].told, t.shares = told, true
	}
}
