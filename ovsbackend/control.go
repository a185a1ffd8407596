package ovsbackend

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hpnn/internal/ovsproto"
)

// appctl calls a command of ovs-vswitchd's control socket (ovs-vswitchd(8), "Runtime management
// commands"). It dials anew each time, which costs little and survives restarts.
func (b *Bridge) appctl(ctx context.Context, command string, args ...string) (string, error) {
	path, err := b.controlSocket()
	if err != nil {
		return "", unavailable(ctx, "call "+command, err)
	}
	c, err := ovsproto.DialControl(ctx, path)
	if err != nil {
		return "", unavailable(ctx, "call "+command, err)
	}
	defer c.Close()
	text, err := c.Call(ctx, command, args...)
	return text, unavailable(ctx, "call ovs-vswitchd at "+path, err)
}

// controlSocket is the socket of the ovs-vswitchd that runs now: its name holds the process id.
func (b *Bridge) controlSocket() (string, error) {
	if b.config.Control != "" {
		return b.config.Control, nil
	}
	pidFile := filepath.Join(b.config.RunDir, "ovs-vswitchd.pid")
	if pid, err := os.ReadFile(pidFile); err == nil {
		return filepath.Join(b.config.RunDir, fmt.Sprintf("ovs-vswitchd.%s.ctl", strings.TrimSpace(string(pid)))), nil
	}
	sockets, err := filepath.Glob(filepath.Join(b.config.RunDir, "ovs-vswitchd.*.ctl"))
	switch {
	case err != nil:
		return "", err
	case len(sockets) != 1:
		return "", fmt.Errorf("no %s and %d sockets ovs-vswitchd.*.ctl: is ovs-vswitchd running there? if its socket is elsewhere, set Control", pidFile, len(sockets))
	}
	return sockets[0], nil
}
