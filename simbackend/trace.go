package simbackend

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend/flow"
)

// AppendTrace appends the text of what Trace tells, and takes no memory where that of b suffices.
func (s *Switch) AppendTrace(ctx context.Context, b []byte, in datapath.Injection) ([]byte, error) {
	if err := s.enter(ctx); err != nil {
		return b, fmt.Errorf("trace frame: %w", err)
	}
	defer s.mu.Unlock()
	t := s.trace()
	t.asText = true
	if err := s.previewed(in); err != nil {
		return b, err
	}
	t.tell()
	return append(b, t.text...), nil
}

// previewed traces a frame without consequences: what the connection tracker does is taken back, and
// nothing is learned or counted.
func (s *Switch) previewed(in datapath.Injection) error {
	s.preview, s.fate = true, fate{}
	defer func() { s.preview, s.tracer = false, nil }()
	if _, err := s.port(in.InPort); err != nil {
		return fmt.Errorf("trace frame: %w", err)
	}
	f := s.arrive(in)
	if f == nil {
		return fmt.Errorf("trace frame: %d bytes are shorter than an Ethernet header", len(in.Frame))
	}
	if s.ct.Idle() {
		s.foretell(f, &s.cache.start, uint16(in.InPort), nil)
	}
	s.ct.Try(func() { s.walk(f, 0, nil, 0) })
	return nil
}

// Explain executes a frame like Receive and also tells what happened to it, step by step.
func (s *Switch) Explain(in datapath.Injection, emit func(datapath.Output)) (Verdict, datapath.Trace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.trace()
	defer func() { s.tracer = nil }()
	var v Verdict
	s.receive(in, emit, &v)
	return v, t.result()
}

// trace has what happens from here on written down.
func (s *Switch) trace() *tracer {
	if s.tracing == nil {
		s.tracing = &tracer{lookups: []string{""}}
	}
	s.tracer = s.tracing
	s.tracer.reset()
	return s.tracer
}

// tracer writes down what passes do, as the text that ofproto/trace prints and where in it each step is. Where a pass
// is being traced, its calls are behind one test for nil.
//
// It is kept for the next frame: a trace is a copy of what it holds, and what rules and actions are called is known
// from the last time.
type tracer struct {
	text    []byte
	passes  []tracedPass
	nodes   []datapath.Cut
	lists   []list // from the pass's own to that of the innermost lookup
	outputs []output
	frames  []byte // of outputs

	initial flow.Key // of the pass
	resumed resumption

	entries flow.Lines // what frames have when they come in
	fields  flow.Lines
	lookups []string // what lookups that found a rule are called, by rule.line
	free    []uint32 // places there
	doing   *code    // whose action is the latest,
	done    int      // and which that is
	ahead   int      // how many of the actions to come are written already

	told   map[*megaflow]*telling
	asText bool // nobody asks for a structure
	shares bool // a pass is what was told of another, and not in the text
}

func (t *tracer) reset() {
	t.text, t.passes, t.nodes, t.outputs, t.frames = t.text[:0], t.passes[:0], t.nodes[:0], t.outputs[:0], t.frames[:0]
	t.resumed, t.ahead, t.asText, t.shares = resumption{}, 0, false, false
}

// span is a part of the tracer's text.
type span struct{ from, to int32 }

// tracedPass is a datapath.Pass whose texts are not cut yet.
type tracedPass struct {
	resume, flow, final, datapath span
	body                          span // between flow and final
	table                         openflow.TableID
	failure                       string
	nodes                         span
	told                          *telling // nil, or what holds the nodes and datapath actions
}

// resumption is how the pass to come was forked.
type resumption struct {
	recirc uint32 // 0 for a first pass
	text   span
	table  openflow.TableID
}

// output is a datapath.Output whose frame is not cut yet.
type output struct {
	port  openflow.PortNo
	frame span
}

// begin opens a pass and returns its place among the passes.
func (t *tracer) begin(p *pass) int {
	t.initial = p.key
	b := append(t.text, "Flow: "...)
	at := len(b)
	if t.resumed.recirc == 0 {
		b = t.entries.Append(b, &p.key, 0)
		t.fields.Follow(&t.entries)
	} else {
		b = t.fields.Append(b, &p.key, t.resumed.recirc)
	}
	out := tracedPass{resume: t.resumed.text, table: t.resumed.table, flow: span{int32(at), int32(len(b))}}
	b = append(b, "\n\nbridge\n------\n"...)
	if t.resumed.recirc != 0 {
		b = append(b, "    thaw\n        Resuming from table "...)
		b = append(strconv.AppendUint(b, uint64(out.table), 10), '\n')
	}
	t.text = b
	out.nodes.from = int32(len(t.nodes))
	t.lists = append(t.lists[:0], list{last: -1})
	t.passes = append(t.passes, out)
	return len(t.passes) - 1
}

// end closes it.
func (t *tracer) end(p *pass, index int) {
	t.final(p, index)
	b := append(t.text, "\nDatapath actions: "...)
	at := len(b)
	b = appendSteps(b, p.steps, p.keys, &t.initial)
	out := &t.passes[index]
	out.datapath = span{int32(at), int32(len(b))}
	b = append(b, '\n')
	if p.err != nil {
		text := p.err.Error()
		out.failure = strings.ToUpper(text[:1]) + text[1:]
		b = fmt.Appendf(b, "Translation failed (%s), packet is dropped.\n", out.failure)
	}
	t.text = b
}

// final ends the steps of a pass and writes the fields that it ends with.
func (t *tracer) final(p *pass, index int) {
	out := &t.passes[index]
	out.nodes.to = int32(len(t.nodes))
	b := append(t.text, "\nFinal flow: "...)
	at := len(b)
	if p.key != t.initial || p.set.output {
		b = t.fields.Append(b, &p.key, t.resumed.recirc)
	} else {
		b = append(b, "unchanged"...)
	}
	out.final = span{int32(at), int32(len(b))}
	t.text = b
}

// passRule sets off the passes from each other.
const passRule = "\n===============================================================================\n"

// fork says how the next pass came about.
func (t *tracer) fork(f *frame, table openflow.TableID) {
	m, recirc, b := &f.ct.Meta, uint32(len(t.passes)), t.text
	b = append(append(b, passRule...), "recirc("...)
	b = append(appendHex(b, uint64(recirc)), ") - resume conntrack with "...)
	at := len(b)
	b = append(m.State.Append(append(b, "ct_state="...)), ",ct_zone="...)
	b = strconv.AppendUint(b, uint64(m.Zone), 10)
	t.resumed = resumption{recirc: recirc, table: table, text: span{int32(at), int32(len(b))}}
	t.text = append(append(b, passRule...), '\n')
}

// output notes that a frame leaves.
func (t *tracer) output(port openflow.PortNo, b []byte) {
	at := len(t.frames)
	t.frames = append(t.frames, b...)
	t.outputs = append(t.outputs, output{port, span{int32(at), int32(len(t.frames))}})
}
