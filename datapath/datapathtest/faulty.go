package datapathtest

import (
	"context"
	"fmt"
	"math/rand/v2"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// Faulty is a Bridge whose commits, dumps and flushes fail now and then, by a seeded choice: some
// before anything was done, and some of the commits after it was, as when the answer is lost.
type Faulty struct {
	datapath.Bridge
	random      *rand.Rand
	probability float64
}

// NewFaulty wraps b. Each call fails with the given probability, 0 to 1.
func NewFaulty(b datapath.Bridge, seed uint64, probability float64) *Faulty {
	return &Faulty{Bridge: b, random: rand.New(rand.NewPCG(seed, 0)), probability: probability}
}

func (f *Faulty) fails() bool { return f.random.Float64() < f.probability }

func injected(what string) error {
	return fmt.Errorf("%s: injected fault: %w", what, datapath.ErrUnavailable)
}

// Commit fails before or after the bundle took effect, or works.
func (f *Faulty) Commit(ctx context.Context, b openflow.Bundle) error {
	if f.fails() {
		return injected("commit bundle")
	}
	if err := f.Bridge.Commit(ctx, b); err != nil {
		return err
	}
	if f.fails() {
		return injected("confirm bundle")
	}
	return nil
}

// Flows fails or works.
func (f *Faulty) Flows(ctx context.Context) ([]openflow.FlowEntry, error) {
	if f.fails() {
		return nil, injected("list flows")
	}
	return f.Bridge.Flows(ctx)
}

// Conntrack is a tracker that fails too.
func (f *Faulty) Conntrack() datapath.Conntrack { return faultyConntrack{f.Bridge.Conntrack(), f} }

type faultyConntrack struct {
	datapath.Conntrack
	f *Faulty
}

// Flush fails or works.
func (c faultyConntrack) Flush(ctx context.Context, filter datapath.ConnFilter) error {
	if c.f.fails() {
		return injected("flush connections")
	}
	return c.Conntrack.Flush(ctx, filter)
}
