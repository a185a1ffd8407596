package conformance

import (
	"context"
	"slices"
	"strings"

	"hpnn/datapath/openflow"
)

// Differ asks whether two switches differ on cases. It gives a finding for each case, without a difference if there is
// none.
type Differ func(context.Context, ...Case) ([]Finding, error)

// Differ compares the oracle with the simulator.
func (o *Oracle) Differ(ctx context.Context, cases ...Case) ([]Finding, error) {
	answers, err := o.Run(ctx, cases...)
	if err != nil {
		return nil, err
	}
	findings := make([]Finding, len(cases))
	for i, a := range answers {
		findings[i] = Finding{Difference: Judge(cases[i], a), File: File{cases[i], a.Record}}
	}
	return findings, nil
}

// Shrink makes a finding as small as it gets: it takes away events, flows, actions, conditions and bytes as long as the
// switches still differ in the same kind of way.
func Shrink(ctx context.Context, differ Differ, f Finding) (Finding, error) {
	for {
		smaller, err := shrinkOnce(ctx, differ, f)
		if err != nil || smaller == nil {
			return f, err
		}
		f = *smaller
	}
}

// shrinkOnce looks for one smaller case; nil if there is none.
func shrinkOnce(ctx context.Context, differ Differ, f Finding) (*Finding, error) {
	for _, reduce := range []func(Case) []Case{fewerEvents, fewerFlows, fewerActions, fewerTerms, smallerFlows, shorterFrames} {
		candidates := slices.DeleteFunc(reduce(f.File.Case), func(c Case) bool { return Excluded(c) != "" || c.overlaps() })
		for part := range slices.Chunk(candidates, batch) {
			found, err := differ(ctx, part...)
			if err != nil {
				return nil, err
			}
			for _, g := range found {
				if kind(g.Difference) == kind(f.Difference) {
					g.Seed = f.Seed
					return &g, nil
				}
			}
		}
	}
	return nil, nil
}

// kind is what differs, without the particulars.
func kind(difference string) string {
	word, _, _ := strings.Cut(difference, " ")
	return strings.TrimRight(word, ":,")
}

// overlaps reports whether the case leaves open which of two flows a frame matches.
func (c Case) overlaps() bool {
	for i, f := range c.Flows {
		if overlaps(f, c.Flows[:i]) {
			return true
		}
	}
	return false
}

// without lists the lists that lack a part of the given one: first halves, then quarters, down to single elements.
func without[T any](list []T) (smaller [][]T) {
	for n := len(list); n > 0; n /= 2 {
		for at := 0; at < len(list); at += n {
			smaller = append(smaller, slices.Concat(list[:at], list[min(at+n, len(list)):]))
		}
	}
	return smaller
}

func fewerEvents(c Case) (smaller []Case) {
	for _, events := range without(c.Events) {
		smaller = append(smaller, Case{c.Note, c.Flows, events})
	}
	for i, e := range c.Events {
		if commit, ok := e.(Commit); ok {
			for _, b := range without(commit.Bundle) {
				smaller = append(smaller, c.withEvent(i, Commit{b}))
			}
		}
	}
	return smaller
}

func (c Case) withEvent(i int, e Event) Case {
	c.Events = slices.Clone(c.Events)
	c.Events[i] = e
	return c
}

func fewerFlows(c Case) (smaller []Case) {
	for _, flows := range without(c.Flows) {
		smaller = append(smaller, Case{c.Note, flows, c.Events})
	}
	return smaller
}

// eachFlow lists the cases in which one flow, or the flow of one change, has been replaced.
func (c Case) eachFlow(replace func(openflow.Flow) []openflow.Flow) (cases []Case) {
	for i, f := range c.Flows {
		for _, r := range replace(f) {
			if r.Validate() == nil {
				d := c
				d.Flows = slices.Clone(c.Flows)
				d.Flows[i] = r
				cases = append(cases, d)
			}
		}
	}
	for i, e := range c.Events {
		commit, ok := e.(Commit)
		if !ok {
			continue
		}
		for j, m := range commit.Bundle {
			for _, r := range replace(m.Flow) {
				n := m
				n.Flow = r
				if n.Validate() == nil {
					b := slices.Clone(commit.Bundle)
					b[j] = n
					cases = append(cases, c.withEvent(i, Commit{b}))
				}
			}
		}
	}
	return cases
}

func fewerActions(c Case) []Case {
	return c.eachFlow(func(f openflow.Flow) (smaller []openflow.Flow) {
		for _, actions := range lists(f.Actions) {
			g := f
			g.Actions = actions
			smaller = append(smaller, g)
		}
		return smaller
	})
}

// lists are smaller lists of actions: some left out, or what is inside one made smaller.
func lists(actions []openflow.Action) [][]openflow.Action {
	smaller := without(actions)
	for i, a := range actions {
		for _, s := range simpler(a) {
			list := slices.Clone(actions)
			list[i] = s
			smaller = append(smaller, list)
		}
	}
	return smaller
}

// simpler lists actions that do less than a.
func simpler(a openflow.Action) (list []openflow.Action) {
	switch a := a.(type) {
	case openflow.Clone:
		for _, inner := range lists(a.Actions) {
			list = append(list, openflow.Clone{Actions: inner})
		}
	case openflow.WriteActions:
		for _, inner := range lists(a.Actions) {
			list = append(list, openflow.WriteActions{Actions: inner})
		}
	case openflow.Learn:
		for _, specs := range without(a.Specs) {
			b := a
			b.Specs = specs
			list = append(list, b)
		}
		if a.Limit != 0 {
			a.Limit, a.ResultDst = 0, openflow.Subfield{}
			list = append(list, a)
		}
	case openflow.CT:
		list = simplerCT(a)
	}
	return list
}

func simplerCT(a openflow.CT) (list []openflow.Action) {
	try := func(change func(*openflow.CT)) {
		b := a
		change(&b)
		if b.String() != a.String() {
			list = append(list, b)
		}
	}
	try(func(b *openflow.CT) { b.Exec = nil })
	try(func(b *openflow.CT) { b.NAT = nil })
	try(func(b *openflow.CT) { b.Force = false })
	try(func(b *openflow.CT) { b.Zone, b.ZoneSrc = 0, openflow.Subfield{} })
	try(func(b *openflow.CT) { b.Recirc, b.Table = false, 0 })
	for _, exec := range without(a.Exec) {
		if len(exec) > 0 {
			try(func(b *openflow.CT) { b.Exec = exec })
		}
	}
	return list
}

func fewerTerms(c Case) []Case {
	return c.eachFlow(func(f openflow.Flow) (smaller []openflow.Flow) {
		for _, terms := range without(f.Match.Terms()) {
			g := f
			g.Match = openflow.Match{}
			for _, t := range terms {
				g.Match = g.Match.WithMask(t.Field, t.Value, t.Mask)
			}
			smaller = append(smaller, g)
		}
		return smaller
	})
}

// smallerFlows takes away what else a flow has.
func smallerFlows(c Case) []Case {
	return c.eachFlow(func(f openflow.Flow) []openflow.Flow {
		plain := openflow.Flow{Table: f.Table, Priority: f.Priority, Match: f.Match, Actions: f.Actions}
		if plain.Equal(f) {
			return nil
		}
		noTimeouts, noCookie := f, f
		noTimeouts.IdleTimeout, noTimeouts.HardTimeout, noCookie.Cookie = 0, 0, 0
		return slices.DeleteFunc([]openflow.Flow{plain, noTimeouts, noCookie}, f.Equal)
	})
}

// shorterFrames cuts bytes off the end of frames, as long as checksums can be kept right.
func shorterFrames(c Case) (smaller []Case) {
	for i, e := range c.Events {
		f, ok := e.(Frame)
		if !ok {
			continue
		}
		if b, ok := withoutPayload(f.Bytes); ok {
			smaller = append(smaller, c.withEvent(i, Frame{f.Port, b}))
		}
	}
	return smaller
}
