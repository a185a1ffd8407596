package netns

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// schemaPath is where distributions put the OVSDB schema of the switch.
const schemaPath = "/usr/share/openvswitch/vswitch.ovsschema"

// programs are those of Open vSwitch that are needed.
var programs = []string{"ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-ofctl", "ovs-appctl"}

// Switch says what forwards at a site.
type Switch uint8

// Possible switches.
const (
	OpenVSwitch Switch = iota // ovs-vswitchd with its userspace datapath
	Simulator                 // the simulator, as the program simswitch
)

// String is the name of the bed with that switch.
func (s Switch) String() string {
	if s == Simulator {
		return "netns-sim"
	}
	return "netns"
}

// Available says whether Open can work on this machine with a switch; if not, reason names what is missing (a text for t.Skip).
func Available(s Switch) (reason string, ok bool) {
	if runtime.GOOS != "linux" {
		return "network namespaces need linux, this is " + runtime.GOOS, false
	}
	if os.Geteuid() != 0 {
		return "network namespaces need root", false
	}
	if s == OpenVSwitch {
		if err := installed(); err != nil {
			return err.Error(), false
		}
	}
	if err := usable(); err != nil {
		return err.Error(), false
	}
	return "", true
}

// installed is nil if Open vSwitch is.
func installed() error {
	for _, name := range programs {
		if _, err := findProgram(name); err != nil {
			return err
		}
	}
	if _, err := os.Stat(schemaPath); err != nil {
		return fmt.Errorf("find the OVSDB schema: %w (install openvswitch-switch)", err)
	}
	return nil
}

func findProgram(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return filepath.Abs(path)
	}
	for _, dir := range []string{"/usr/sbin", "/sbin", "/usr/local/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("find %s: it is not installed (install openvswitch-switch)", name)
}
