package testbed

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend"
)

// broken makes a breaker before a switch, and a bundle for it.
func broken(t *testing.T) (*breaker, openflow.Bundle) {
	sw, err := simbackend.New(simbackend.Config{})
	require.NoError(t, err)
	return newBreaker(sw, 1), openflow.Bundle{{Flow: openflow.Flow{Priority: 1}}}
}

func (b *breaker) holds(t *testing.T) int {
	flows, err := b.Bridge.Flows(context.Background())
	require.NoError(t, err)
	return len(flows)
}

func TestBreakerFailsTheNextCalls(t *testing.T) {
	b, bundle := broken(t)
	require.Zero(t, b.set(Outage{Calls: Commits, Next: 2}))
	require.True(t, b.active())
	for range 2 {
		err := b.Commit(context.Background(), bundle)
		require.ErrorIs(t, err, datapath.ErrUnavailable)
		require.Zero(t, b.holds(t), "nothing was done")
	}
	require.False(t, b.active())
	require.NoError(t, b.Commit(context.Background(), bundle))
	require.Equal(t, 1, b.holds(t))
	require.Equal(t, 2, b.set(Outage{}))
}

func TestBreakerFailsLate(t *testing.T) {
	b, bundle := broken(t)
	b.set(Outage{Calls: AllCalls, Next: 1, Late: true})
	require.ErrorIs(t, b.Commit(context.Background(), bundle), datapath.ErrUnavailable)
	require.Equal(t, 1, b.holds(t), "it was done all the same")
}

func TestBreakerLetsCallsPass(t *testing.T) {
	b, bundle := broken(t)
	b.set(Outage{Calls: Dumps | Flushes, Skip: 1, Next: 2})
	require.NoError(t, b.Commit(context.Background(), bundle), "another kind of call")
	_, err := b.Flows(context.Background())
	require.NoError(t, err, "the one that passes")
	_, err = b.Flows(context.Background())
	require.Error(t, err)
	require.Error(t, b.Conntrack().Flush(context.Background(), datapath.ConnFilter{}))
	require.NoError(t, b.Conntrack().Flush(context.Background(), datapath.ConnFilter{}))
}

func TestBreakerFailsByChance(t *testing.T) {
	run := func() (failed []bool) {
		b, _ := broken(t)
		b.set(Outage{Calls: Dumps, Probability: 0.5})
		for range 200 {
			_, err := b.Flows(context.Background())
			failed = append(failed, err != nil)
		}
		return failed
	}
	first := run()
	require.Equal(t, first, run(), "by the same chance each time")
	n := 0
	for _, f := range first {
		if f {
			n++
		}
	}
	require.InDelta(t, 100, n, 30)
}

func TestBreakerPassesErrorsOfTheSwitch(t *testing.T) {
	b, bundle := broken(t)
	require.NoError(t, b.Bridge.Close())
	b.set(Outage{Calls: Commits, Next: 1, Late: true})
	err := b.Commit(context.Background(), bundle)
	require.True(t, errors.Is(err, datapath.ErrClosed), err)
}
