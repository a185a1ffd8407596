package simbackend

import (
	"bytes"
	"fmt"
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
	t := &tracer{}
	s.preview, s.tracer, s.fate = true, t, fate{}
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
	s.tracer = &tracer{}
	defer func() { s.tracer = nil }()
	v := s.receive(in, emit)
	return v, s.tracer.result()
}

// tracer writes down what passes do, as the tree that ofproto/trace prints. Where a pass
// is being traced, its calls are behind one test for nil.
type tracer struct {
	passes  []datapath.Pass
	outputs []datapath.Output
	resumed resumption
	initial flow.Key
	open    []*traceNode // from the pass's root to the innermost lookup
}

// traceNode is a datapath.Node that can still grow.
type traceNode struct {
	datapath.Node
	children []*traceNode
}

func (n *traceNode) freeze() []datapath.Node {
	var nodes []datapath.Node
	for _, c := range n.children {
		c.Children = c.freeze()
		nodes = append(nodes, c.Node)
	}
	return nodes
}

// resumption is how the pass to come was forked.
type resumption struct {
	recirc uint32 // 0 for a first pass
	text   string
	table  openflow.TableID
}

func (t *tracer) result() datapath.Trace {
	return datapath.Trace{Passes: t.passes, Outputs: t.outputs}
}

// begin opens a pass and returns its place among the passes.
func (t *tracer) begin(p *pass) int {
	t.initial = p.key
	t.open = []*traceNode{{}}
	t.passes = append(t.passes, datapath.Pass{
		Resume: t.resumed.text, Table: t.resumed.table, Flow: flow.FormatPass(&p.key, t.resumed.recirc),
	})
	return len(t.passes) - 1
}

// end closes it.
func (t *tracer) end(p *pass, at int) {
	out := &t.passes[at]
	out.Nodes = t.open[0].freeze()
	out.FinalFlow = "unchanged"
	if p.key != t.initial || p.set.output {
		out.FinalFlow = flow.FormatPass(&p.key, t.resumed.recirc)
	}
	out.Datapath = describe(p.steps, p.keys, &t.initial)
	if p.err != nil {
		text := p.err.Error()
		out.Failure = strings.ToUpper(text[:1]) + text[1:]
	}
}

// fork says how the next pass came about.
func (t *tracer) fork(f *frame, table openflow.TableID) {
	m := &f.ct.Meta
	t.resumed = resumption{
		recirc: uint32(len(t.passes)), table: table,
		text: fmt.Sprintf("ct_state=%v,ct_zone=%d", m.State, m.Zone),
	}
}

func (t *tracer) add(kind datapath.NodeKind, text string) *traceNode {
	n := &traceNode{Node: datapath.Node{Kind: kind, Text: text}}
	top := t.open[len(t.open)-1]
	top.children = append(top.children, n)
	return n
}

// enter opens a lookup.
func (t *tracer) enter(table openflow.TableID, r *rule) {
	n := t.add(datapath.NodeTable, lookupText(table, r))
	n.Table = table
	t.open = append(t.open, n)
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

func (t *tracer) action(a openflow.Action) { t.add(datapath.NodeAction, a.String()) }
func (t *tracer) note(text string)         { t.add(datapath.NodeNote, text) }
func (t *tracer) warn(text string)         { t.add(datapath.NodeWarn, text) }
func (t *tracer) fail(text string)         { t.add(datapath.NodeError, text) }

// now notes the new value of a field or of a part of it.
func (t *tracer) now(s openflow.Subfield, k *flow.Key) {
	v := k.GetSub(s)
	text := v.String()
	switch {
	case s.Field == openflow.VLANVID && s.IsWhole(): // OVS shows it with the bit that makes a tag
		text = fmt.Sprint(k.Get(openflow.VLANTCI).Lo & 0x1fff)
	case s.IsWhole():
		text = s.Field.Format(v)
	}
	t.note(fmt.Sprintf("%v is now %s", s, text))
}

func (t *tracer) outputPort(v openflow.Value) {
	if v.Hi != 0 || v.Lo > 0xffff {
		t.warn(fmt.Sprintf("output port %d is out of range", v.Lo))
		return
	}
	t.note(fmt.Sprintf("output port is %d", v.Lo))
}

// learned notes the flow that a learn() makes, whether it may or not.
func (t *tracer) learned(c *learnCode, k *flow.Key) {
	f := c.flow(k)
	words := []string{fmt.Sprintf("table=%d", f.Table)}
	if m := f.Match.String(); m != "" {
		words = append(words, m)
	}
	words = append(words, fmt.Sprintf("priority=%d", f.Priority))
	if f.Cookie != 0 {
		words = append(words, fmt.Sprintf("cookie=%#x", f.Cookie))
	}
	if f.IdleTimeout != 0 {
		words = append(words, fmt.Sprintf("idle=%d", f.IdleTimeout))
	}
	if f.HardTimeout != 0 {
		words = append(words, fmt.Sprintf("hard=%d", f.HardTimeout))
	}
	t.note(strings.Join(append(words, "actions="+c.actionsText(k)), " "))
}

// actionsText is the learned actions as ofproto/trace shows them: loads stay loads.
func (c *learnCode) actionsText(k *flow.Key) string {
	var texts []string
	for _, s := range c.action.Specs {
		switch s := s.(type) {
		case openflow.LearnLoadField:
			texts = append(texts, fmt.Sprintf("load:%#x->%v", k.GetSub(s.Src).Lo, s.Dst))
		case openflow.LearnLoadValue:
			texts = append(texts, fmt.Sprintf("load:%#x->%v", s.Value.Lo, s.Dst))
		case openflow.LearnOutput:
			if a := learnedAction(s, k); a != nil {
				texts = append(texts, a.String())
			}
		}
	}
	if texts == nil {
		return "drop"
	}
	return strings.Join(texts, ",")
}

// actionSet opens the execution of an action set and returns what closes it. The set of the pass
// is shown under the first lookup, that of a clone where the clone is.
func (t *tracer) actionSet() (leave func()) {
	depth := len(t.open)
	if depth == 1 {
		t.open = append(t.open, t.open[0].children[0])
	}
	t.open = append(t.open, t.add(datapath.NodeBucket, "--. Executing action set:"))
	return func() { t.open = t.open[:depth] }
}

// forked notes what a ct() means for the frame and its copy.
func (t *tracer) forked(c *ctCode) {
	if c.recirc {
		t.note(fmt.Sprintf("A clone of the packet is forked to recirculate. The forked pipeline will be resumed at table %d.", c.table))
	}
	t.note("Sets the packet to an untracked state, and clears all the conntrack fields.")
}

func (t *tracer) output(port openflow.PortNo, b []byte) {
	t.outputs = append(t.outputs, datapath.Output{Port: port, Frame: bytes.Clone(b)})
}
