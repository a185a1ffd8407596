package dummy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// schemaPath is where distributions put the OVSDB schema of the switch.
const schemaPath = "/usr/share/openvswitch/vswitch.ovsschema"

// searchPath holds the places of the daemons that an ordinary user's PATH lacks.
var searchPath = []string{"/usr/sbin", "/sbin", "/usr/local/sbin"}

// tools are the absolute paths of the programs this package runs.
type tools struct {
	create, database, vswitchd, vsctl, ofctl string
}

// Available says whether Start can work on this machine; if not, reason names what is missing (a text for t.Skip).
func Available() (reason string, ok bool) {
	if runtime.GOOS != "linux" {
		return "ovs-vswitchd in dummy mode needs linux, this is " + runtime.GOOS, false
	}
	if _, err := findTools(); err != nil {
		return err.Error(), false
	}
	return "", true
}

func findTools() (tools, error) {
	var t tools
	for name, path := range map[string]*string{
		"ovsdb-tool": &t.create, "ovsdb-server": &t.database, "ovs-vswitchd": &t.vswitchd,
		"ovs-vsctl": &t.vsctl, "ovs-ofctl": &t.ofctl,
	} {
		found, err := findTool(name)
		if err != nil {
			return tools{}, err
		}
		*path = found
	}
	if _, err := os.Stat(schemaPath); err != nil {
		return tools{}, fmt.Errorf("find the OVSDB schema: %w (install openvswitch-switch)", err)
	}
	return t, nil
}

func findTool(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return filepath.Abs(path)
	}
	for _, dir := range searchPath {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("find %s: not in PATH nor in %v (install openvswitch-switch)", name, searchPath)
}
