package datapath

import (
	"strconv"
	"strings"
)

// String is the trace as ofproto/trace lays it out. Where ofproto/trace assumes a state of
// the connection tracker, this is the one that was found.
func (t Trace) String() string {
	if t.text != "" {
		return t.text
	}
	var w strings.Builder
	w.Grow(t.size())
	t.write(&w)
	return w.String()
}

// size is about how long the text is.
func (t Trace) size() int {
	n := 64 * (1 + len(t.Outputs))
	for i := range t.Passes {
		p := &t.Passes[i]
		n += 512 + len(p.Resume) + len(p.Flow) + len(p.FinalFlow) + len(p.Datapath)
		for _, one := range p.Nodes.All() {
			n += 16 + len(one.Text)
		}
	}
	return n
}

// rule sets off the passes from each other.
const rule = "\n===============================================================================\n"

// line is the parts of a line, or of lines, one behind the other.
func line(w *strings.Builder, parts ...string) {
	for _, p := range parts {
		w.WriteString(p)
	}
}

func (t Trace) write(w *strings.Builder) {
	for i := range t.Passes {
		p := &t.Passes[i]
		if i > 0 {
			line(w, rule, "recirc(0x", strconv.FormatInt(int64(i), 16), ") - resume conntrack with ", p.Resume, rule, "\n")
		}
		p.write(w)
	}
	for _, o := range t.Outputs {
		line(w, "Output: ", o.Port.String(), ", ", strconv.Itoa(len(o.Frame)), " bytes\n")
	}
	if len(t.Outputs) == 0 {
		line(w, "Output: none\n")
	}
}

func (p *Pass) write(w *strings.Builder) {
	line(w, "Flow: ", p.Flow, "\n\nbridge\n------\n")
	if p.Resume != "" {
		line(w, "    thaw\n        Resuming from table ", strconv.Itoa(int(p.Table)), "\n")
	}
	p.Nodes.write(w)
	line(w, "\nFinal flow: ", p.FinalFlow, "\nDatapath actions: ", p.Datapath, "\n")
	if p.Failure != "" {
		line(w, "Translation failed (", p.Failure, "), packet is dropped.\n")
	}
}

// writeIndent writes the blanks of so many levels.
func writeIndent(w *strings.Builder, level int) {
	for range level {
		w.WriteString("    ")
	}
}

// write prints the nodes. Branches that come last in their list are not indented further, for nothing of the
// list follows them: a chain of gotos stays flat.
func (n Nodes) write(w *strings.Builder) {
	levels := []int{0} // of the lists from the outermost on
	for i, one := range n.All() {
		depth := min(int(one.Depth), len(levels)-1)
		level := levels[depth]
		before, after := "", "\n"
		switch one.Kind {
		case NodeNote:
			before = " -> "
		case NodeWarn:
			before = " >> "
		case NodeError:
			before, after = " >>>> ", " <<<<\n"
		case NodeAction:
		default:
			own, below := level, level
			if next := i + 1 + n.Under(i).Len(); next < n.Len() && n.At(next).Depth == one.Depth {
				own, below = level+1, level+2
			}
			writeIndent(w, own)
			line(w, one.Text, "\n")
			levels = append(levels[:depth+1], below)
			continue
		}
		writeIndent(w, level+1)
		line(w, before, one.Text, after)
	}
}
