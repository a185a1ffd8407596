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
	err := errors.Join(b.writeCaptures(dir), b.forwarder.dump(ctx, dir))
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
