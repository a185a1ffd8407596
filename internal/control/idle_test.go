package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/internal/health"
)

func TestUntouchedPutsOffOnlyWhatFindsNothing(t *testing.T) {
	d := newDesk(t, load(t, "minimal.yaml"))
	require.True(t, d.Pending(), "nothing has been rendered yet")
	d.Untouched(d.now)
	require.Equal(t, d.now, d.Due(), "the first step is due all the same")
	d.allUp()
	require.False(t, d.Pending())

	d.now = d.Due()
	d.Untouched(d.now.Add(-time.Millisecond))
	require.Equal(t, d.now, d.Due(), "it is not due yet")
	d.Untouched(d.now)
	require.Equal(t, d.now.Add(time.Second), d.Due())

	d.verdict("web1", health.Down)
	require.True(t, d.Pending())
	d.now = d.Due()
	d.Untouched(d.now)
	require.Equal(t, d.now, d.Due(), "a change is due")
	require.NotEmpty(t, d.Step(t.Context(), d.now).Bundle)
}
