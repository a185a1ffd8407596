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
)

// service is a program that is to run always.
type service struct {
	name  string
	args  []string // the first is the program's path
	after string   // a file that must be there first
	made  []string // files of a run, removed before the next
}

// services are those of a node, in the order they are started in.
func services(topology, datapath string) []service {
	common := func(name string) []string {
		return []string{"--pidfile=" + filepath.Join(runDir, name+".pid"), "-vconsole:info", "-vsyslog:off", "-vfile:off"}
	}
	db, pid := filepath.Join(runDir, "db.sock"), filepath.Join(runDir, "ovs-vswitchd.pid")
	vswitchd := append([]string{"/usr/sbin/ovs-vswitchd", "unix:" + db}, common("ovs-vswitchd")...)
	if datapath == "netdev" {
		vswitchd = append(vswitchd, "--disable-system", "--disable-system-route") // the kernel's is not wanted
	}
	return []service{
		{name: "ovsdb-server", args: append([]string{"/usr/sbin/ovsdb-server", database, "--remote=punix:" + db}, common("ovsdb-server")...), made: []string{db}},
		{name: "ovs-vswitchd", args: vswitchd, after: db, made: []string{pid}},
		{name: "hcd", args: []string{"/usr/local/bin/hcd", "--topology", topology, "--backend", "ovs", "--datapath", datapath,
			"--ovs-rundir", runDir, "--socket", apiSock, "--state", filepath.Join(stateDir, "state.json")}, after: pid},
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
