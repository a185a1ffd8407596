package control_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/control"
	"hpnn/internal/health"
	"hpnn/simbackend"
)

// countingBridge counts how often the flows are read.
type countingBridge struct {
	*simbackend.Switch
	reads int
}

// Flows counts.
func (b *countingBridge) Flows(ctx context.Context) ([]openflow.FlowEntry, error) {
	b.reads++
	return b.Switch.Flows(ctx)
}

// settledDesk is a desk whose members are all up, and the bridge it works on.
func settledDesk(t *testing.T) (*desk, *countingBridge) {
	topology := load(t, "hpnn.yaml")
	b := &countingBridge{Switch: newSwitch(t, topology)}
	d := &desk{Core: control.New(b, topology, control.Settings{}, start), t: t, sw: b.Switch, topo: topology, now: start}
	d.allUp()
	return d, b
}

// next takes the next step, which must succeed.
func (d *desk) next() control.Outcome {
	d.t.Helper()
	if d.Due().After(d.now) {
		d.now = d.Due()
	}
	out := d.Step(d.t.Context(), d.now)
	require.NoError(d.t, out.Err)
	return out
}

func TestVerdictGoesOutWithoutReadingTheSwitch(t *testing.T) {
	d, b := settledDesk(t)
	reads := b.reads
	d.verdict("be1", health.Down)
	out := d.next()
	require.Len(t, out.Bundle, 256)
	require.True(t, out.Changed)
	require.Equal(t, reads, b.reads)
	d.holds() // which reads the switch itself
	reads = b.reads
	require.Empty(t, d.next().Bundle, "the comparison finds nothing")
	require.Equal(t, reads+1, b.reads)
}

// What was damaged meanwhile is repaired by the next comparison, which comes within two seconds of the last.
func TestDamageIsFoundAfterAQuickStep(t *testing.T) {
	d, _ := settledDesk(t)
	compared := d.now
	require.NoError(t, d.sw.Commit(t.Context(), parseBundle(t, "flow delete table=11\nflow delete_strict table=20,priority=0")))
	d.verdict("be1", health.Down)
	require.True(t, d.next().Changed)
	require.Less(t, d.Due().Sub(compared), 2*time.Second)
	require.True(t, d.next().Repaired())
	d.holds()
}

// However often members come and go, the switch is compared in time.
func TestFlappingDoesNotKeepFromComparing(t *testing.T) {
	d, b := settledDesk(t)
	b.reads = 0
	states := []health.State{health.Down, health.Up}
	end := d.now.Add(4 * time.Second)
	for i := 0; d.now.Before(end); i++ {
		d.verdict("be1", states[i%2])
		d.next()
	}
	require.GreaterOrEqual(t, b.reads, 2)
	d.settle()
	d.holds()
}

// What may have changed the switch makes the next step read it.
func TestDoubtMakesTheNextStepCompare(t *testing.T) {
	for name, doubt := range map[string]func(*desk){
		"a new connection":  func(d *desk) { d.Event(datapath.Event{Kind: datapath.Connected}, d.now) },
		"the user's wish":   func(d *desk) { d.Reapply(d.now) },
		"another topology":  func(d *desk) { d.SetTopology(load(d.t, "hpnn.yaml"), d.now) },
		"time that is over": func(d *desk) { d.now = d.now.Add(time.Minute); d.next() },
	} {
		d, b := settledDesk(t)
		reads := b.reads
		doubt(d)
		d.verdict("be1", health.Down)
		d.next()
		require.Greater(t, b.reads, reads, name)
		d.settle()
		d.holds()
	}
}
