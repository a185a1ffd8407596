package control_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath/openflow"
	"hpnn/internal/control"
	"hpnn/internal/health"
	"hpnn/internal/pipeline"
	"hpnn/model"
)

func TestLoopInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		topology := load(t, "hpnn.yaml")
		sw := newSwitch(t, topology)
		outcomes := make(chan control.Outcome, 100)
		loop := control.NewLoop(control.New(sw, topology, control.Settings{}, time.Now()), control.Hooks{
			Outcome: func(o control.Outcome, _ time.Duration) { outcomes <- o },
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- loop.Run(ctx) }()
		synctest.Wait()
		require.Len(t, outcomes, 1, "the switch is filled at once")

		for _, m := range topology.Pools[0].Members {
			require.NoError(t, loop.Do(ctx, func(c *control.Core, now time.Time) {
				c.Verdict(pipeline.MemberName{Pool: "web", Member: m.Name}, health.Up, now)
			}))
		}
		synctest.Wait()
		require.Len(t, outcomes, 1, "changes are gathered")
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		require.Len(t, outcomes, 2)
		view, err := loop.View(ctx)
		require.NoError(t, err)
		require.True(t, view.InSync)
		require.Equal(t, 4, view.Pools[0].Live)
		require.Equal(t, 256, view.Pools[0].Members[0].Slots)

		require.NoError(t, sw.Commit(ctx, openflow.Bundle{{Command: openflow.Delete, Flow: openflow.Flow{Table: openflow.CurrentTable}}}))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Len(t, outcomes, 3)
		<-outcomes
		<-outcomes
		require.True(t, (<-outcomes).Repaired(), "a loss is noticed within two seconds")

		cancel()
		require.NoError(t, <-ended)
		require.ErrorIs(t, loop.Do(t.Context(), func(*control.Core, time.Time) {}), control.ErrStopped)
		require.NoError(t, sw.Close())
	})
}

func TestViewTellsDrainAndFailure(t *testing.T) {
	d := newDesk(t, load(t, "hpnn.yaml"))
	d.allUp()
	require.NoError(t, d.SetAdmin(pipeline.MemberName{Pool: "web", Member: "be2"}, model.Drained, d.now))
	d.settle()
	v := d.View()
	be2 := v.Pools[0].Members[1]
	require.Equal(t, control.MemberView{Name: "be2", Key: "10.30.0.2:8080", Weight: 1, Up: true, Admin: "drained"}, be2)
	require.Equal(t, 3, v.Pools[0].Live)
	require.Equal(t, 256, v.Pools[0].Moved)
	require.NoError(t, d.sw.Close())
	d.Reapply(d.now)
	require.Error(t, d.Step(t.Context(), d.now).Err)
	require.Contains(t, d.View().Failure, "closed")
}
