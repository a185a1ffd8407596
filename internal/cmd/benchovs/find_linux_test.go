package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMissingBuildSaysWhatToDo(t *testing.T) {
	_, err := findBuild("/nowhere")
	require.EqualError(t, err, "find ovs-vswitchd-dpdk under /nowhere: not there: install openvswitch-switch-dpdk, "+
		"or unpack it without installing: benchovs -unpack")
}

func TestUnpackedBuildNamesItsDrivers(t *testing.T) {
	root := t.TempDir()
	daemon := filepath.Join(root, daemonPath)
	require.NoError(t, os.MkdirAll(filepath.Dir(daemon), 0o755))
	require.NoError(t, os.WriteFile(daemon, nil, 0o755))
	b, err := findBuild(root)
	require.NoError(t, err)
	require.Equal(t, daemon, b.daemon)
	require.Contains(t, b.driverArguments(), " -d "+root+"/usr/lib/x86_64-linux-gnu/librte_net_pcap.so.23")
	require.Empty(t, build{daemon: daemon}.driverArguments())
}
