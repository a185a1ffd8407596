package control_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/health"
)

// A switch may act by cached rules just after a change: a connection that begins then leads to the member that is gone.
func TestConnectionsOfCachedRulesAreForgottenToo(t *testing.T) {
	d := newDesk(t, load(t, "hpnn.yaml"))
	d.allUp()
	old := d.Program()
	port := uint16(1000)
	for d.ask(port) != 10 {
		port++
	}
	d.verdict("be1", health.Down)
	d.step()
	d.put(old)
	require.EqualValues(t, 10, d.ask(port))
	d.put(d.Program())
	require.EqualValues(t, 10, d.ask(port), "it is tracked, and its SYNs go there")
	d.settle()
	require.NotEqualValues(t, 10, d.ask(port))
}

func TestMemberThatIsBackKeepsItsNewConnections(t *testing.T) {
	d := newDesk(t, load(t, "hpnn.yaml"))
	d.allUp()
	d.verdict("be1", health.Down)
	d.step()
	d.verdict("be1", health.Up)
	d.step()
	port := uint16(1000)
	for d.ask(port) != 10 {
		port++
	}
	before := d.connections()
	require.NotEmpty(t, before)
	d.settle()
	require.Len(t, d.connections(), len(before))
}

// step does the next step, and no other.
func (d *desk) step() {
	d.t.Helper()
	d.now = d.Due()
	require.NoError(d.t, d.Step(d.t.Context(), d.now).Err)
}

// put makes the switch hold a program.
func (d *desk) put(p openflow.Program) {
	d.t.Helper()
	require.NoError(d.t, d.sw.Commit(d.t.Context(), openflow.Diff(flowsOf(d.flows()), p)))
}

func (d *desk) connections() []datapath.Conn {
	d.t.Helper()
	all, err := d.sw.Conntrack().Connections(d.t.Context(), datapath.ConnFilter{})
	require.NoError(d.t, err)
	return all
}
