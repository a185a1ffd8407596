package simbackend

import (
	"slices"
	"strconv"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// result is the trace: one string, of which all texts are parts, and one array of nodes, but for what it shares with others.
func (t *tracer) result() datapath.Trace {
	if !t.shares {
		t.tell()
	}
	text := string(t.text)
	cut := func(s span) string { return text[s.from:s.to] }
	nodes := datapath.CutNodes(text, slices.Clone(t.nodes))
	passes, outputs := t.room()
	for i := range passes {
		p, out := &t.passes[i], &passes[i]
		out.Resume, out.Table, out.Flow, out.FinalFlow = cut(p.resume), p.table, cut(p.flow), cut(p.final)
		if p.told != nil {
			out.Datapath, out.Nodes = p.told.behind[p.told.actions.from:p.told.actions.to], p.told.nodes
			continue
		}
		out.Datapath, out.Failure, out.Nodes = cut(p.datapath), p.failure, nodes.Part(int(p.nodes.from), int(p.nodes.to))
	}
	frames := make([]byte, len(t.frames))
	copy(frames, t.frames)
	for i := range outputs {
		o := &t.outputs[i]
		outputs[i] = datapath.Output{Port: o.port, Frame: frames[o.frame.from:o.frame.to:o.frame.to]}
	}
	trace := datapath.Trace{Passes: passes, Outputs: outputs}
	if t.shares {
		return trace
	}
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

// room is what a trace needs for its passes and outputs. For most traces it is one piece.
func (t *tracer) room() (passes []datapath.Pass, outputs []datapath.Output) {
	if len(t.passes) == 2 && len(t.outputs) == 1 {
		var usual struct {
			passes  [2]datapath.Pass
			outputs [1]datapath.Output
		}
		return usual.passes[:], usual.outputs[:]
	}
	if len(t.passes) > 0 {
		passes = make([]datapath.Pass, len(t.passes))
	}
	if len(t.outputs) > 0 {
		outputs = make([]datapath.Output, len(t.outputs))
	}
	return passes, outputs
}
