package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"hpnn/testbed/dummy"
)

// Campaign compares many cases.
type Campaign struct {
	Seed     uint64 // of the first case
	Cases    uint64 // how many
	Workers  int    // real switches at a time
	Captures Captures
	// Found is told of every mismatch, by one worker at a time.
	Found func(Finding)
	// Progress is told how many more cases have been compared, by one worker at a time.
	Progress func(n int)
}

// Finding is a case on which the switches differ.
type Finding struct {
	Seed uint64
	// Difference is what Compare said, or how the switch failed.
	Difference string
	// Unsteady: asked once more, alone, the real switch agreed. Its threads run by themselves: one that expires
	// connections may be late on a busy machine.
	Unsteady bool
	File     File
}

// batch is how many cases a real switch is given at once.
const batch = 250

// Run compares the cases and returns when all are done, the context is over or a switch cannot be had.
func (c Campaign) Run(ctx context.Context) error {
	seeds := make(chan uint64)
	errs := make([]error, c.Workers)
	var workers sync.WaitGroup
	var lock sync.Mutex
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i := range c.Workers {
		workers.Go(func() {
			if errs[i] = c.work(ctx, seeds, &lock); errs[i] != nil {
				cancel()
			}
		})
	}
	for from := uint64(0); from < c.Cases && ctx.Err() == nil; from += batch {
		select {
		case seeds <- c.Seed + from:
		case <-ctx.Done():
		}
	}
	close(seeds)
	workers.Wait()
	return cause(errs)
}

// cause is what made the workers stop: rather an error of one than the cancellation of the others.
func cause(errs []error) error {
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return errors.Join(errs...)
}

// work compares batches, of which it is given the first seed.
func (c Campaign) work(ctx context.Context, seeds <-chan uint64, lock *sync.Mutex) error {
	oracle, err := StartOracle(ctx)
	if err != nil {
		return err
	}
	defer oracle.Close()
	for first := range seeds {
		n := min(batch, c.Seed+c.Cases-first)
		findings, err := c.compare(ctx, oracle, first, n)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return err
		}
		lock.Lock()
		for _, f := range findings {
			c.Found(f)
		}
		c.Progress(int(n))
		lock.Unlock()
	}
	return nil
}

func (c Campaign) compare(ctx context.Context, oracle *Oracle, first, n uint64) (findings []Finding, err error) {
	cases := make([]Case, n)
	for i := range cases {
		cases[i] = Generate(first+uint64(i), c.Captures)
	}
	all, err := oracle.Differ(ctx, cases...)
	if err != nil {
		return nil, err
	}
	for i, f := range all {
		if f.Difference == "" {
			continue
		}
		again, err := oracle.Differ(ctx, f.File.Case)
		if err != nil {
			return nil, err
		}
		f.Seed, f.Unsteady = first+uint64(i), again[0].Difference == ""
		findings = append(findings, f)
	}
	return findings, nil
}

// Judge says how the simulator differs from the real switch's answer to a case; nothing if it does not. Where the real
// switch has ended with a failed assertion, they are alike if the simulator knows that it would.
func Judge(c Case, a Answer) string {
	got, err := Simulate(c)
	aborted := errors.Is(a.Err, dummy.ErrAborted)
	switch {
	case err != nil:
		return fmt.Sprintf("simulator refused: %v", err)
	case a.Err != nil && !aborted:
		return fmt.Sprintf("switch failed: %v", a.Err)
	case aborted && got.Aborts == 0:
		return fmt.Sprintf("abort of the real switch is unknown to the simulator: %v", a.Err)
	case !aborted && got.Aborts > 0:
		return "abort: the simulator says that the real switch ends, but it does not"
	case aborted || got.tooMuch() || a.Record.tooMuch():
		return ""
	}
	diff := Compare(a.Record, got)
	if diff != "" && (c.learnsTwice() || c.controllersBehindTags() || got.LeftBehind > 0) {
		return ""
	}
	return diff
}
