package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const (
	runDir   = "/run/openvswitch"
	stateDir = "/var/lib/hpnn"
	database = "/run/openvswitch/conf.db"
	schema   = "/usr/share/openvswitch/vswitch.ovsschema"
	apiSock  = "/run/hpnn/hcd.sock"
	holdFile = "/run/hpnn/hold"
)

// options are what is said of a node's services.
type options struct {
	topology string // file
	datapath string // type
	log      string // hcd's, a file; empty: the container's
}

// service is a program that is to run always.
type service struct {
	name  string
	args  []string // the first is the program's path
	after string   // a file that must be there first
	held  string   // a file that must not
	log   string   // the file that what it prints is added to; empty: the container's log
	made  []string // files of a run, removed before the next
}

// services are those of a node, in the order they are started in.
func services(o options) []service {
	common := func(name string) []string {
		return []string{"--pidfile=" + filepath.Join(runDir, name+".pid"), "-vconsole:info", "-vsyslog:off", "-vfile:off"}
	}
	db, pid := filepath.Join(runDir, "db.sock"), filepath.Join(runDir, "ovs-vswitchd.pid")
	vswitchd := append([]string{"/usr/sbin/ovs-vswitchd", "unix:" + db}, common("ovs-vswitchd")...)
	if o.datapath == "netdev" {
		vswitchd = append(vswitchd, "--disable-system", "--disable-system-route") // the kernel's is not wanted
	}
	hcd := []string{"/usr/local/bin/hcd", "--topology", o.topology, "--backend", "ovs", "--datapath", o.datapath,
		"--ovs-rundir", runDir, "--socket", apiSock, "--state", filepath.Join(stateDir, "state.json")}
	if o.log != "" {
		hcd = append(hcd, "--log-json")
	}
	return []service{
		{name: "ovsdb-server", args: append([]string{"/usr/sbin/ovsdb-server", database, "--remote=punix:" + db}, common("ovsdb-server")...), made: []string{db}},
		{name: "ovs-vswitchd", args: vswitchd, after: db, made: []string{pid}},
		{name: "hcd", args: hcd, after: pid, held: holdFile, log: o.log},
	}
}

// prepare makes directories and an empty database: the topology is the only truth, so a container that is started again
// starts afresh. Only which members are drained outlives it.
func prepare() error {
	for _, dir := range []string{runDir, stateDir, filepath.Dir(apiSock)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	left, _ := filepath.Glob(filepath.Join(runDir, "*")) // the pattern is well formed
	for _, path := range left {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"create", database, schema},
		{"transact", database, `["Open_vSwitch",{"op":"insert","table":"Open_vSwitch","row":{}}]`},
	} {
		if out, err := exec.Command("ovsdb-tool", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("make the database: ovsdb-tool %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}
