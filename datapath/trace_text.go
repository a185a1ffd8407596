package datapath

import (
	"strconv"
	"strings"
)

// String is the trace as ofproto/trace lays it out. Where ofproto/trace assumes a state of
// the connection tracker, this is the one that was found.
func (t Trace) String() string {
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
		n += 512 + len(p.Resume) + len(p.Flow) + len(p.FinalFlow) + len(p.Datapath) + sizeOf(p.Nodes)
	}
	return n
}

func sizeOf(nodes []Node) (n int) {
	for i := range nodes {
		n += 16 + len(nodes[i].Text) + sizeOf(nodes[i].Children)
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
	writeNodes(w, p.Nodes, 0)
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

// writeNodes prints a list of nodes. Lookups that come last in their list are not indented
// further, for nothing of the list follows them: a chain of gotos stays flat.
func writeNodes(w *strings.Builder, nodes []Node, level int) {
	for i := range nodes {
		n := &nodes[i]
		before, after := "", "\n"
		switch n.Kind {
		case NodeNote:
			before = " -> "
		case NodeWarn:
			before = " >> "
		case NodeError:
			before, after = " >>>> ", " <<<<\n"
		case NodeAction:
		default:
			own, below := level, level
			if i < len(nodes)-1 {
				own, below = level+1, level+2
			}
			writeIndent(w, own)
			line(w, n.Text, "\n")
			writeNodes(w, n.Children, below)
			continue
		}
		writeIndent(w, level+1)
		line(w, before, n.Text, after)
	}
}
