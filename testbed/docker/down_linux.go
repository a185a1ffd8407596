package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/vishvananda/netlink"
)

const projectLabel = "com.docker.compose.project=hpnn"

// Down runs a command that takes the containers away, removes the shim and what broken runs of stories have left, and says what is left then: containers, networks,
// namespaces, interfaces.
func Down(ctx context.Context, command []string) error {
	spaces, err := inUse(ctx)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("take the containers away: %s: %w", strings.Join(command, " "), err)
	}
	if err := errors.Join(SweepBeds(ctx), RemoveShim()); err != nil {
		return err
	}
	left, err := leftovers(ctx, spaces)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("left: %s", strings.Join(left, ", "))
	}
	return nil
}

// inUse are the network namespaces of the stand's running containers, by their inode.
func inUse(ctx context.Context) (map[uint64]string, error) {
	ids, err := engine(ctx, "ps", "-q", "--filter", "label="+standLabel)
	if err != nil || ids == "" {
		return nil, err
	}
	out, err := engine(ctx, append([]string{"inspect", "--format", "{{.Name}} {{.State.Pid}}"}, strings.Fields(ids)...)...)
	if err != nil {
		return nil, err
	}
	all, err := readPIDs(out)
	spaces := map[uint64]string{}
	for name, pid := range all {
		if inode, ok := inode(fmt.Sprintf("/proc/%d/ns/net", pid)); ok {
			spaces[inode] = name
		}
	}
	return spaces, err
}

// inode is that of a namespace, by a path that leads to it.
func inode(path string) (uint64, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	return info.Sys().(*syscall.Stat_t).Ino, true
}

// leftovers names all that should be gone. Namespaces live as long as a process or a mount holds them.
func leftovers(ctx context.Context, spaces map[uint64]string) (left []string, err error) {
	for kind, args := range map[string][]string{
		"container": {"ps", "-a", "--filter", "label=" + standLabel, "--format", "{{.Names}}"},
		"network":   {"network", "ls", "--filter", "label=" + projectLabel, "--format", "{{.Name}}"},
	} {
		out, err := engine(ctx, args...)
		if err != nil {
			return nil, err
		}
		for _, name := range strings.Fields(out) {
			left = append(left, kind+" "+name)
		}
	}
	for _, pattern := range []string{"/proc/[0-9]*/ns/net", "/run/docker/netns/*", "/run/netns/*"} {
		paths, _ := filepath.Glob(pattern) // it is well formed
		for _, path := range paths {
			if inode, ok := inode(path); ok && spaces[inode] != "" {
				left = append(left, fmt.Sprintf("the namespace of %s, held by %s", spaces[inode], path))
			}
		}
	}
	if _, err := netlink.LinkByName(shim); err == nil {
		left = append(left, "interface "+shim)
	}
	return left, nil
}
