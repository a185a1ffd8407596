package simhost_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/testbed/dummy"
	"hpnn/testbed/simhost"
)

// ovs is a real Open vSwitch as the switch of a World.
type ovs struct {
	t      *testing.T
	sw     *dummy.Switch
	warped time.Duration
}

// Receive lets a frame pass the switch at the world's time.
func (o *ovs) Receive(now time.Duration, port uint32, frame []byte, emit func(uint32, []byte)) {
	if ms := (now - o.warped).Truncate(time.Millisecond); ms > 0 {
		require.NoError(o.t, o.sw.Warp(o.t.Context(), ms))
		o.warped += ms
	}
	require.NoError(o.t, o.sw.Receive(o.t.Context(), fmt.Sprint("p", port), frame))
	outputs, err := o.sw.Outputs()
	require.NoError(o.t, err)
	for _, out := range outputs {
		var to uint32
		if _, err := fmt.Sscanf(out.Port, "p%d", &to); err == nil { // not the local port
			emit(to, out.Frame)
		}
	}
}

// TestRealSwitchBetweenHosts gives a rule set with translation to a real switch: the hosts
// must meet conntrack's idea of TCP, or no answer comes.
func TestRealSwitchBetweenHosts(t *testing.T) {
	sw := dummy.ForTest(t, dummy.Config{Ports: dummy.NumberedPorts(3)})
	require.NoError(t, sw.ReplaceFlows(t.Context(), `
priority=10,arp actions=NORMAL
priority=10,in_port=3,tcp,nw_dst=10.0.0.100,tp_dst=80 actions=mod_dl_dst:02:00:00:00:00:01,ct(commit,nat(dst=10.0.0.1:8080),table=1)
priority=10,in_port=1,tcp actions=ct(nat,table=2)
table=1,priority=10,ct_state=+trk-inv actions=output:1
table=2,priority=10,ct_state=+trk+est-inv actions=output:3
`))
	b := newBed(t, simhost.Config{Switch: &ovs{t: t, sw: sw}})
	b.known = []byte{100}
	server, client := b.host("server", 1), b.host("client", 3)
	_, err := server.ServeWeb(8080)
	require.NoError(t, err)
	for i := range 3 {
		r := client.Get("http://10.0.0.100/", simhost.GetOptions{}, nil)
		require.True(t, b.Until(r.Done, time.Minute), b.text())
		require.NoError(t, r.Result().Err)
		require.Contains(t, r.Result().String(), fmt.Sprintf("client=10.0.0.3:%d  served=10.0.0.1:8080  req=%d", 32768+i, i+1))
		b.Advance(time.Second)
	}
	server.Kill()
	r := client.Get("http://10.0.0.100/", simhost.GetOptions{}, nil)
	require.True(t, b.Until(r.Done, time.Minute), b.text())
	require.ErrorIs(t, r.Result().Err, simhost.ErrRefused)
	require.Empty(t, b.wrong)
}
