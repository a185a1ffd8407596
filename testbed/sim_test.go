package testbed_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/internal/pipeline"
	"hpnn/model"
	"hpnn/testbed"
	"hpnn/testbed/simhost"
)

func newSim(t *testing.T, example string, c testbed.SimConfig) *testbed.Sim {
	topology, err := model.Load(filepath.Join("..", "examples", example))
	require.NoError(t, err)
	s, err := testbed.NewSim(topology, c)
	require.NoError(t, err)
	return s
}

// get requests a URL and returns the result when it is there.
func get(s *testbed.Sim, host, url string) (r simhost.Result) {
	request := s.World.Host(host).Get(url, simhost.GetOptions{Timeout: 3 * time.Second}, nil)
	s.Until(request.Done, 10*time.Second)
	return request.Result()
}

func TestSiteServes(t *testing.T) {
	s := newSim(t, "hpnn.yaml", testbed.SimConfig{})
	s.Advance(3 * time.Second)
	served := map[string]int{}
	for range 40 {
		r := get(s, "client", "http://192.168.5.21/")
		require.NoError(t, r.Err)
		require.Equal(t, 200, r.Status)
		require.Contains(t, string(r.Body), "client=192.168.5.13:")
		served[r.Backend]++
	}
	require.Len(t, served, 4, "%v", served)
	r := get(s, "cli2", "http://10.20.0.100/")
	require.NoError(t, r.Err)
	require.Contains(t, string(r.Body), "client=10.20.0.10:")
	r = get(s, "be1", "http://10.20.0.100/")
	require.NoError(t, r.Err)
}

func TestTwoRunsAreAlike(t *testing.T) {
	run := func() string {
		var log strings.Builder
		s := newSim(t, "hpnn.yaml", testbed.SimConfig{
			Log:    func(at time.Time, line string) { fmt.Fprintln(&log, at.Format(time.StampMicro), line) },
			Frames: func(e simhost.Entry) { fmt.Fprintln(&log, e) },
		})
		s.Advance(3 * time.Second)
		s.World.Host("be2").Pause(simhost.Processes)
		for range 10 {
			get(s, "client", "http://192.168.5.21/")
		}
		s.Advance(10 * time.Second)
		return log.String()
	}
	require.Equal(t, run(), run())
}

func TestFrozenMemberLeavesThePool(t *testing.T) {
	s := newSim(t, "hpnn.yaml", testbed.SimConfig{})
	s.Advance(3 * time.Second)
	s.World.Host("be1").Pause(simhost.Processes)
	began := s.World.Now()
	require.True(t, s.Until(func() bool { return s.Core.View().Pools[0].Live == 3 }, time.Minute))
	require.Less(t, s.World.Now()-began, 8*time.Second)
	for range 20 {
		r := get(s, "client", "http://192.168.5.21/")
		require.NoError(t, r.Err)
		require.NotEqual(t, "be1", r.Backend)
	}
}

func TestDrainKeepsASlowSession(t *testing.T) {
	s := newSim(t, "hpnn.yaml", testbed.SimConfig{})
	s.Advance(3 * time.Second)
	slow := s.World.Host("client").Get("http://192.168.5.21/slow?seconds=8", simhost.GetOptions{Timeout: time.Minute}, nil)
	s.Advance(2 * time.Second)
	for _, m := range []string{"be1", "be2", "be3"} {
		require.NoError(t, s.SetAdmin(pipeline.MemberName{Pool: "web", Member: m}, model.Drained))
	}
	s.Until(slow.Done, time.Minute)
	require.NoError(t, slow.Result().Err)
	require.Equal(t, 200, slow.Result().Status)
}
