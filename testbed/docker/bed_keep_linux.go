package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"hpnn/testbed"
)

var _ testbed.Keeper = (*bed)(nil)

// Keep writes what helps to find out why a story failed to a directory, which it makes: dumps of the switch, the daemon's
// word, and all logs. What cannot be had is an error, but the rest is there.
func (b *bed) Keep(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	node := []string{"exec", "--env", "OVS_RUNDIR=" + runDir, b.node}
	calls := map[string][]string{
		"ports.txt":     append(node, "ovs-ofctl", "-O", "OpenFlow15", "dump-ports-desc", b.topology.Node.Bridge),
		"counters.txt":  append(node, "ovs-ofctl", "-O", "OpenFlow15", "dump-ports", b.topology.Node.Bridge),
		"flows.txt":     append(node, "ovs-ofctl", "-O", "OpenFlow15", "--no-names", "dump-flows", b.topology.Node.Bridge),
		"datapath.txt":  append(node, "ovs-appctl", "dpctl/dump-flows", "-m", "netdev@ovs-netdev"),
		"conntrack.txt": append(node, "ovs-appctl", "dpctl/dump-conntrack", "-m", "netdev@ovs-netdev"),
		"database.txt":  append(node, "ovs-vsctl", "--timeout=3", "show"),
		"health.txt":    append(node, "lbctl", "health"),
		"metrics.txt":   append(node, "lbctl", "metrics"),
	}
	for _, name := range b.containers() {
		calls[name+".log"] = []string{"logs", name}
	}
	var err error
	for name, call := range calls {
		text, e := engineAll(ctx, call...)
		err = errors.Join(err, e, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	for name, path := range map[string]string{"hcd.log": b.inNode(logFile), "topology.yaml": b.topologyFile()} {
		text, e := os.ReadFile(path)
		err = errors.Join(err, e, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	return err
}
