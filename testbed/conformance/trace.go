package conformance

import (
	"context"
	"strings"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// traced is the frame whose trace belongs to the record: the last of a case that ofproto/trace can tell the truth about.
// It makes up what the connection tracker says, it really learns, and the order of flooded ports is its own.
func (c Case) traced() (Frame, bool) {
	var last Frame
	for f := range c.frames {
		last = f
	}
	return last, last.Bytes != nil && !c.does(untraceable) && !c.matches(dressedMask)
}

// dressedMask reports whether an IPv6 mask is written so that ovs-ofctl can read it, other than ofproto/trace writes it.
func dressedMask(text string) bool { return strings.Contains(text, "/::") }

func (c Case) matches(wanted func(string) bool) bool {
	for f := range c.flows {
		if wanted(f.Match.String()) {
			return true
		}
	}
	return false
}

func untraceable(a openflow.Action) bool {
	switch a := a.(type) {
	case openflow.CT, openflow.Learn, openflow.OutputField:
		return true
	case openflow.SetField: // shown as stored, which a dump does not tell
		return strings.HasPrefix(a.String(), "load:") || dressedMask(a.String())
	case openflow.Output:
		return a.Port == openflow.PortFlood || a.Port == openflow.PortAll || a.Port == openflow.PortLocal
	}
	return false
}

// comparableTrace is a trace without what two switches cannot have in common: the bridge's name, the megaflow, the
// datapath actions (masks in which depend on it, and frames tell more), and what only one of them tells.
func comparableTrace(text string) (lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "bridge"), strings.HasPrefix(line, "------"), line == "",
			strings.HasPrefix(line, "Megaflow: "), strings.HasPrefix(line, "Output: "),
			strings.HasPrefix(line, "Datapath actions: "), strings.HasPrefix(line, "This flow is handled"), strings.HasPrefix(line, "  - "):
		default: // a miss calls for a packet-in when somebody listens, but gets none
			line = strings.Replace(line, `No match, and a "packet-in" is called for.`, "No match.", 1)
			lines = append(lines, strings.Replace(line, "controller(reason=)", "drop", 1))
		}
	}
	return lines
}

func (w *world) trace(f Frame) error {
	t, err := w.sim.Trace(context.Background(), datapath.Injection{InPort: f.Port, Frame: f.Bytes})
	w.record.Trace = comparableTrace(t.String())
	return err
}

// compareTraces tells the first line that differs.
func compareTraces(want, got []string) string {
	for i := range max(len(want), len(got)) {
		a, b := lineAt(want, i), lineAt(got, i)
		if a != b {
			return "trace:\n  want " + a + "\n  got  " + b
		}
	}
	return ""
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}
