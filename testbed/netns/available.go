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

// Available says whether Open can work on this machine; if not, reason names what is missing (a text for t.Skip).
func Available() (reason string, ok bool) {
	if runtime.GOOS != "linux" {
		return "network namespaces need linux, this is " + runtime.GOOS, false
	}
	if os.Geteuid() != 0 {
		return "network namespaces need root", false
	}
	for _, name := range programs {
		if _, err := findProgram(name); err != nil {
			return err.Error(), false
		}
	}
	if _, err := os.Stat(schemaPath); err != nil {
		return fmt.Sprintf("find the OVSDB schema: %v (install openvswitch-switch)", err), false
	}
	if err := usable(); err != nil {
		return err.Error(), false
	}
	return "", true
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
