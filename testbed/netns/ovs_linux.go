package netns

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"hpnn/datapath"
	"hpnn/ovsbackend"
	"hpnn/testbed"
)

// countEvery is how often the switch adds up what its datapath has counted for each flow, in milliseconds; the least that it
// takes.
const countEvery = 100

// OVS is an Open vSwitch of a site's own: its database, and the switch.
type OVS struct {
	bed      *Bed
	database *process
	vswitchd *process
}

func (o *OVS) databaseAddress() string { return "unix:" + o.bed.path("db.sock") }

// start implements forwarder. It uses no datapath of the kernel, even if there is one.
func (o *OVS) start(ctx context.Context) error {
	if o.bed.running(&o.database) == nil {
		if err := o.createDatabase(ctx); err != nil {
			return err
		}
	}
	p, err := o.daemon("ovs-vswitchd", o.databaseAddress(), "--disable-system", "--disable-system-route")
	if err != nil {
		return err
	}
	o.bed.keep(&o.vswitchd, p)
	return awaitSocket(ctx, p, o.bed.path(fmt.Sprintf("ovs-vswitchd.%d.ctl", p.process.Pid)))
}

// createDatabase makes an empty database and starts its server.
func (o *OVS) createDatabase(ctx context.Context) error {
	if _, err := o.Tool(ctx, "ovsdb-tool", "create", o.bed.path("conf.db"), schemaPath); err != nil {
		return err
	}
	if err := o.StartDatabase(ctx); err != nil {
		return err
	}
	if _, err := o.Tool(ctx, "ovs-vsctl", "--db="+o.databaseAddress(), "--no-wait", "init"); err != nil {
		return err
	}
	_, err := o.Tool(ctx, "ovs-vsctl", "--db="+o.databaseAddress(), "--no-wait", "set", "Open_vSwitch", ".",
		fmt.Sprintf("other_config:max-revalidator=%d", countEvery))
	return err
}

// StartDatabase starts ovsdb-server and returns when it answers.
func (o *OVS) StartDatabase(ctx context.Context) error {
	p, err := o.daemon("ovsdb-server", o.bed.path("conf.db"), "--remote=p"+o.databaseAddress())
	if err != nil {
		return err
	}
	o.bed.keep(&o.database, p)
	return awaitSocket(ctx, p, o.bed.path("db.sock"))
}

// KillDatabase ends ovsdb-server as kill -9 does.
func (o *OVS) KillDatabase() { o.bed.running(&o.database).kill() }

// kill implements forwarder.
func (o *OVS) kill() { o.bed.running(&o.vswitchd).kill() }

// stop implements forwarder.
func (o *OVS) stop() {
	o.bed.running(&o.vswitchd).stop()
	o.bed.running(&o.database).stop()
}

// flags implements forwarder.
func (o *OVS) flags() []string {
	return []string{"--backend", "ovs", "--ovs-rundir", o.bed.dir, "--datapath", "netdev"}
}

// bridge implements forwarder.
func (o *OVS) bridge(ctx context.Context) (datapath.Bridge, error) {
	b, err := ovsbackend.Open(ctx, ovsbackend.Config{RunDir: o.bed.dir, Bridge: o.bed.config.Topology.Node.Bridge})
	if err != nil {
		return nil, err
	}
	return counting{b, o}, nil
}

// counting is a switch whose counters can be brought up to date.
type counting struct {
	datapath.Bridge
	ovs *OVS
}

var _ testbed.Counter = counting{}

// Count implements testbed.Counter: the datapath adds up now and then what it has counted; a turn that began before the call
// is not enough.
func (c counting) Count(ctx context.Context) error {
	for range 2 {
		if _, err := c.ovs.Tool(ctx, "ovs-appctl", "revalidator/wait"); err != nil {
			return fmt.Errorf("bring counters up to date: %w", err)
		}
	}
	return nil
}

// dump implements forwarder.
func (o *OVS) dump(ctx context.Context, dir string) (err error) {
	bridge := o.bed.config.Topology.Node.Bridge
	for name, call := range map[string][]string{
		"flows.txt":     {"ovs-ofctl", "-O", "OpenFlow15", "--no-names", "dump-flows", bridge},
		"ports.txt":     {"ovs-ofctl", "-O", "OpenFlow15", "dump-ports-desc", bridge},
		"counters.txt":  {"ovs-ofctl", "-O", "OpenFlow15", "dump-ports", bridge},
		"datapath.txt":  {"ovs-appctl", "dpctl/dump-flows", "-m", "netdev@ovs-netdev"},
		"conntrack.txt": {"ovs-appctl", "dpctl/dump-conntrack", "-m", "netdev@ovs-netdev"},
		"coverage.txt":  {"ovs-appctl", "coverage/show"},
		"database.txt":  {"ovs-vsctl", "--db=" + o.databaseAddress(), "--timeout=3", "show"},
	} {
		text, e := o.Tool(ctx, call[0], call[1:]...)
		err = errors.Join(err, e, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return err
}

func (o *OVS) daemon(name string, args ...string) (*process, error) {
	path, err := findProgram(name)
	if err != nil {
		return nil, err
	}
	b := o.bed
	return b.node.start(b.dir, name, path, append(args, "--pidfile="+b.path(name+".pid"), "-vconsole:info", "-vsyslog:off", "-vfile:off")...)
}

// Tool runs one of Open vSwitch's tools on the switch and returns what it prints. The bridge's name is an argument
// where the tool wants one.
func (o *OVS) Tool(ctx context.Context, name string, args ...string) (string, error) {
	path, err := findProgram(name)
	if err != nil {
		return "", err
	}
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = o.bed.dir, environment(o.bed.dir), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("run %s: %w: %s", name, err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}
