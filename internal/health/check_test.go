package health

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/model"
)

func prototype(t *testing.T) model.Topology {
	t.Helper()
	topology, err := model.Load("../../examples/hpnn.yaml")
	require.NoError(t, err)
	return topology
}

// Probes leave from .253 of the member's own segment, as the prototype's do.
func TestChecksOfThePrototype(t *testing.T) {
	var lines []string
	for _, c := range Checks(prototype(t)) {
		lines = append(lines, fmt.Sprintf("%s %s from %s, %s every %s within %s, %s",
			c.ID, c.Name, c.Target.Source, c.Monitor.Type, c.Monitor.Interval, c.Target.Timeout, c.Admin))
	}
	require.Equal(t, strings.TrimSpace(`
web/10.20.0.2:8080 be1 from 10.20.0.253, http every 2s within 1s, enabled
web/10.30.0.2:8080 be2 from 10.30.0.253, http every 2s within 1s, enabled
web/10.20.0.3:8080 be3 from 10.20.0.253, http every 2s within 1s, enabled
web/10.30.0.3:8080 be4 from 10.30.0.253, http every 2s within 1s, enabled
`), strings.Join(lines, "\n"))
}

// A member behind a route is probed from the segment of the next hop.
func TestChecksOfAMemberBehindARoute(t *testing.T) {
	topology := prototype(t)
	behind := topology.Pools[0].Members[0]
	topology.Routes = append(topology.Routes, model.Route{Prefix: netip.MustParsePrefix("10.99.0.0/16"), Via: behind.Address})
	behind.Address = netip.MustParseAddr("10.99.0.7")
	topology.Pools[0].Members = []model.Member{behind}
	require.Equal(t, netip.MustParseAddr("10.20.0.253"), Checks(topology)[0].Target.Source)

	for i := range topology.Segments { // not valid with probes; the system chooses
		topology.Segments[i].Probe = nil
	}
	require.False(t, Checks(topology)[0].Target.Source.IsValid())
}

// The pure half has no clock: the files that may look at one are named here.
func TestOnlyTheRunnerAndTheProbersHaveAClock(t *testing.T) {
	clocked := []string{"runner.go", "prober.go", "icmp.go"}
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f.Name())
		if err != nil || !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		if strings.Contains(string(text), "time.Now(") || strings.Contains(string(text), "time.Since(") {
			require.Contains(t, clocked, f.Name(), "time is an argument here")
		}
		require.NotContains(t, string(text), "time.Sleep(", f.Name())
	}
}
