package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"hpnn/datapath"
	"hpnn/internal/api"
	"hpnn/internal/ovsproto"
	"hpnn/model"
	"hpnn/testbed/realtime"
)

// Where things are in the node's container, as the supervisor has them.
const (
	runDir   = "/run/openvswitch"
	apiSock  = "/run/hpnn/hcd.sock"
	holdFile = "/run/hpnn/hold"
	logFile  = "/run/hpnn/hcd.log"
)

// actTimeout bounds what is done at once.
const actTimeout = 30 * time.Second

// poll is how often it is looked whether something has begun or ended.
const poll = 5 * time.Millisecond

// inNode is the way to a file in the node's container.
func (b *bed) inNode(path string) string { return fmt.Sprintf("/proc/%d/root%s", b.pid, path) }

// daemon is hcd in the node's container: the supervisor starts it again whenever it ends, unless it is held.
type daemon struct{ *bed }

var _ realtime.Daemon = daemon{}

// Daemon implements realtime.Site.
func (b *bed) Daemon() realtime.Daemon { return daemon{b} }

// Start implements realtime.Daemon.
func (d daemon) Start(ctx context.Context) error {
	err := os.Remove(d.inNode(holdFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = d.await(ctx, "the supervisor", func() bool { return os.Remove(d.inNode(holdFile)) == nil }) // it has not got so far yet
	}
	if err != nil {
		return err
	}
	return d.await(ctx, "hcd", func() bool { return answers(d.inNode(apiSock)) })
}

// Kill implements realtime.Daemon.
func (d daemon) Kill() error {
	if err := os.WriteFile(d.inNode(holdFile), nil, 0o644); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), actTimeout)
	defer cancel()
	return d.kill(ctx, "hcd")
}

// Reload implements realtime.Daemon.
func (d daemon) Reload(t model.Topology) error {
	if err := os.WriteFile(d.topologyFile(), t.YAML(), 0o644); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), actTimeout)
	defer cancel()
	_, err := engine(ctx, "kill", "--signal", "HUP", d.node)
	return err
}

// API implements realtime.Daemon.
func (d daemon) API() *api.Client { return api.NewClient(d.inNode(apiSock)) }

// Log implements realtime.Daemon.
func (d daemon) Log() string { return d.inNode(logFile) }

// RestartSwitch implements realtime.Site: ovs-vswitchd is killed, and the supervisor starts it again.
func (b *bed) RestartSwitch(ctx context.Context) error {
	before, err := b.switchSocket()
	if err != nil {
		return err
	}
	if err := b.kill(ctx, "ovs-vswitchd"); err != nil {
		return err
	}
	return b.await(ctx, "ovs-vswitchd", func() bool {
		path, err := b.switchSocket()
		return err == nil && path != before && answers(path)
	})
}

// switchSocket is the control socket of the ovs-vswitchd that runs, whose name has its pid in the container.
func (b *bed) switchSocket() (string, error) {
	pid, err := os.ReadFile(b.inNode(filepath.Join(runDir, "ovs-vswitchd.pid")))
	return b.inNode(fmt.Sprintf("%s/ovs-vswitchd.%s.ctl", runDir, strings.TrimSpace(string(pid)))), err
}

// kill ends a program of the node as kill -9 does, and returns when it is gone.
func (b *bed) kill(ctx context.Context, name string) error {
	pid, ok := b.child(name)
	if !ok {
		return fmt.Errorf("find process %s of %s: it does not run", name, b.node)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill %s of %s: %w", name, b.node, err)
	}
	return b.await(ctx, name, func() bool {
		still, ok := b.child(name)
		return !ok || still != pid
	})
}

// child finds a program that the node's supervisor has started.
func (b *bed) child(name string) (pid int, ok bool) {
	all, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well formed
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		var parent int
		begin, rest, found := strings.Cut(string(text), " ("+name+") ")
		if found && len(rest) > 2 {
			_, err = fmt.Sscan(rest[2:], &parent) // after the state; proc(5)
		}
		if !found || err != nil || parent != b.pid {
			continue
		}
		pid, err := strconv.Atoi(begin)
		return pid, err == nil
	}
	return 0, false
}

// await waits until something is so.
func (b *bed) await(ctx context.Context, who string, is func() bool) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("await %s of %s: %w", who, b.node, ctx.Err())
		}
	}
	return nil
}

// answers tells whether somebody listens on a Unix socket.
func answers(path string) bool {
	conn, err := net.Dial("unix", path)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

// counting is a switch whose counters can be brought up to date.
type counting struct {
	datapath.Bridge
	bed *bed
}

// Count implements testbed.Counter: the datapath adds up now and then what it has counted; a turn that began before the call
// is not enough.
func (c counting) Count(ctx context.Context) error {
	path, err := c.bed.switchSocket()
	if err != nil {
		return err
	}
	control, err := ovsproto.DialControl(ctx, path)
	if err != nil {
		return err
	}
	defer control.Close()
	for range 2 {
		if _, err := control.Call(ctx, "revalidator/wait"); err != nil {
			return fmt.Errorf("bring counters up to date: %w", err)
		}
	}
	return nil
}
