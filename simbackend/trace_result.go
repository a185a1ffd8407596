package simbackend

import (
	"strconv"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// result is the trace: one string, of which all texts are parts, and one array of nodes.
func (t *tracer) result() datapath.Trace {
	t.tell()
	text := string(t.text)
	cut := func(s span) string { return text[s.from:s.to] }
	nodes := datapath.CutNodes(text, append([]datapath.Cut(nil), t.nodes...))
	var trace datapath.Trace
	if len(t.passes) > 0 {
		trace.Passes = make([]datapath.Pass, len(t.passes))
	}
	for i := range t.passes {
		p := &t.passes[i]
		trace.Passes[i] = datapath.Pass{
			Resume: cut(p.resume), Table: p.table, Flow: cut(p.flow), FinalFlow: cut(p.final),
			Datapath: cut(p.datapath), Failure: p.failure, Nodes: nodes.Part(int(p.nodes.from), int(p.nodes.to)),
		}
	}
	trace.Outputs = t.left()
	return trace.WithText(text)
}

// tell adds to the text what left.
func (t *tracer) tell() {
	for _, o := range t.outputs {
		t.text = append(t.text, "Output: "...)
		if o.port < openflow.PortMax {
			t.text = strconv.AppendUint(t.text, uint64(o.port), 10)
		} else {
			t.text = append(t.text, o.port.String()...)
		}
		t.text = append(t.text, ", "...)
		t.text = append(strconv.AppendUint(t.text, uint64(o.frame.to-o.frame.from), 10), " bytes\n"...)
	}
	if len(t.outputs) == 0 {
		t.text = append(t.text, "Output: none\n"...)
	}
}

// left is the frames that left. Their bytes lie together.
func (t *tracer) left() []datapath.Output {
	if len(t.outputs) == 0 {
		return nil
	}
	frames, outputs := append([]byte(nil), t.frames...), make([]datapath.Output, len(t.outputs))
	for i, o := range t.outputs {
		outputs[i] = datapath.Output{Port: o.port, Frame: frames[o.frame.from:o.frame.to:o.frame.to]}
	}
	return outputs
}
