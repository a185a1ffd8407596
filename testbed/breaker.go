package testbed

import (
	"context"
	"fmt"
	"math/rand/v2"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// Outage says which calls of a node to its switch fail. The zero Outage is none.
type Outage struct {
	Calls       Calls
	Skip        int     // this many calls pass before
	Next        int     // this many calls fail, and then no more
	Probability float64 // 0 to 1, of each call, until another Outage takes its place; if Next is 0
	// Late: what was asked is done, and only the answer is lost.
	Late bool
}

// Calls are kinds of calls.
type Calls uint8

// Possible kinds; they may be joined by |.
const (
	Commits Calls = 1 << iota
	Dumps
	Flushes
	AllCalls = Commits | Dumps | Flushes
)

// breaker stands between a node and its switch and fails as it is told.
type breaker struct {
	datapath.Bridge
	outage Outage
	random *rand.Rand
	failed int
}

func newBreaker(b datapath.Bridge, seed uint64) *breaker {
	return &breaker{Bridge: b, random: rand.New(rand.NewPCG(seed, 0))}
}

func (b *breaker) set(o Outage) int {
	b.outage = o
	return b.failed
}

// active reports whether any call may fail.
func (b *breaker) active() bool { return b.outage.Next > 0 || b.outage.Probability > 0 }

// call does something, or fails, or both.
func (b *breaker) call(kind Calls, what string, do func() error) error {
	if !b.fails(kind) {
		return do()
	}
	b.failed++
	if b.outage.Late {
		if err := do(); err != nil {
			return err
		}
		what = "confirm that it did " + what
	}
	return fmt.Errorf("%s: injected fault: %w", what, datapath.ErrUnavailable)
}

func (b *breaker) fails(kind Calls) bool {
	switch {
	case b.outage.Calls&kind == 0:
		return false
	case b.outage.Skip > 0:
		b.outage.Skip--
		return false
	case b.outage.Next > 0:
		b.outage.Next--
		return true
	}
	return b.outage.Probability > 0 && b.random.Float64() < b.outage.Probability
}

// Commit implements datapath.Bridge.
func (b *breaker) Commit(ctx context.Context, bundle openflow.Bundle) error {
	return b.call(Commits, "commit bundle", func() error { return b.Bridge.Commit(ctx, bundle) })
}

// Flows implements datapath.Bridge.
func (b *breaker) Flows(ctx context.Context) (flows []openflow.FlowEntry, err error) {
	err = b.call(Dumps, "list flows", func() (err error) {
		flows, err = b.Bridge.Flows(ctx)
		return err
	})
	return flows, err
}

// Conntrack implements datapath.Bridge.
func (b *breaker) Conntrack() datapath.Conntrack { return breakerConntrack{b.Bridge.Conntrack(), b} }

type breakerConntrack struct {
	datapath.Conntrack
	breaker *breaker
}

// Flush implements datapath.Conntrack.
func (c breakerConntrack) Flush(ctx context.Context, f datapath.ConnFilter) error {
	return c.breaker.call(Flushes, "flush connections", func() error { return c.Conntrack.Flush(ctx, f) })
}
