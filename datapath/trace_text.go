package datapath

import "strconv"

// String is the trace as ofproto/trace lays it out. Where ofproto/trace assumes a state of
// the connection tracker, this is the one that was found.
func (t Trace) String() string { return string(t.append(make([]byte, 0, t.size()))) }

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

func (t Trace) append(b []byte) []byte {
	for i := range t.Passes {
		p := &t.Passes[i]
		if i > 0 {
			b = append(append(b, rule...), "recirc(0x"...)
			b = strconv.AppendInt(b, int64(i), 16)
			b = append(append(b, ") - resume conntrack with "...), p.Resume...)
			b = append(append(b, rule...), '\n')
		}
		b = p.append(b)
	}
	for _, o := range t.Outputs {
		b = append(append(append(b, "Output: "...), o.Port.String()...), ", "...)
		b = append(strconv.AppendInt(b, int64(len(o.Frame)), 10), " bytes\n"...)
	}
	if len(t.Outputs) == 0 {
		b = append(b, "Output: none\n"...)
	}
	return b
}

func (p *Pass) append(b []byte) []byte {
	b = append(append(append(b, "Flow: "...), p.Flow...), "\n\nbridge\n------\n"...)
	if p.Resume != "" {
		b = append(b, "    thaw\n        Resuming from table "...)
		b = append(strconv.AppendUint(b, uint64(p.Table), 10), '\n')
	}
	b = appendNodes(b, p.Nodes, 0)
	b = append(append(b, "\nFinal flow: "...), p.FinalFlow...)
	b = append(append(append(b, "\nDatapath actions: "...), p.Datapath...), '\n')
	if p.Failure != "" {
		b = append(append(append(b, "Translation failed ("...), p.Failure...), "), packet is dropped.\n"...)
	}
	return b
}

// appendIndent appends the blanks of so many levels.
func appendIndent(b []byte, level int) []byte {
	for range level {
		b = append(b, "    "...)
	}
	return b
}

// appendNodes prints a list of nodes. Lookups that come last in their list are not indented
// further, for nothing of the list follows them: a chain of gotos stays flat.
func appendNodes(b []byte, nodes []Node, level int) []byte {
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
			b = append(append(appendIndent(b, own), n.Text...), '\n')
			b = appendNodes(b, n.Children, below)
			continue
		}
		b = append(append(append(appendIndent(b, level+1), before...), n.Text...), after...)
	}
	return b
}
