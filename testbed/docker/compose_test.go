package docker

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/model"
)

var update = flag.Bool("update", false, "rewrite compose.yaml")

func example(t *testing.T) model.Topology {
	t.Helper()
	topology, err := model.Load("../../examples/hpnn.yaml")
	require.NoError(t, err)
	return topology
}

func TestComposeFileFollowsTheTopology(t *testing.T) {
	fresh := Compose(example(t))
	if *update {
		require.NoError(t, os.WriteFile("compose.yaml", []byte(fresh), 0o644))
	}
	have, err := os.ReadFile("compose.yaml")
	require.NoError(t, err)
	require.Equal(t, fresh, string(have), "run go test ./testbed/docker -update")
}

func TestComposeAsksForNoMorePrivilegesThanNeeded(t *testing.T) {
	file := Compose(example(t))
	require.NotContains(t, file, "privileged: true")
	for _, service := range strings.Split(file, "container_name: ")[1:] {
		require.Contains(t, service, "cap_drop: [ALL]")
		require.Contains(t, service, "no-new-privileges:true")
		require.Contains(t, service, "network_mode: none")
		name, _, _ := strings.Cut(service, "\n")
		require.Equal(t, name == "hpnn-lb", strings.Contains(service, "NET_ADMIN"), name)
	}
}
