package ovsbackend_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/ovsbackend"
	"hpnn/testbed/dummy"
)

// daemons are an ovsdb-server and an ovs-vswitchd in a directory of their own, which keeps its database when
// one of them is killed and started again.
type daemons struct {
	t                  *testing.T
	dir                string
	options            []string // of ovs-vswitchd
	database, vswitchd *exec.Cmd
}

// withDummies makes all devices dummies and needs no privileges.
var withDummies = []string{"--enable-dummy=override", "--disable-system", "--disable-system-route"}

func startDaemons(t *testing.T, options ...string) *daemons {
	t.Helper()
	if reason, ok := dummy.Available(); !ok {
		t.Skipf("no real switch: %s", reason)
	}
	dir, err := os.MkdirTemp("", "ovs-test-") // the path of t.TempDir may be too long for a socket
	require.NoError(t, err)
	d := &daemons{t: t, dir: dir, options: options}
	t.Cleanup(func() {
		d.kill(d.vswitchd)
		d.kill(d.database)
		require.NoError(t, os.RemoveAll(dir))
	})
	d.run("ovsdb-tool", "create", d.path("conf.db"), "/usr/share/openvswitch/vswitch.ovsschema")
	d.startDatabase()
	d.run("ovs-vsctl", "--db=unix:"+d.path("db.sock"), "--no-wait", "init")
	d.startVswitchd()
	return d
}

func (d *daemons) path(name string) string { return filepath.Join(d.dir, name) }

// command is one of the programs, kept within the directory.
func (d *daemons) command(name string, args ...string) *exec.Cmd {
	path := name
	for _, dir := range []string{"/usr/bin", "/usr/sbin"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			path = filepath.Join(dir, name)
		}
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = d.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "OVS_RUNDIR=" + d.dir, "OVS_DBDIR=" + d.dir, "OVS_LOGDIR=" + d.dir, "OVS_SYSCONFDIR=" + d.dir}
	return cmd
}

func (d *daemons) run(name string, args ...string) string {
	d.t.Helper()
	var stderr bytes.Buffer
	cmd := d.command(name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(d.t, err, stderr.String())
	return string(bytes.TrimSpace(out))
}

// vsctl runs ovs-vsctl and returns what it prints.
func (d *daemons) vsctl(args ...string) string {
	d.t.Helper()
	return d.run("ovs-vsctl", append([]string{"--db=unix:" + d.path("db.sock"), "--timeout=20"}, args...)...)
}

// start starts a daemon and awaits a file that it makes.
func (d *daemons) start(file, name string, args ...string) *exec.Cmd {
	d.t.Helper()
	cmd := d.command(name, append(args, "--pidfile="+d.path(name+".pid"), "--log-file="+d.path(name+".log"), "-vconsole:off")...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(d.t, cmd.Start())
	require.Eventually(d.t, func() bool { _, err := os.Stat(d.path(file)); return err == nil }, 20*time.Second, 5*time.Millisecond)
	return cmd
}

func (d *daemons) startDatabase() {
	d.t.Helper()
	_ = os.Remove(d.path("db.sock"))
	d.database = d.start("db.sock", "ovsdb-server", d.path("conf.db"), "--remote=punix:"+d.path("db.sock"), "--unixctl="+d.path("db.ctl"))
}

func (d *daemons) startVswitchd() {
	d.t.Helper()
	_ = os.Remove(d.path("ovs-vswitchd.pid"))
	d.vswitchd = d.start("ovs-vswitchd.pid", "ovs-vswitchd", append([]string{"unix:" + d.path("db.sock")}, d.options...)...)
}

// kill ends a daemon without warning.
func (d *daemons) kill(cmd *exec.Cmd) {
	if cmd != nil && cmd.ProcessState == nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// config is that of a bridge with two ports. The control socket is where ovs-vswitchd puts it.
func (d *daemons) config() ovsbackend.Config {
	return ovsbackend.Config{RunDir: d.dir, Bridge: "brt", DatapathType: "dummy",
		Ports: []ovsbackend.PortConfig{{Name: "up0", Number: 7}, {Name: "up1", Number: 3}}}
}

// openWithin opens a Bridge although the daemons may need a moment.
func openWithin(t *testing.T, c ovsbackend.Config) *ovsbackend.Bridge {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	b, err := ovsbackend.Open(ctx, c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}
