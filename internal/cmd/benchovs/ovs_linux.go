package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"hpnn/internal/ovsproto"
)

const (
	bridge = "br0"
	// memory is what DPDK gets, in MB: room for the buffers that a capture of 100,000 frames takes.
	memory = 768
	// patience is how long the daemons may take to start and to take over a configuration.
	patience = 2 * time.Minute
)

// A lab is an Open vSwitch with DPDK in a directory and a network namespace of its own. It is made for one goroutine, which must
// stay on its thread: the daemons end when that thread does.
type lab struct {
	dir     string
	build   build
	daemons []*exec.Cmd
	control *ovsproto.Control
}

// newLab starts the daemons. The outlets are ports that drop.
func newLab(ctx context.Context, b build, rules string, outlets []uint32) (_ *lab, err error) {
	dir, err := os.MkdirTemp("", "benchovs")
	if err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	l := &lab{dir: dir, build: b}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()
	if _, err := l.tool(ctx, "ovsdb-tool", "create", l.path("conf.db"), schemaPath); err != nil {
		return nil, err
	}
	err = l.start("ovsdb-server", "ovsdb-server", l.path("conf.db"), "--remote=p"+l.database(), "--unixctl="+l.path("db.ctl"))
	if err == nil {
		err = l.await(ctx, "db.sock")
	}
	if err != nil {
		return nil, err
	}
	if err := l.launch(ctx); err != nil {
		return nil, err
	}
	if err := l.wire(ctx, outlets); err != nil {
		return nil, err
	}
	if err := os.WriteFile(l.path("rules"), []byte(rules), 0o600); err != nil {
		return nil, fmt.Errorf("write rules: %w", err)
	}
	_, err = l.tool(ctx, "ovs-ofctl", "-O", "OpenFlow15", "--bundle", "replace-flows", l.path(bridge+".mgmt"), l.path("rules"))
	return l, err
}

// launch starts ovs-vswitchd, its polling thread on the last core and the others on the first.
func (l *lab) launch(ctx context.Context) error {
	_, err := l.vsctl(ctx, "--no-wait", "init", "--", "set", "Open_vSwitch", ".", "other_config:dpdk-init=true",
		fmt.Sprintf(`other_config:dpdk-extra="--legacy-mem --no-huge --no-pci --no-telemetry --iova-mode=va -m %d%s"`, memory, l.build.driverArguments()),
		"other_config:dpdk-lcore-mask=0x1", fmt.Sprintf("other_config:pmd-cpu-mask=%#x", 1<<(runtime.NumCPU()-1)))
	if err != nil {
		return err
	}
	if err := l.start("ovs-vswitchd", l.build.daemon, l.database(), "--unixctl="+l.path("vs.ctl"), "-vofproto_dpif_upcall:off"); err != nil {
		return err
	}
	if err := l.await(ctx, "vs.ctl"); err != nil {
		return err
	}
	l.control, err = ovsproto.DialControl(ctx, l.path("vs.ctl"))
	return err
}

func (l *lab) wire(ctx context.Context, outlets []uint32) error {
	args := []string{"add-br", bridge, "--", "set", "bridge", bridge, "datapath_type=netdev", "fail-mode=secure", "protocols=OpenFlow15"}
	for _, n := range outlets {
		name := fmt.Sprintf("out%d", n)
		args = append(args, "--", "add-port", bridge, name, "--", "set", "interface", name, "type=dpdk",
			fmt.Sprintf("ofport_request=%d", n), fmt.Sprintf(`options:dpdk-devargs="net_null%d,no-rx=1"`, n))
	}
	_, err := l.vsctl(ctx, args...)
	return err
}

// play sends a capture into a port, once, or endlessly from memory.
func (l *lab) play(ctx context.Context, port uint32, file, how string) error {
	_, err := l.vsctl(ctx, "add-port", bridge, "in", "--", "set", "interface", "in", "type=dpdk", fmt.Sprintf("ofport_request=%d", port),
		fmt.Sprintf(`options:dpdk-devargs="net_pcap0,rx_pcap=%s,tx_pcap=/dev/null%s"`, file, how))
	if err != nil {
		return err
	}
	words, err := l.vsctl(ctx, "get", "interface", "in", "error")
	if err == nil && strings.TrimSpace(words) != "[]" {
		err = fmt.Errorf("play %s: %s", filepath.Base(file), strings.TrimSpace(words))
	}
	return err
}

const (
	once      = ""
	endlessly = ",infinite_rx=1"
)

// forget makes every frame an upcall.
func (l *lab) forget(ctx context.Context) error {
	if _, err := l.vsctl(ctx, "set", "Open_vSwitch", ".", "other_config:flow-limit=0", "other_config:emc-insert-inv-prob=0"); err != nil {
		return err
	}
	return l.settle(ctx, uncached, func() error {
		_, err := l.control.Call(ctx, "revalidator/purge")
		return err
	})
}

// learn waits until all frames are cached.
func (l *lab) learn(ctx context.Context) error {
	return l.settle(ctx, cached, func() error { return nil })
}

func (l *lab) path(name string) string { return filepath.Join(l.dir, name) }

func (l *lab) database() string { return "unix:" + l.path("db.sock") }

func (l *lab) vsctl(ctx context.Context, args ...string) (string, error) {
	return l.tool(ctx, "ovs-vsctl", append([]string{"--db=" + l.database(), fmt.Sprintf("--timeout=%.0f", patience.Seconds())}, args...)...)
}

// tool runs one of OVS's own; a daemon that has ended says why.
func (l *lab) tool(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := output(ctx, l.dir, name, args...)
	if err != nil {
		return "", l.explain(err)
	}
	return out, nil
}

// explain adds to an error what the daemon complained of.
func (l *lab) explain(err error) error {
	log, _ := os.ReadFile(l.path("ovs-vswitchd.log"))
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "|ERR|") || strings.Contains(line, "|EMER|") {
			_, words, _ := strings.Cut(line, "|")
			err = fmt.Errorf("%w\novs-vswitchd: %s", err, strings.TrimSpace(words))
		}
	}
	return err
}

// start runs a daemon. It has no network but that of its own namespace.
func (l *lab) start(name, path string, args ...string) error {
	cmd := exec.Command(path, append(args, "--log-file="+l.path(name+".log"), "-vconsole:off", "-vsyslog:off")...)
	cmd.Dir = l.dir
	cmd.Env = append(os.Environ(), "OVS_RUNDIR="+l.dir, "OVS_DBDIR="+l.dir, "OVS_LOGDIR="+l.dir, "OVS_SYSCONFDIR="+l.dir)
	if l.build.libraries != "" {
		cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+l.build.libraries)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: syscall.CLONE_NEWNET}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w (a network namespace needs root)", name, err)
	}
	l.daemons = append(l.daemons, cmd)
	return nil
}

// await waits until a daemon answers on its socket.
func (l *lab) await(ctx context.Context, socket string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if conn, err := net.Dial("unix", l.path(socket)); err == nil {
			return conn.Close()
		}
		daemon := l.daemons[len(l.daemons)-1].Process
		if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", daemon.Pid)); err != nil || strings.Contains(string(state), ") Z ") {
			return l.explain(fmt.Errorf("await %s: the daemon has ended", socket))
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return l.explain(fmt.Errorf("await %s: %w", socket, ctx.Err()))
		}
	}
}

// close ends the daemons and removes all that they left.
func (l *lab) close() error {
	l.control.Close()
	for _, cmd := range l.daemons {
		_ = cmd.Process.Kill() // nothing is worth saving
		_ = cmd.Wait()
	}
	return os.RemoveAll(l.dir)
}
