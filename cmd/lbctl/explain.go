package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"hpnn/datapath"
	"hpnn/internal/packet"
	"hpnn/internal/replay"
)

// explainer prints what became of one frame after the other.
func (a *app) explainer(n replay.Node, asJSON bool) func(replay.Step) {
	var start time.Time
	return func(s replay.Step) {
		if s.Number == 1 {
			start = s.Place.Time
		}
		if asJSON {
			line, _ := json.Marshal(newExplanation(n, s)) // plain values: it cannot fail
			fmt.Fprintf(a.stdout, "%s\n", line)
			return
		}
		fmt.Fprintf(a.stdout, "%6d  %s  %s  %s\n        %s: %s\n%s", s.Number, offset(s.Place.Time.Sub(start)),
			a.paint.in(bold, fmt.Sprintf("%s#%d", s.Place.Port, s.Place.Frame)), packet.Summary(s.Frame.Data),
			way(s), a.paint.in(fateColour(s.Fate), verdict(n, s)), a.outputs(n, s, "        "))
	}
}

// outputs lists the frames that left, a line each.
func (a *app) outputs(n replay.Node, s replay.Step, indent string) string {
	var b strings.Builder
	for _, o := range s.Trace.Outputs {
		fmt.Fprintf(&b, "%s> %s  %s\n", indent, a.paint.in(bold, n.PortName(o.Port)), packet.Summary(o.Frame))
	}
	return b.String()
}

func fateColour(f replay.Fate) colour {
	switch f {
	case replay.Dropped, replay.Punted:
		return red
	case replay.Held:
		return yellow
	}
	return green
}

// way lists the tables that looked the frame up, and the flow that the last of them found;
// "ct(...)" is what the connection tracker said in between.
func way(s replay.Step) string {
	var words []string
	for _, p := range s.Trace.Passes {
		if p.Resume != "" {
			state := strings.TrimPrefix(p.Resume, "ct_state=")
			words = append(words, "ct("+strings.ReplaceAll(state, "ct_zone", "zone")+")")
		}
		words = append(words, lookups(p.Nodes)...)
	}
	if s.Reason == "" && s.Verdict.Matched {
		words = append(words, "("+condition(s.Verdict.Flow)+")")
	}
	return strings.Join(words, " ")
}

func lookups(nodes datapath.Nodes) (tables []string) {
	for _, node := range nodes.All() {
		if node.Kind == datapath.NodeTable {
			tables = append(tables, fmt.Sprint(node.Table))
		}
	}
	return tables
}

// explanation is what became of a frame, for programs.
type explanation struct {
	Number  int               `json:"number"`
	Place   replay.Place      `json:"place"`
	Frame   []byte            `json:"frame"`
	Summary string            `json:"summary"`
	Fate    replay.Fate       `json:"fate"`
	Reason  replay.Reason     `json:"reason,omitempty"`
	Verdict string            `json:"verdict"` // in words
	Trace   datapath.Trace    `json:"trace"`
	Outputs []explainedOutput `json:"outputs"`
}

// explainedOutput is a frame that left.
type explainedOutput struct {
	Port    string `json:"port"`
	Summary string `json:"summary"`
}

func newExplanation(n replay.Node, s replay.Step) explanation {
	e := explanation{
		Number: s.Number, Place: s.Place, Frame: s.Frame.Data, Summary: packet.Summary(s.Frame.Data),
		Fate: s.Fate, Reason: s.Reason, Verdict: verdict(n, s), Trace: s.Trace, Outputs: []explainedOutput{},
	}
	for _, o := range s.Trace.Outputs {
		e.Outputs = append(e.Outputs, explainedOutput{n.PortName(o.Port), packet.Summary(o.Frame)})
	}
	return e
}
