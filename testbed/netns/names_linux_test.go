package netns

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// TestNamesOutliveIPNetns: somebody uses ip-netns(8) for the first time while our namespaces are there. It happens in a mount
// namespace of the test's own, with an empty /run.
func TestNamesOutliveIPNetns(t *testing.T) {
	if reason, ok := Available(Simulator); !ok {
		t.Skip(reason)
	}
	ip, err := exec.LookPath("ip")
	if err != nil {
		t.Skip(err)
	}
	runtime.LockOSThread() // for good: the thread ends with the test
	require.NoError(t, unix.Unshare(unix.CLONE_NEWNS))
	require.NoError(t, unix.Mount("", "/", "none", unix.MS_PRIVATE|unix.MS_REC, ""))
	require.NoError(t, unix.Mount("run", "/run", "tmpfs", 0, ""))
	require.NoError(t, shareNames())
	require.NoError(t, shareNames(), "once more")

	_, err = netns.NewNamed("ours")
	require.NoError(t, err)
	out, err := exec.Command(ip, "netns", "add", "theirs").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, netns.DeleteNamed("ours"))
	names, err := os.ReadDir(namesDir)
	require.NoError(t, err)
	require.Len(t, names, 1)
	require.Equal(t, "theirs", filepath.Base(names[0].Name()))
}
