package ovsbackend

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
)

// held is a call over a link: how long it waited, and how it ended.
func held(ctx context.Context, l *link, work time.Duration) (waited time.Duration, err error) {
	start := time.Now()
	bound, release, err := l.hold(ctx)
	waited = time.Since(start)
	if err != nil {
		return waited, err
	}
	defer release()
	select {
	case <-time.After(work):
		return waited, nil
	case <-bound.Done():
		return waited, context.Cause(bound)
	}
}

func TestCallsOverALink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLink()
		l.up(nil)
		_, err := held(t.Context(), l, time.Hour)
		require.NoError(t, err)

		l.down()
		time.AfterFunc(linkGrace/2, func() { l.up(nil) })
		waited, err := held(t.Context(), l, time.Hour)
		require.NoError(t, err, "a switch that comes back in time")
		require.Equal(t, linkGrace/2, waited)

		time.AfterFunc(time.Minute, l.down)
		start := time.Now()
		_, err = held(t.Context(), l, time.Hour)
		require.ErrorIs(t, err, errLinkDown, "a call that was running")
		require.Equal(t, time.Minute+linkGrace, time.Since(start))
		waited, err = held(t.Context(), l, 0)
		require.ErrorIs(t, err, errLinkDown, "a call that begins when the switch is gone")
		require.Zero(t, waited)

		l.up(nil)
		_, err = held(t.Context(), l, time.Hour)
		require.NoError(t, err)
		l.down()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err = held(ctx, l, 0)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.Sleep(2 * linkGrace) // the last burial
	})
}

func TestSuspendedLinkIsNotMadeAnew(t *testing.T) {
	l := newLink()
	require.NoError(t, l.mayConnect())
	l.suspend()
	require.ErrorIs(t, l.mayConnect(), errNoDatabase)
	l.resume()
	require.NoError(t, l.mayConnect())
}

// A reader that sleeps loses packets and then ports, but neither a beginning nor an end.
func TestEventsOfASlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEvents()
		const rounds = 2000
		for range rounds {
			for _, kind := range []datapath.EventKind{datapath.Connected, datapath.PacketIn, datapath.PortStatus, datapath.Disconnected} {
				e.put(datapath.Event{Kind: kind})
			}
		}
		synctest.Wait()
		count := map[datapath.EventKind]int{}
		go func() {
			time.Sleep(time.Second)
			e.close()
		}()
		last := datapath.Disconnected
		for event := range e.out {
			count[event.Kind]++
			if event.Kind == datapath.Connected || event.Kind == datapath.Disconnected {
				require.NotEqual(t, last, event.Kind, "they take turns")
				last = event.Kind
			}
		}
		require.Equal(t, rounds, count[datapath.Connected])
		require.Equal(t, rounds, count[datapath.Disconnected])
		require.Less(t, count[datapath.PacketIn], count[datapath.PortStatus])
		require.Positive(t, count[datapath.PacketIn])
		require.Less(t, count[datapath.PortStatus], rounds)
	})
}
