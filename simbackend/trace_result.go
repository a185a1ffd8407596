package simbackend

import "hpnn/datapath"

// result is the trace. All its nodes are one array, in which the children of each lie together, and what was
// written for it is one string.
func (t *tracer) result() datapath.Trace {
	text := string(t.text)
	cut := func(s span) string { return text[s.from:s.to] }
	nodes := make([]datapath.Node, t.place())
	for i := range t.steps {
		s := &t.steps[i]
		if s.parent < 0 {
			continue
		}
		parent := &t.steps[s.parent]
		n := &nodes[parent.next]
		parent.next++
		n.Kind, n.Text, n.Table, n.Children = s.kind, s.known, s.table, s.cut(nodes)
		if s.known == "" {
			n.Text = cut(s.made)
		}
	}
	trace := datapath.Trace{Outputs: t.outputs}
	if len(t.passes) > 0 {
		trace.Passes = make([]datapath.Pass, len(t.passes))
	}
	for i, p := range t.passes {
		root := t.steps[p.root]
		root.next -= root.children // they have all been placed
		trace.Passes[i] = datapath.Pass{
			Resume: cut(p.resume), Table: p.table, Flow: cut(p.flow), FinalFlow: cut(p.final),
			Datapath: cut(p.datapath), Failure: p.failure, Nodes: root.cut(nodes),
		}
	}
	return trace
}

// place settles where the children of each step go, and says how many nodes there are.
func (t *tracer) place() (nodes int32) {
	for i := range t.steps {
		s := &t.steps[i]
		s.next = nodes
		nodes += s.children
	}
	return nodes
}

// cut is the children of a step, of which none has been placed.
func (s *traceStep) cut(nodes []datapath.Node) []datapath.Node {
	if s.children == 0 {
		return nil
	}
	end := s.next + s.children
	return nodes[s.next:end:end]
}
