package netns

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// poll is how often it is looked whether something has begun.
const poll = 5 * time.Millisecond

// countEvery is how often the switch adds up what its datapath has counted for each flow; the least that it takes.
const countEvery = 100 * time.Millisecond

func (b *Bed) path(name string) string { return filepath.Join(b.dir, name) }

func (b *Bed) databaseAddress() string { return "unix:" + b.path("db.sock") }

// createDatabase makes an empty database and starts its server.
func (b *Bed) createDatabase(ctx context.Context) error {
	if _, err := b.Tool(ctx, "ovsdb-tool", "create", b.path("conf.db"), schemaPath); err != nil {
		return err
	}
	if err := b.StartDatabase(ctx); err != nil {
		return err
	}
	if _, err := b.Tool(ctx, "ovs-vsctl", "--db="+b.databaseAddress(), "--no-wait", "init"); err != nil {
		return err
	}
	_, err := b.Tool(ctx, "ovs-vsctl", "--db="+b.databaseAddress(), "--no-wait", "set", "Open_vSwitch", ".",
		fmt.Sprintf("other_config:max-revalidator=%d", countEvery.Milliseconds()))
	return err
}

// StartDatabase starts ovsdb-server and returns when it answers.
func (b *Bed) StartDatabase(ctx context.Context) error {
	p, err := b.daemon("ovsdb-server", b.path("conf.db"), "--remote=p"+b.databaseAddress())
	if err != nil {
		return err
	}
	b.keep(&b.database, p)
	return awaitSocket(ctx, p, b.path("db.sock"))
}

// StartVswitchd starts ovs-vswitchd and returns when it answers. It uses no datapath of the kernel, even if there is one.
func (b *Bed) StartVswitchd(ctx context.Context) error {
	p, err := b.daemon("ovs-vswitchd", b.databaseAddress(), "--disable-system", "--disable-system-route")
	if err != nil {
		return err
	}
	b.keep(&b.vswitchd, p)
	return awaitSocket(ctx, p, b.path(fmt.Sprintf("ovs-vswitchd.%d.ctl", p.process.Pid)))
}

// KillDatabase ends ovsdb-server as kill -9 does.
func (b *Bed) KillDatabase() { b.running(&b.database).kill() }

// KillVswitchd ends ovs-vswitchd as kill -9 does: connections, flows and the node's internal ports are lost.
func (b *Bed) KillVswitchd() { b.running(&b.vswitchd).kill() }

func (b *Bed) daemon(name string, args ...string) (*process, error) {
	path, err := findProgram(name)
	if err != nil {
		return nil, err
	}
	return b.node.start(b.dir, name, path, append(args, "--pidfile="+b.path(name+".pid"), "-vconsole:info", "-vsyslog:off", "-vfile:off")...)
}

// keep notes a process for Close.
func (b *Bed) keep(at **process, p *process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*at = p
}

func (b *Bed) running(at **process) *process {
	b.mu.Lock()
	defer b.mu.Unlock()
	return *at
}

// Tool runs one of Open vSwitch's tools on the switch and returns what it prints. The bridge's name is an argument
// where the tool wants one.
func (b *Bed) Tool(ctx context.Context, name string, args ...string) (string, error) {
	path, err := findProgram(name)
	if err != nil {
		return "", err
	}
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = b.dir, environment(b.dir), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("run %s: %w: %s", name, err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// awaitSocket waits until somebody answers on a Unix socket, the process ends, or the context does.
func awaitSocket(ctx context.Context, p *process, path string) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		conn, err := net.Dial("unix", path)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-tick.C:
		case <-p.ended:
			return fmt.Errorf("await %s: %s", p.name, p.status)
		case <-ctx.Done():
			return fmt.Errorf("await %s of %s: %w: %w", filepath.Base(path), p.name, ctx.Err(), err)
		}
	}
}
