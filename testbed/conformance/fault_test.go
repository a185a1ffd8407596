package conformance

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
)

// fault is a simulator that does something wrong on purpose: it runs another case than it was given, or lies about the
// record.
type fault struct {
	name string
	run  func(Case) Case
	lie  func(Record) Record
}

// caught reports whether the faulty simulator gives itself away on a case: whether it behaves differently from the
// record. Its flows read differently anyway, so of the case's own flows only the counters count.
func (f fault) caught(c Case, want Record) bool {
	d := c
	if f.run != nil {
		d = f.run(c)
	}
	got, err := Simulate(d)
	if err != nil {
		return false
	}
	if f.lie != nil {
		got = f.lie(got)
	}
	return Compare(want.behaviour(c), got.behaviour(d)) != ""
}

// behaviour is the record without the texts of the case's own flows and actions.
func (r Record) behaviour(c Case) Record {
	own := map[string]bool{}
	for f := range c.flows {
		f.Flags = 0
		own[f.String()] = true
	}
	r.Trace, r.Flows = nil, slices.Clone(r.Flows)
	for i, line := range r.Flows {
		words := strings.SplitN(line, " ", 5)
		if own[words[4]] {
			r.Flows[i] = strings.Join(words[:4], " ")
		}
	}
	slices.Sort(r.Flows)
	return r
}

// onActions is a fault that takes each action for a list of others.
func onActions(replace func(openflow.Action) []openflow.Action) func(Case) Case {
	var list func([]openflow.Action) []openflow.Action
	list = func(actions []openflow.Action) (out []openflow.Action) {
		for _, a := range actions {
			switch nested := a.(type) {
			case openflow.Clone:
				a = openflow.Clone{Actions: list(nested.Actions)}
			case openflow.WriteActions:
				a = openflow.WriteActions{Actions: list(nested.Actions)}
			}
			out = append(out, replace(a)...)
		}
		return out
	}
	return onFlows(func(f openflow.Flow) openflow.Flow {
		f.Actions = list(f.Actions)
		return f
	})
}

// instead is onActions for one type of action.
func instead[A openflow.Action](replace func(A) []openflow.Action) func(Case) Case {
	return onActions(func(a openflow.Action) []openflow.Action {
		if a, ok := a.(A); ok {
			return replace(a)
		}
		return []openflow.Action{a}
	})
}

// onFlows is a fault that takes each flow for another.
func onFlows(replace func(openflow.Flow) openflow.Flow) func(Case) Case {
	return onMods(func(m openflow.FlowMod) openflow.FlowMod {
		m.Flow = replace(m.Flow)
		return m
	})
}

func onMods(replace func(openflow.FlowMod) openflow.FlowMod) func(Case) Case {
	return func(c Case) Case {
		c.Flows, c.Events = slices.Clone(c.Flows), slices.Clone(c.Events)
		for i, f := range c.Flows {
			c.Flows[i] = replace(openflow.FlowMod{Flow: f}).Flow
		}
		for i, e := range c.Events {
			if commit, ok := e.(Commit); ok {
				b := slices.Clone(commit.Bundle)
				for j := range b {
					b[j] = replace(b[j])
				}
				c.Events[i] = Commit{b}
			}
		}
		return c
	}
}

// onTerms is a fault that takes the condition on a field for another.
func onTerms(field openflow.Field, replace func(openflow.Term) openflow.Term) func(Case) Case {
	return onFlows(func(f openflow.Flow) openflow.Flow {
		var m openflow.Match
		for _, t := range f.Match.Terms() {
			if t.Field == field {
				t = replace(t)
			}
			m = m.WithMask(t.Field, t.Value.And(t.Mask), t.Mask)
		}
		f.Match = m
		return f
	})
}

// onFrames is a fault that lies about frames sent.
func onFrames(spoil func([]byte)) func(Record) Record {
	return func(r Record) Record {
		for port, frames := range r.Outputs {
			for i := range frames {
				b := bytes.Clone(frames[i])
				spoil(b)
				r.Outputs[port][i] = b
			}
		}
		return r
	}
}

func onLines(pattern, replacement string, of func(*Record) []string) func(Record) Record {
	re := regexp.MustCompile(pattern)
	return func(r Record) Record {
		lines := of(&r)
		for i := range lines {
			lines[i] = re.ReplaceAllString(lines[i], replacement)
		}
		slices.Sort(lines)
		return r
	}
}

func list(actions ...openflow.Action) []openflow.Action { return actions }

var faults = []fault{
	{name: "dec_ttl goes on at TTL 1 as if there were no such rule", run: instead(func(openflow.DecTTL) []openflow.Action { return nil })},
	{name: "TCP checksum does not follow a translation to port 8080", lie: onFrames(func(b []byte) {
		if _, l3 := network(b); len(l3) >= 40 && l3[0] == 0x45 && l3[9] == packet.ProtoTCP && binary.BigEndian.Uint16(l3[22:]) == 8080 {
			l3[36] ^= 1
		}
	})},
	{name: "hash basis is off by one", run: instead(func(a openflow.Multipath) []openflow.Action {
		a.Basis++
		return list(a)
	})},
	{name: "symmetric_l4 counts UDP ports", run: instead(func(a openflow.Multipath) []openflow.Action {
		if a.Fields == openflow.HashSymmetricL4 {
			a.Fields = openflow.HashSymmetricL3L4UDP
		}
		return list(a)
	})},
	{name: "answers are not translated back", run: instead(func(a openflow.CT) []openflow.Action {
		if a.NAT != nil && a.NAT.Kind == openflow.NATExisting {
			a.NAT = nil
		}
		return list(a)
	})},
	{name: "nat leaves the port alone", run: instead(func(a openflow.CT) []openflow.Action {
		if a.NAT != nil {
			n := *a.NAT
			n.Port = [2]uint16{}
			a.NAT = &n
		}
		return list(a)
	})},
	{name: "learned flows have the default priority", run: instead(func(a openflow.Learn) []openflow.Action {
		a.Priority = openflow.DefaultPriority
		return list(a)
	})},
	{name: "one flow more than the limit is learned", run: instead(func(a openflow.Learn) []openflow.Action {
		if a.Limit != 0 {
			a.Limit++
		}
		return list(a)
	})},
	{name: "byte counters include the check sequence", lie: onLines(`n_bytes=(\d*)[1-9] `, `n_bytes=${1}0 `, func(r *Record) []string { return r.Flows })},
	{name: "idle timeouts are a second late", run: onFlows(func(f openflow.Flow) openflow.Flow {
		if f.IdleTimeout != 0 {
			f.IdleTimeout++
		}
		return f
	})},
	{name: "hard timeout of learned flows is ignored", run: instead(func(a openflow.Learn) []openflow.Action {
		a.HardTimeout = 0
		return list(a)
	})},
	{name: "+rpl is not looked at", run: onTerms(openflow.CTState, func(t openflow.Term) openflow.Term {
		t.Mask = t.Mask.AndNot(openflow.U64(uint64(openflow.CTRpl)))
		return t
	})},
	{name: "address masks are a bit short", run: onTerms(openflow.IPDst, func(t openflow.Term) openflow.Term {
		t.Mask = t.Mask.Shl(1).And(openflow.Ones(32))
		return t
	})},
	{name: "output to the ingress port is not suppressed", run: instead(func(a openflow.Output) []openflow.Action {
		in := openflow.Whole(openflow.InPort)
		return list(openflow.Push{Src: in}, openflow.Set(openflow.InPort, openflow.Value{}), a, openflow.Pop{Dst: in})
	})},
	{name: "what a clone does stays", run: instead(func(a openflow.Clone) []openflow.Action { return a.Actions })},
	{name: "reg0 is lost at recirculation", run: instead(func(a openflow.CT) []openflow.Action {
		if !a.Recirc {
			return list(a)
		}
		return list(openflow.Set(openflow.Reg0, openflow.Value{}), a)
	})},
	{name: "mask of the mark is ignored", run: instead(func(a openflow.CT) []openflow.Action {
		a.Exec = slices.Clone(a.Exec)
		for i, e := range a.Exec {
			if set, ok := e.(openflow.SetField); ok {
				set.Mask = set.Field.Mask()
				a.Exec[i] = set
			}
		}
		return list(a)
	})},
	{name: "modify resets counters", run: onMods(func(m openflow.FlowMod) openflow.FlowMod {
		if m.Command == openflow.Modify || m.Command == openflow.ModifyStrict {
			m.Flow.Flags |= openflow.ResetCounts
		}
		return m
	})},
	{name: "delete does not look at the cookie", run: onMods(func(m openflow.FlowMod) openflow.FlowMod {
		if m.Command == openflow.Delete {
			m.CookieMask, m.Flow.Cookie = 0, 0
		}
		return m
	})},
	{name: "the zone is ignored", run: instead(func(a openflow.CT) []openflow.Action {
		a.Zone, a.ZoneSrc = 0, openflow.Subfield{}
		return list(a)
	})},
	{name: "established connections are kept for a day less a second", lie: onLines(`timeout=86400`, `timeout=86399`, func(r *Record) []string { return r.Connections })},
	{name: "move leaves out the highest bit", run: instead(func(a openflow.Move) []openflow.Action {
		if a.Src.Width > 1 {
			a.Src.Width, a.Dst.Width = a.Src.Width-1, a.Dst.Width-1
		}
		return list(a)
	})},
	{name: "pop_vlan takes off all tags", run: instead(func(a openflow.PopVLAN) []openflow.Action { return list(a, a) })},
	{name: "the clock is late", run: func(c Case) Case {
		c.Events = slices.DeleteFunc(slices.Clone(c.Events), func(e Event) bool { return e == Event(Advance{time.Second}) })
		return c
	}},
}

// TestFaultsWouldBeFound lets each faulty simulator run cases beside the right one: the cases tell them apart. A campaign
// compares some 200 cases a second, so a fault that is found in 6000 cases is found within a minute, if the right one is
// as the real switch.
func TestFaultsWouldBeFound(t *testing.T) {
	const minute = 6000
	missing := slices.Clone(faults)
	for seed := range uint64(minute) {
		if len(missing) == 0 {
			return
		}
		c := Generate(seed, nil)
		want, err := Simulate(c)
		require.NoError(t, err)
		missing = slices.DeleteFunc(missing, func(f fault) bool {
			caught := f.caught(c, want)
			if caught {
				t.Logf("case %d: %s", seed, f.name)
			}
			return caught
		})
	}
	for _, f := range missing {
		t.Errorf("not found in %d cases: %s", minute, f.name)
	}
}

// TestFaultsAreFound is the same against the real switch. It takes up to a minute a fault, so it runs on demand.
func TestFaultsAreFound(t *testing.T) {
	if os.Getenv("HPNN_CONFORMANCE_FAULTS") == "" {
		t.Skip("set HPNN_CONFORMANCE_FAULTS=1 to look for faults against the real switch, which takes a minute or so")
	}
	oracle := oracleForTest(t)
	missing, start := slices.Clone(faults), time.Now()
	for first := uint64(0); len(missing) > 0 && time.Since(start) < time.Minute; first += batch {
		cases := make([]Case, batch)
		for i := range cases {
			cases[i] = Generate(first+uint64(i), nil)
		}
		answers, err := oracle.Run(t.Context(), cases...)
		require.NoError(t, err)
		missing = slices.DeleteFunc(missing, func(f fault) bool {
			for i, a := range answers {
				if a.Err == nil && f.caught(cases[i], a.Record) {
					t.Logf("after %v, case %d: %s", time.Since(start).Round(time.Second), first+uint64(i), f.name)
					return true
				}
			}
			return false
		})
	}
	for _, f := range missing {
		t.Errorf("not found within a minute: %s", f.name)
	}
}

// TestShrinkLeavesWhatMatters shrinks what faulty simulators do to a case or two.
func TestShrinkLeavesWhatMatters(t *testing.T) {
	for _, f := range faults[:6] {
		t.Run(f.name, func(t *testing.T) {
			differ := func(_ context.Context, cases ...Case) ([]Finding, error) {
				findings := make([]Finding, len(cases))
				for i, c := range cases {
					want, err := Simulate(c)
					require.NoError(t, err)
					findings[i].File = File{c, want}
					if f.caught(c, want) {
						findings[i].Difference = "caught"
					}
				}
				return findings, nil
			}
			for seed := uint64(0); ; seed++ {
				found, err := differ(t.Context(), Generate(seed, nil))
				require.NoError(t, err)
				if found[0].Difference == "" {
					continue
				}
				small, err := Shrink(t.Context(), differ, found[0])
				require.NoError(t, err)
				require.NotEmpty(t, small.Difference)
				require.LessOrEqual(t, len(small.File.Case.Flows), 12, "%s", small.File)
				require.LessOrEqual(t, len(small.File.Case.Events), 4, "%s", small.File)
				return
			}
		})
	}
}
