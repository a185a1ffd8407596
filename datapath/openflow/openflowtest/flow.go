package openflowtest

import (
	"time"

	"hpnn/datapath/openflow"
)

// Flow is a random valid flow.
func (g *Gen) Flow() openflow.Flow {
	f := openflow.Flow{Table: g.Table(), Priority: uint16(g.Bits(16).Lo), Match: g.Match()}
	f.Actions = g.Actions(f.Match, f.Table, 5)
	if g.chance(2) {
		f.Cookie = g.Bits(63).Lo
	}
	if g.chance(3) {
		f.IdleTimeout, f.HardTimeout = uint16(g.Bits(16).Lo), uint16(g.Bits(16).Lo)
		f.Importance, f.Flags = uint16(g.Bits(16).Lo), openflow.Flags(g.IntN(32))
	}
	return f
}

// Entry is a random flow with random counters and ages.
func (g *Gen) Entry() openflow.FlowEntry {
	age := func() time.Duration {
		d := time.Duration(g.Uint32())
		return pick(g, d*time.Second, d*time.Millisecond, d)
	}
	e := openflow.FlowEntry{Flow: g.Flow()}
	e.Packets, e.Bytes = g.Bits(64).Lo, g.Bits(64).Lo
	e.Duration, e.IdleAge, e.HardAge = age(), age(), age()
	if g.chance(2) {
		e.HardAge = e.Duration
	}
	return e
}

// FlowMod is a random valid change.
func (g *Gen) FlowMod() openflow.FlowMod {
	f := g.Flow()
	m := openflow.FlowMod{Command: openflow.Command(g.IntN(5)), Flow: f}
	if m.Command == openflow.Add {
		return m
	}
	m.Flow = openflow.Flow{Table: f.Table, Match: f.Match}
	if m.Command == openflow.ModifyStrict || m.Command == openflow.DeleteStrict {
		m.Flow.Priority = f.Priority
	}
	if g.chance(3) {
		m.CookieMask = g.Mask(64).Lo
		m.Flow.Cookie = f.Cookie & m.CookieMask
	}
	if m.Command == openflow.Modify || m.Command == openflow.ModifyStrict {
		m.Flow.Actions = f.Actions
		m.Flow.Flags = f.Flags & openflow.ResetCounts
		return m
	}
	if g.chance(4) {
		m.OutPort = g.Port()
	}
	if g.chance(4) {
		m.Flow.Table = openflow.CurrentTable
	}
	return m
}

// Program is a program of n random flows.
func (g *Gen) Program(n int) openflow.Program {
	flows := make([]openflow.Flow, 0, n)
	seen := map[string]bool{}
	for len(flows) < n {
		f := g.Flow()
		key := openflow.Flow{Table: f.Table, Priority: f.Priority, Match: f.Match}.String()
		if !seen[key] {
			seen[key] = true
			flows = append(flows, f)
		}
	}
	p, err := openflow.NewProgram(flows...)
	if err != nil {
		panic("openflowtest: distinct flows make no program: " + err.Error())
	}
	return p
}
