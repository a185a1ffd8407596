package netns

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Keep writes what helps to find out why something failed to a directory, which it makes: the last frames of each port,
// dumps of the switch, the daemon's word, and all logs. What cannot be had is an error, but the rest is there.
func (b *Bed) Keep(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	bridge := b.config.Topology.Node.Bridge
	err := b.writeCaptures(dir)
	for name, call := range map[string][]string{
		"flows.txt":     {"ovs-ofctl", "-O", "OpenFlow15", "--no-names", "dump-flows", bridge},
		"ports.txt":     {"ovs-ofctl", "-O", "OpenFlow15", "dump-ports-desc", bridge},
		"counters.txt":  {"ovs-ofctl", "-O", "OpenFlow15", "dump-ports", bridge},
		"datapath.txt":  {"ovs-appctl", "dpctl/dump-flows", "-m", "netdev@ovs-netdev"},
		"conntrack.txt": {"ovs-appctl", "dpctl/dump-conntrack", "-m", "netdev@ovs-netdev"},
		"coverage.txt":  {"ovs-appctl", "coverage/show"},
		"database.txt":  {"ovs-vsctl", "--db=" + b.databaseAddress(), "--timeout=3", "show"},
	} {
		text, e := b.Tool(ctx, call[0], call[1:]...)
		err = errors.Join(err, e, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, path := range []string{"/status", "/status.txt", "/metrics"} {
		body, e := b.Call(ctx, "GET", path)
		err = errors.Join(err, e, os.WriteFile(filepath.Join(dir, "hcd-"+filepath.Base(path)), body, 0o644))
	}
	return errors.Join(err, b.copyFiles(dir))
}

// copyFiles copies the logs and the topology.
func (b *Bed) copyFiles(dir string) (err error) {
	logs, _ := filepath.Glob(b.path("*.log")) // the pattern is well-formed
	for _, path := range append(logs, b.TopologyFile()) {
		data, e := os.ReadFile(path)
		err = errors.Join(err, e)
		if e == nil {
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, filepath.Base(path)), data, 0o644))
		}
	}
	return err
}
