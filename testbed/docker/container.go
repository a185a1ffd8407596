package docker

import (
	"fmt"
	"strings"
)

// container is what the engine is told of a container. No more than it needs: there is no network, and no capability that
// is not named.
type container struct {
	name, image  string
	is           string // the value of its label: node or machine
	capabilities []string
	devices      []string
	volumes      []string
	command      []string
	stopSignal   string // SIGTERM if empty
	stopGrace    string
}

// The images, as make images calls them.
const (
	nodeImage    = "hpnn-node"
	backendImage = "hpnn-backend"
	clientImage  = "hpnn-client"
)

const (
	standLabel      = "hpnn.stand" // of all containers of the stand
	noNewPrivileges = "no-new-privileges:true"
)

// nodeContainer is the node's, for a topology in a file of the host. The supervisor takes more arguments.
func nodeContainer(name, topology, datapath string, more ...string) container {
	return container{
		name: name, image: nodeImage, is: "node", capabilities: []string{"NET_ADMIN", "NET_RAW"}, devices: []string{"/dev/net/tun"},
		volumes:   []string{topology + ":/etc/hpnn/topology.yaml:ro"},
		command:   append([]string{"--topology", "/etc/hpnn/topology.yaml", "--datapath", datapath}, more...),
		stopGrace: "10s",
	}
}

// machineContainer is a machine's.
func machineContainer(m Machine) container {
	c := container{name: m.Container, is: "machine"}
	if m.Role != Backend {
		c.image, c.capabilities, c.command, c.stopSignal = clientImage, []string{"NET_RAW"}, []string{"sleep", "infinity"}, "SIGKILL"
		return c
	}
	var listen []string
	for _, port := range m.Serves {
		listen = append(listen, fmt.Sprintf(":%d", port))
	}
	c.image, c.command = backendImage, []string{"-name", m.Name, "-listen", strings.Join(listen, ",")}
	if m.Healthy != nil {
		c.command = append(c.command, "-healthy", strings.Join(m.Healthy, ","))
	}
	return c
}

// run are the arguments with which docker starts the container, under a label. They say what Compose says.
func (c container) run(label string) []string {
	args := []string{"run", "--detach", "--name", c.name, "--hostname", c.name, "--label", label, "--network", "none",
		"--cap-drop", "ALL", "--security-opt", noNewPrivileges}
	for _, of := range []struct {
		flag string
		list []string
	}{{"--cap-add", c.capabilities}, {"--device", c.devices}, {"--volume", c.volumes}} {
		for _, value := range of.list {
			args = append(args, of.flag, value)
		}
	}
	if c.stopSignal != "" {
		args = append(args, "--stop-signal", c.stopSignal)
	}
	return append(append(args, c.image), c.command...)
}
