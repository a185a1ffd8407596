package conformance

import (
	"context"
	"strings"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// learnsTwice reports whether a frame of the case learns a flow several times in one pass, and changes it each time: with
// different actions, or because the flow that was there has a flag that learned ones have not.
func (c Case) learnsTwice() bool {
	w, err := newWorld()
	if err != nil || w.commit(0, c.initial()) != nil {
		return false
	}
	flagged := c.hasFlags()
	for i, e := range c.Events {
		if f, ok := e.(Frame); ok {
			t, err := w.sim.Trace(context.Background(), datapath.Injection{InPort: f.Port, Frame: f.Bytes})
			if err == nil && traceLearnsTwice(t, flagged) {
				return true
			}
		}
		if w.happen(i+1, e) != nil {
			return false
		}
	}
	return false
}

// hasFlags reports whether any flow of the case resets counts or tells of its end.
func (c Case) hasFlags() bool {
	for f := range c.flows {
		if f.Flags != 0 {
			return true
		}
	}
	return false
}

func traceLearnsTwice(t datapath.Trace, flagged bool) bool {
	for _, p := range t.Passes {
		learned := map[string]string{} // actions by the rest of the flow
		if walk(p.Nodes, learned, flagged) {
			return true
		}
	}
	return false
}

// walk looks at notes such as "table=1 dl_dst=... priority=5 actions=output:2" and reports whether one contradicts another,
// or if alike, repeats it.
func walk(nodes datapath.Nodes, learned map[string]string, alike bool) bool {
	for _, n := range nodes.All() {
		flow, actions, ok := strings.Cut(n.Text, " actions=")
		if n.Kind == datapath.NodeNote && ok {
			if before, again := learned[flow]; again && (alike || before != actions) {
				return true
			}
			learned[flow] = actions
		}
	}
	return false
}

// controllersBehindTags reports whether a frame of the case goes to the controller that has a tag, or may have got one.
func (c Case) controllersBehindTags() bool {
	w, err := newWorld()
	if err != nil || w.commit(0, c.initial()) != nil {
		return false
	}
	pushes := c.does(func(a openflow.Action) bool { _, ok := a.(openflow.PushVLAN); return ok })
	for i, e := range c.Events {
		f, ok := e.(Frame)
		if !ok {
			if w.happen(i+1, e) != nil {
				return false
			}
			continue
		}
		v := w.sim.Receive(datapath.Injection{InPort: f.Port, Frame: f.Bytes}, nil)
		if _, l3 := network(f.Bytes); v.PacketIns > 0 && (pushes || len(l3) < len(f.Bytes)-header) {
			return true
		}
	}
	return false
}
