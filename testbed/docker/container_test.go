package docker

import (
	"slices"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"hpnn/model"
)

// Compose and run are told of a container by the same words, in another form.
func TestRunSaysWhatComposeSays(t *testing.T) {
	topology := example(t)
	all := map[string]container{topology.Node.Name: nodeContainer(topology.Node.Name, "${TOPOLOGY:-../../examples/hpnn.yaml}", "${DATAPATH:-netdev}")}
	for _, m := range Site(topology) {
		all[m.Container] = machineContainer(m)
	}
	var file struct {
		Services map[string]struct {
			Image       string   `yaml:"image"`
			Name        string   `yaml:"container_name"`
			Hostname    string   `yaml:"hostname"`
			Labels      []string `yaml:"labels"`
			Network     string   `yaml:"network_mode"`
			Drop        []string `yaml:"cap_drop"`
			Add         []string `yaml:"cap_add"`
			Security    []string `yaml:"security_opt"`
			Devices     []string `yaml:"devices"`
			Volumes     []string `yaml:"volumes"`
			Command     []string `yaml:"command"`
			StopSignal  string   `yaml:"stop_signal"`
			GracePeriod string   `yaml:"stop_grace_period"` // of no use to who removes by force
		} `yaml:"services"`
	}
	require.NoError(t, yaml.UnmarshalWithOptions([]byte(Compose(topology)), &file, yaml.Strict()))
	require.Len(t, file.Services, len(all))
	for _, s := range file.Services {
		want := []string{"run", "--detach", "--name", s.Name, "--hostname", s.Hostname, "--label", s.Labels[0], "--network", s.Network}
		for _, of := range []struct {
			flag string
			list []string
		}{
			{"--cap-drop", s.Drop}, {"--security-opt", s.Security}, {"--cap-add", s.Add}, {"--device", s.Devices}, {"--volume", s.Volumes},
		} {
			for _, value := range of.list {
				want = append(want, of.flag, value)
			}
		}
		if s.StopSignal != "" {
			want = append(want, "--stop-signal", s.StopSignal)
		}
		want = append(append(want, s.Image), s.Command...)
		require.Equal(t, want, all[s.Name].run(s.Labels[0]))
	}
}

func TestCrowdedTopologiesSayWhy(t *testing.T) {
	require.Empty(t, crowded(example(t)))
	two, err := model.Load("../../examples/two-pools.yaml")
	require.NoError(t, err)
	require.Equal(t, []string{"isp shares port eth0 with what is behind the uplink", "member remote is behind a host, and only hosts are containers"}, crowded(two))
}

func TestBackendsServeAllTheirPorts(t *testing.T) {
	two, err := model.Load("../../examples/two-pools.yaml")
	require.NoError(t, err)
	all := Site(two)
	large := all[slices.IndexFunc(all, func(m Machine) bool { return m.Name == "large" })]
	require.Equal(t, []string{"-name", "large", "-listen", ":8080,:5222", "-healthy", "/ready"}, machineContainer(large).command)
}
