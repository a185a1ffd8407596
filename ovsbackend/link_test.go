package ovsbackend

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
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
