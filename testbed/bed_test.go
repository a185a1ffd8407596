package testbed_test

import (
	"context"
	"net/netip"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/control"
	"hpnn/internal/pipeline"
	"hpnn/model"
	"hpnn/simbackend"
	"hpnn/testbed"
)

// bed is a Bed under test and what it has said.
type bed struct {
	testbed.Bed
	t         *testing.T
	tapped    int
	heard     []testbed.Heard
	log       []string
	committed []control.View
}

func openSim(t *testing.T, example string) *bed {
	topology, err := model.Load(filepath.Join("..", "examples", example))
	require.NoError(t, err)
	b := &bed{t: t}
	b.Bed, err = testbed.OpenSim(topology, testbed.BedConfig{
		Tap:       func(datapath.Injection, []datapath.Output, simbackend.Verdict) { b.tapped++ },
		Heard:     func(h testbed.Heard) { b.heard = append(b.heard, h) },
		Log:       func(_ time.Duration, line string) { b.log = append(b.log, line) },
		Committed: func(v control.View) { b.committed = append(b.committed, v) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

func (b *bed) advance(d time.Duration) { b.Until(func() bool { return false }, d) }

func (b *bed) get(host, url string) testbed.Answer {
	r, err := b.Hosts().Get(host, url, testbed.GetOptions{Timeout: 2 * time.Second})
	require.NoError(b.t, err)
	require.True(b.t, b.Until(r.Done, 10*time.Second))
	return r.Answer()
}

func TestBedRunsASite(t *testing.T) {
	b := openSim(t, "hpnn.yaml")
	for _, f := range testbed.Features() {
		require.NoError(t, b.Can(f))
		same, err := testbed.ParseFeature(f.String())
		require.NoError(t, err)
		require.Equal(t, f, same)
	}
	b.advance(3 * time.Second)
	require.Equal(t, 3*time.Second, b.Now())
	require.NotEmpty(t, b.heard)
	require.NotZero(t, b.tapped)
	require.Equal(t, 4, b.committed[len(b.committed)-1].Pools[0].Live)
	answer := b.get("client", "http://192.168.5.21/")
	require.NoError(t, answer.Err)
	require.Equal(t, 200, answer.Status)
	ping, err := b.Hosts().Ping("client", netip.MustParseAddr("10.20.0.10"), testbed.PingOptions{})
	require.NoError(t, err)
	require.True(t, b.Until(ping.Done, time.Second))
	require.EqualValues(t, 63, ping.Answer().TTL)
}

func TestBedActsOnHosts(t *testing.T) {
	b := openSim(t, "hpnn.yaml")
	b.advance(3 * time.Second)
	web := pipeline.MemberName{Pool: "web", Member: "be1"}
	for _, act := range []struct{ harm, cure testbed.ActKind }{
		{testbed.Freeze, testbed.Thaw}, {testbed.Suspend, testbed.Thaw}, {testbed.Kill, testbed.Revive},
		{testbed.Cut, testbed.Mend}, {testbed.Sicken, testbed.Heal},
	} {
		require.NoError(t, b.Hosts().Do("be1", testbed.Act{Kind: act.harm}))
		b.advance(8 * time.Second)
		require.Equal(t, "down", b.Node().State().Health[web].State.String(), act)
		require.NoError(t, b.Hosts().Do("be1", testbed.Act{Kind: act.cure}))
		b.advance(6 * time.Second)
		require.Equal(t, "up", b.Node().State().Health[web].State.String(), act)
	}
	require.Error(t, b.Hosts().Do("nobody", testbed.Act{Kind: testbed.Cut}))
	require.Error(t, b.Hosts().Do("client", testbed.Act{Kind: testbed.Sicken}), "it has no web server")
}

func TestBedKillsAndStartsTheNode(t *testing.T) {
	b := openSim(t, "hpnn.yaml")
	b.advance(3 * time.Second)
	require.NoError(t, b.Node().SetAdmin(pipeline.MemberName{Pool: "web", Member: "be2"}, model.Drained))
	b.advance(100 * time.Millisecond)
	before := b.Node().State().View.Pools[0].Digest
	require.NoError(t, b.Node().Kill())
	require.Error(t, b.Node().Kill(), "it is dead")
	require.Error(t, b.Node().Reapply(), "it is dead")
	require.False(t, b.Node().State().Running)
	require.NoError(t, b.get("client", "http://192.168.5.21/").Err, "the switch goes on")
	require.NoError(t, b.Node().Start())
	b.advance(5 * time.Second)
	require.Equal(t, before, b.Node().State().View.Pools[0].Digest, "the drain is remembered")
}

// TestNobodyHearsOldProbes: results of a node's probes that arrive after its death do not reach the
// node that is started after it.
func TestNobodyHearsOldProbes(t *testing.T) {
	b := openSim(t, "hpnn.yaml")
	b.advance(3 * time.Second)
	require.NoError(t, b.Hosts().Do("be1", testbed.Act{Kind: testbed.Freeze}))
	// Two probes have failed, the third is under way.
	require.True(t, b.Until(func() bool {
		return b.Node().State().Health[pipeline.MemberName{Pool: "web", Member: "be1"}].Consecutive == 2
	}, 10*time.Second))
	b.advance(1200 * time.Millisecond)
	require.NoError(t, b.Node().Kill())
	require.NoError(t, b.Node().Start())
	b.log = nil
	b.advance(1500 * time.Millisecond)
	require.NotContains(t, b.log, "member web/be1 is down", "the count began anew")
	require.True(t, b.Node().State().View.Pools[0].Members[0].Up)
}

func TestBedRestartsTheSwitch(t *testing.T) {
	b := openSim(t, "hpnn.yaml")
	b.advance(3 * time.Second)
	ctx := context.Background()
	before, err := b.Switch().Bridge().Flows(ctx)
	require.NoError(t, err)
	require.NoError(t, b.get("client", "http://192.168.5.21/").Err)
	require.NoError(t, b.Switch().Restart())
	lost, err := b.Switch().Bridge().Flows(ctx)
	require.NoError(t, err)
	require.Empty(t, lost)
	conns, err := b.Switch().Bridge().Conntrack().Connections(ctx, datapath.ConnFilter{Zone: 1})
	require.NoError(t, err)
	require.Empty(t, conns)
	b.advance(10 * time.Millisecond)
	after, err := b.Switch().Bridge().Flows(ctx)
	require.NoError(t, err)
	require.Len(t, after, len(before))
}

// TestChangesByHandAreSeen: comparisons that can find nothing are left out, and those that can are not.
func TestChangesByHandAreSeen(t *testing.T) {
	b := openSim(t, "hpnn.yaml")
	b.advance(time.Hour)
	repairs := b.Node().State().View.Repairs
	bundle := openflow.Bundle{{Flow: openflow.Flow{Table: 0, Priority: 65000}}}
	require.NoError(t, b.Switch().Bridge().Commit(context.Background(), bundle))
	b.advance(1100 * time.Millisecond)
	require.Equal(t, repairs+1, b.Node().State().View.Repairs)
}

// TestMemberBehindARoute: a member that is no declared host is behind the next hop of the route to it.
func TestMemberBehindARoute(t *testing.T) {
	b := openSim(t, "two-pools.yaml")
	b.advance(12 * time.Second)
	for _, p := range b.Node().State().View.Pools {
		require.Equal(t, len(p.Members), p.Live, p.Name)
	}
	roles := map[string]testbed.Role{}
	for _, m := range b.Hosts().List() {
		roles[m.Name] = m.Role
	}
	require.Equal(t, testbed.Member, roles["remote"])
	require.Equal(t, testbed.Kernel, roles["probe-lan"])
	require.Equal(t, testbed.Client, roles["isp"])
}

func TestAnswersCarryErrnos(t *testing.T) {
	b := openSim(t, "hpnn.yaml")
	b.advance(3 * time.Second)
	require.NoError(t, b.Hosts().Do("be1", testbed.Act{Kind: testbed.Kill}))
	require.ErrorIs(t, b.get("cli2", "http://10.20.0.2:8080/").Err, syscall.ECONNREFUSED)
	require.ErrorIs(t, b.get("client", "http://192.168.5.21:81/").Err, syscall.ETIMEDOUT)
}
