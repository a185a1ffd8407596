package simbackend

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend/flow"
)

// previewed traces a frame without consequences: what the connection tracker does is taken back, and
// nothing is learned or counted.
func (s *Switch) previewed(in datapath.Injection) (datapath.Trace, error) {
	if _, err := s.port(in.InPort); err != nil {
		return datapath.Trace{}, fmt.Errorf("trace frame: %w", err)
	}
	t := s.trace()
	s.preview, s.fate = true, fate{}
	defer func() { s.preview, s.tracer = false, nil }()
	f := s.arrive(in)
	if f == nil {
		return datapath.Trace{}, fmt.Errorf("trace frame: %d bytes are shorter than an Ethernet header", len(in.Frame))
	}
	s.ct.Try(func() { s.walk(f, 0, nil, 0) })
	return t.result(), nil
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
		s.tracing = &tracer{lines: map[*rule]string{}}
	}
	s.tracer = s.tracing
	s.tracer.reset()
	return s.tracer
}

// tracer writes down what passes do, as the tree that ofproto/trace prints. Where a pass
// is being traced, its calls are behind one test for nil.
//
// It is kept for the next frame: steps are a list until the frame is done, texts that are of this frame only are parts
// of one, and what a rule is called is known from the last time.
type tracer struct {
	passes  []tracedPass
	outputs []datapath.Output
	resumed resumption
	initial flow.Key
	steps   []traceStep
	open    []int32 // steps from the pass's root to the innermost lookup
	text    []byte
	lines   map[*rule]string // of lookups
	entries flow.Lines       // what frames have when they come in
	fields  flow.Lines
}

func (t *tracer) reset() {
	t.passes, t.steps, t.open, t.text = t.passes[:0], t.steps[:0], t.open[:0], t.text[:0]
	t.outputs, t.resumed = nil, resumption{} // the outputs were given away
}

// span is a part of the tracer's text.
type span struct{ from, to int32 }

// tracedPass is a datapath.Pass whose texts are not cut yet.
type tracedPass struct {
	resume, flow, final, datapath span
	table                         openflow.TableID
	failure                       string
	root                          int32 // step
}

// traceStep is a datapath.Node before it has its place.
type traceStep struct {
	kind     datapath.NodeKind
	table    openflow.TableID
	parent   int32 // -1: a pass's root
	children int32
	next     int32  // place of the next child
	known    string // the text, or
	made     span
}

// resumption is how the pass to come was forked.
type resumption struct {
	recirc uint32 // 0 for a first pass
	text   span
	table  openflow.TableID
}

// begin opens a pass and returns its place among the passes.
func (t *tracer) begin(p *pass) int {
	t.initial = p.key
	root := int32(len(t.steps))
	t.steps = append(t.steps, traceStep{parent: -1})
	t.open = append(t.open[:0], root)
	at := len(t.text)
	if t.resumed.recirc == 0 {
		t.text = t.entries.Append(t.text, &p.key, 0)
		t.fields.Follow(&t.entries)
	} else {
		t.text = t.fields.Append(t.text, &p.key, t.resumed.recirc)
	}
	t.passes = append(t.passes, tracedPass{resume: t.resumed.text, table: t.resumed.table, flow: t.since(at), root: root})
	return len(t.passes) - 1
}

// since is the text that was written from at on.
func (t *tracer) since(at int) span { return span{int32(at), int32(len(t.text))} }

// end closes it.
func (t *tracer) end(p *pass, index int) {
	out, at := &t.passes[index], len(t.text)
	if p.key != t.initial || p.set.output {
		t.text = t.fields.Append(t.text, &p.key, t.resumed.recirc)
	} else {
		t.text = append(t.text, "unchanged"...)
	}
	out.final, at = t.since(at), len(t.text)
	t.text = appendSteps(t.text, p.steps, p.keys, &t.initial)
	out.datapath = t.since(at)
	if p.err != nil {
		text := p.err.Error()
		out.failure = strings.ToUpper(text[:1]) + text[1:]
	}
}

// fork says how the next pass came about.
func (t *tracer) fork(f *frame, table openflow.TableID) {
	m, at := &f.ct.Meta, len(t.text)
	t.text = append(m.State.Append(append(t.text, "ct_state="...)), ",ct_zone="...)
	t.text = strconv.AppendUint(t.text, uint64(m.Zone), 10)
	t.resumed = resumption{recirc: uint32(len(t.passes)), table: table, text: t.since(at)}
}

// add adds a step under the innermost lookup.
func (t *tracer) add(kind datapath.NodeKind, text string) {
	t.step(traceStep{kind: kind, known: text})
}

// addMade is add of the text that was written from at on.
func (t *tracer) addMade(kind datapath.NodeKind, at int) {
	t.step(traceStep{kind: kind, made: t.since(at)})
}

func (t *tracer) step(s traceStep) {
	s.parent = t.open[len(t.open)-1]
	t.steps[s.parent].children++
	t.steps = append(t.steps, s)
}

// descend makes what follows steps of the latest step.
func (t *tracer) descend() { t.open = append(t.open, int32(len(t.steps)-1)) }

// enter opens a lookup.
func (t *tracer) enter(table openflow.TableID, r *rule) {
	line, known := t.lines[r]
	if !known {
		line = lookupText(table, r)
		if r != nil {
			t.lines[r] = line
		}
	}
	t.step(traceStep{kind: datapath.NodeTable, known: line, table: table})
	t.descend()
	if r == nil {
		t.add(datapath.NodeAction, "drop")
	}
}

// leave closes it.
func (t *tracer) leave() { t.open = t.open[:len(t.open)-1] }

// lookupText is a table's line: its number, and what matched.
func lookupText(table openflow.TableID, r *rule) string {
	if r == nil {
		return fmt.Sprintf("%2d. No match.", table)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%2d. ", table)
	if m := r.flow.Match.String(); m != "" {
		b.WriteString(m + ", ")
	}
	fmt.Fprintf(&b, "priority %d", r.flow.Priority)
	if r.flow.Cookie != 0 {
		fmt.Fprintf(&b, ", cookie %#x", r.flow.Cookie)
	}
	return b.String()
}

// forget drops what is known of a rule that goes.
func (t *tracer) forget(r *rule) {
	if t != nil {
		delete(t.lines, r)
	}
}

func (t *tracer) note(text string) { t.add(datapath.NodeNote, text) }
func (t *tracer) warn(text string) { t.add(datapath.NodeWarn, text) }
func (t *tracer) fail(text string) { t.add(datapath.NodeError, text) }

// action adds action i of a list.
func (t *tracer) action(c *code, i int) {
	if c.texts == nil {
		c.texts = make([]string, len(c.actions))
		for i, a := range c.actions {
			c.texts[i] = a.String()
		}
	}
	t.add(datapath.NodeAction, c.texts[i])
}

// now notes the new value of a field or of a part of it.
func (t *tracer) now(s openflow.Subfield, k *flow.Key) {
	at := len(t.text)
	t.text = append(s.Append(t.text), " is now "...)
	switch v := k.GetSub(s); {
	case s.Field == openflow.VLANVID && s.IsWhole(): // OVS shows it with the bit that makes a tag
		t.text = strconv.AppendUint(t.text, k.Get(openflow.VLANTCI).Lo&0x1fff, 10)
	case s.IsWhole():
		t.text = s.Field.AppendValue(t.text, v)
	default:
		t.text = v.Append(t.text)
	}
	t.addMade(datapath.NodeNote, at)
}

func (t *tracer) outputPort(v openflow.Value) {
	if v.Hi != 0 || v.Lo > 0xffff {
		t.warn(fmt.Sprintf("output port %d is out of range", v.Lo))
		return
	}
	t.note(fmt.Sprintf("output port is %d", v.Lo))
}

// actionSet opens the execution of an action set and returns what closes it. The set of the pass
// is shown under the first lookup, that of a clone where the clone is.
func (t *tracer) actionSet() (leave func()) {
	depth := len(t.open)
	if depth == 1 {
		t.open = append(t.open, t.open[0]+1)
	}
	t.add(datapath.NodeBucket, "--. Executing action set:")
	t.descend()
	return func() { t.open = t.open[:depth] }
}

// forked notes what a ct() means for the frame and its copy.
func (t *tracer) forked(c *ctCode) {
	if c.recirc {
		at := len(t.text)
		t.text = append(t.text, "A clone of the packet is forked to recirculate. The forked pipeline will be resumed at table "...)
		t.text = append(strconv.AppendUint(t.text, uint64(c.table), 10), '.')
		t.addMade(datapath.NodeNote, at)
	}
	t.note("Sets the packet to an untracked state, and clears all the conntrack fields.")
}

func (t *tracer) output(port openflow.PortNo, b []byte) {
	t.outputs = append(t.outputs, datapath.Output{Port: port, Frame: bytes.Clone(b)})
}
