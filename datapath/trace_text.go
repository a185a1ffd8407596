package datapath

import (
	"fmt"
	"strings"
)

// String is the trace as ofproto/trace lays it out. Where ofproto/trace assumes a state of
// the connection tracker, this is the one that was found.
func (t Trace) String() string {
	var w strings.Builder
	rule := strings.Repeat("=", 79)
	for i, p := range t.Passes {
		if i > 0 {
			fmt.Fprintf(&w, "\n%s\nrecirc(%#x) - resume conntrack with %s\n%s\n\n", rule, i, p.Resume, rule)
		}
		p.write(&w)
	}
	for _, o := range t.Outputs {
		fmt.Fprintf(&w, "Output: %v, %d bytes\n", o.Port, len(o.Frame))
	}
	if len(t.Outputs) == 0 {
		w.WriteString("Output: none\n")
	}
	return w.String()
}

func (p Pass) write(w *strings.Builder) {
	fmt.Fprintf(w, "Flow: %s\n\nbridge\n------\n", p.Flow)
	if p.Resume != "" {
		fmt.Fprintf(w, "    thaw\n        Resuming from table %d\n", p.Table)
	}
	writeNodes(w, p.Nodes, 0)
	fmt.Fprintf(w, "\nFinal flow: %s\nDatapath actions: %s\n", p.FinalFlow, p.Datapath)
	if p.Failure != "" {
		fmt.Fprintf(w, "Translation failed (%s), packet is dropped.\n", p.Failure)
	}
}

// indent is how far a level is indented, blanks.
const indent = 4

// writeNodes prints a list of nodes. Lookups that come last in their list are not indented
// further, for nothing of the list follows them: a chain of gotos stays flat.
func writeNodes(w *strings.Builder, nodes []Node, level int) {
	inner := strings.Repeat(" ", indent*(level+1))
	for i, n := range nodes {
		switch n.Kind {
		case NodeNote:
			fmt.Fprintf(w, "%s -> %s\n", inner, n.Text)
		case NodeWarn:
			fmt.Fprintf(w, "%s >> %s\n", inner, n.Text)
		case NodeError:
			fmt.Fprintf(w, "%s >>>> %s <<<<\n", inner, n.Text)
		case NodeAction:
			fmt.Fprintf(w, "%s%s\n", inner, n.Text)
		default:
			own, below := level, level
			if i < len(nodes)-1 {
				own, below = level+1, level+2
			}
			fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", indent*own), n.Text)
			writeNodes(w, n.Children, below)
		}
	}
}
