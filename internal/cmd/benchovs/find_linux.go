package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	daemonPath  = "usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
	libraryPath = "usr/lib/x86_64-linux-gnu"
	schemaPath  = "/usr/share/openvswitch/vswitch.ovsschema"
)

// A build is an ovs-vswitchd with DPDK.
type build struct {
	daemon    string
	libraries string // of an unpacked one; empty if the system's
}

// drivers are what DPDK has to load, in this order, where it does not find them by itself.
var drivers = []string{"bus_vdev", "mempool_ring", "net_pcap", "net_null"}

// driverArguments tells DPDK where they are.
func (b build) driverArguments() string {
	if b.libraries == "" {
		return ""
	}
	var args strings.Builder
	for _, d := range drivers {
		fmt.Fprintf(&args, " -d %s/librte_%s.so.23", b.libraries, d)
	}
	return args.String()
}

func cache() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "hpnn", "ovs-dpdk"), err
}

// findBuild looks under root, or where OVS with DPDK usually is.
func findBuild(root string) (build, error) {
	roots := []string{root}
	if root == "" {
		roots = []string{"/"}
		if dir, err := cache(); err == nil {
			roots = append(roots, dir)
		}
	}
	for _, r := range roots {
		b := build{daemon: filepath.Join(r, daemonPath)}
		if r != "/" {
			b.libraries = filepath.Join(r, libraryPath)
		}
		if _, err := os.Stat(b.daemon); err == nil {
			return b, nil
		}
	}
	return build{}, fmt.Errorf("find ovs-vswitchd-dpdk under %s: not there: install openvswitch-switch-dpdk, or unpack it "+
		"without installing: benchovs -unpack", strings.Join(roots, " and "))
}

// needed are the packages to unpack, of those that an installation would bring.
var needed = regexp.MustCompile(`^Inst ((?:openvswitch-switch-dpdk|librte-|libibverbs|ibverbs-providers|libnl-|libfdt|libpci|libxdp|libbpf|libnuma|libpcap)[^ ]*)`)

// unpack fills the cache with Debian's packages. Nothing is installed, and the system's switch stays the one it was.
func unpack(ctx context.Context) (err error) {
	root, err := cache()
	if err != nil {
		return fmt.Errorf("find a cache: %w", err)
	}
	if err := os.MkdirAll(root, 0o755); err != nil { // DPDK refuses drivers in a directory anybody may write to
		return fmt.Errorf("make cache: %w", err)
	}
	dir, err := os.MkdirTemp("", "benchovs")
	if err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	plan, err := output(ctx, dir, "apt-get", "-s", "install", "openvswitch-switch-dpdk", "librte-net-null23", "librte-net-pcap23")
	if err != nil {
		return err
	}
	fetch := []string{"download"}
	for line := range strings.Lines(plan) {
		if m := needed.FindStringSubmatch(line); m != nil {
			fetch = append(fetch, m[1])
		}
	}
	if len(fetch) == 1 {
		return errors.New("plan packages: nothing to unpack: is openvswitch-switch-dpdk installed already?")
	}
	if _, err := output(ctx, dir, "apt-get", fetch...); err != nil {
		return err
	}
	packages, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return fmt.Errorf("list packages: %w", err)
	}
	for _, p := range packages {
		if _, err := output(ctx, dir, "dpkg", "-x", p, root); err != nil {
			return err
		}
	}
	fmt.Printf("%d packages unpacked in %s\n", len(packages), root)
	return nil
}

// output runs a tool in dir and returns what it prints.
func output(ctx context.Context, dir, tool string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Dir = dir
	var words strings.Builder
	cmd.Stderr = &words
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("run %s %s: %w: %s", tool, args[0], err, strings.TrimSpace(words.String()))
	}
	return string(out), nil
}
