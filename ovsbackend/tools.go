package ovsbackend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"hpnn/internal/ovsproto"
)

// searchPath holds the places of system programs that an ordinary user's PATH lacks.
var searchPath = []string{"/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"}

// killGrace is how long the pipes of a tool that was killed may stay open.
const killGrace = time.Second

// findTool finds one of Open vSwitch's tools.
func findTool(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return filepath.Abs(path)
	}
	for _, dir := range searchPath {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("find %s: neither in PATH nor in %v: install openvswitch-switch (Debian, Ubuntu) or openvswitch", name, searchPath)
}

// ofctl runs ovs-ofctl on the bridge: command, bridge, args. It speaks OpenFlow 1.5, whose encoding loses
// nothing, and does not fetch the names of ports and tables, which takes longer than all the rest.
func (b *Bridge) ofctl(ctx context.Context, stdin, command string, args ...string) (string, error) {
	tried := "run ovs-ofctl " + command + " on " + b.config.managementSocket()
	ctx, release, err := b.link.hold(ctx)
	if err != nil {
		return "", unavailable(ctx, tried, err)
	}
	defer release()
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, b.tool, append([]string{"-O", "OpenFlow15", "--no-names", command, "unix:" + b.config.managementSocket()}, args...)...)
	cmd.Env = []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH"), "OVS_RUNDIR=" + b.config.RunDir}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	cmd.WaitDelay = killGrace
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && ctx.Err() == nil && errors.As(err, &exit) && exit.Exited() {
		err = &ovsproto.RefusedError{Command: "ovs-ofctl", Words: stderr.String()}
	}
	return stdout.String(), unavailable(ctx, tried, err)
}
