//go:build linux

package dummy

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// abortFlows make OVS 3.1 abort when a frame arrives: an action set is pending when ct(table=) executes.
const abortFlows = "tcp,actions=write_actions(output:2),goto_table:1\ntable=1,tcp,actions=ct(table=2)"

func TestAbortIsToldAndSurvived(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(2)}), t.Context()
	require.NoError(t, sw.ReplaceFlows(ctx, abortFlows))
	err := sw.Receive(ctx, "p1", tcp(t, client, vip, "S"))
	var aborted *AbortedError
	if err == nil {
		t.Skip("this OVS does not abort where 3.1.0 does")
	}
	require.ErrorAs(t, err, &aborted)
	require.Equal(t, "ovs-vswitchd", aborted.Daemon)
	require.Contains(t, aborted.Status, "abort")
	require.Contains(t, aborted.Log, "assert")
	_, err = sw.DumpFlows(ctx)
	require.ErrorIs(t, err, ErrAborted, "later calls say the same")
	_, err = sw.Outputs()
	require.ErrorIs(t, err, ErrAborted)

	require.NoError(t, sw.Restart(ctx))
	require.NoError(t, sw.ReplaceFlows(ctx, "in_port=1,actions=output:2"))
	require.NoError(t, sw.Receive(ctx, "p1", numbered(1)))
	requireOutputs(t, sw, Output{"p2", numbered(1)})
}

func TestDeathOfEitherDaemonIsTold(t *testing.T) {
	for _, victim := range []string{"ovs-vswitchd", "ovsdb-server"} {
		sw, ctx := ForTest(t, Config{Ports: NumberedPorts(1)}), t.Context()
		d := map[string]*daemon{"ovs-vswitchd": sw.vswitchd, "ovsdb-server": sw.database}[victim]
		d.signal(syscall.SIGKILL)
		<-d.ended
		_, err := sw.DumpFlows(ctx)
		var aborted *AbortedError
		require.ErrorAs(t, err, &aborted)
		require.Equal(t, victim, aborted.Daemon)
		require.NoError(t, sw.Restart(ctx))
		_, err = sw.DumpFlows(ctx)
		require.NoError(t, err)
	}
}

func TestRestartForgetsEverything(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(2)}), t.Context()
	require.NoError(t, sw.ReplaceFlows(ctx, "in_port=1,actions=output:2"))
	require.NoError(t, sw.Receive(ctx, "p1", numbered(1)))
	require.NoError(t, sw.Restart(ctx))
	requireOutputs(t, sw)
	require.NoError(t, sw.Receive(ctx, "p1", numbered(1)))
	requireOutputs(t, sw)
}

func TestCloseLeavesNothing(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(1)}), t.Context()
	require.Len(t, processes(t, sw.Dir()), 2)
	require.NoError(t, sw.Close())
	require.Empty(t, processes(t, sw.Dir()))
	require.NoDirExists(t, sw.Dir())
	require.NoError(t, sw.Close())
	require.ErrorIs(t, sw.Receive(ctx, "p1", numbered(1)), ErrClosed)
	require.ErrorIs(t, sw.Restart(ctx), ErrClosed)
}

func TestCloseAfterAbortLeavesNothing(t *testing.T) {
	sw := ForTest(t, Config{})
	sw.vswitchd.signal(syscall.SIGABRT)
	<-sw.vswitchd.ended
	require.NoError(t, sw.Close())
	require.Empty(t, processes(t, sw.Dir()))
	require.NoDirExists(t, sw.Dir())
}

func TestStartThatFailsLeavesNothing(t *testing.T) {
	if reason, ok := Available(); !ok {
		t.Skip(reason)
	}
	parent := t.TempDir()
	t.Setenv("TMPDIR", parent)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Start(ctx, Config{})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, processes(t, parent))
	entries, err := os.ReadDir(parent)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestGivenDirectoryIsUsedAndKept(t *testing.T) {
	if reason, ok := Available(); !ok {
		t.Skip(reason)
	}
	dir, err := os.MkdirTemp("", "dummy")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	sw, err := Start(t.Context(), Config{Dir: dir, Ports: NumberedPorts(1)})
	require.NoError(t, err)
	require.NoError(t, sw.Close())
	require.FileExists(t, filepath.Join(dir, "ovs-vswitchd.log"))
	_, err = Start(t.Context(), Config{Dir: dir})
	require.ErrorContains(t, err, "not empty")
}

func TestConfigIsChecked(t *testing.T) {
	for want, config := range map[string]Config{
		"too many":      {Ports: NumberedPorts(maxPorts + 1)},
		"already taken": {Ports: []Port{{"a", 1}, {"b", 1}}},
		`"br0"`:         {Ports: []Port{{Local, 1}}},
		"letter":        {Ports: []Port{{"--", 1}}},
		"between 1 and": {Ports: []Port{{"a", 0}}},
		"65279":         {Ports: []Port{{"a", 0xff00}}},
	} {
		require.ErrorContains(t, config.validate(), want)
	}
	require.NoError(t, Config{Ports: NumberedPorts(maxPorts)}.validate())
}

// TestWorksWithoutPrivileges runs this test binary once more as an ordinary user.
func TestWorksWithoutPrivileges(t *testing.T) {
	if reason, ok := Available(); !ok {
		t.Skip(reason)
	}
	if os.Getuid() != 0 {
		t.Skip("all tests of this run are without privileges already")
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "dummy")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chown(dir, nobody, nobody))
	binary, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dummy.test"), binary, 0o755))
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "dummy.test"), "-test.v",
		"-test.run=^(TestFlowForwardsAndDrops|TestConnectionIsTranslatedThereAndBack|TestCloseLeavesNothing)$")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, string(output))
	require.Equal(t, 3, strings.Count(string(output), "--- PASS"), string(output))
	require.Empty(t, processes(t, dir))
}

// TestKilledProgramTakesItsSwitchAlong kills a test binary that has started a switch and cannot clean up.
func TestKilledProgramTakesItsSwitchAlong(t *testing.T) {
	if reason, ok := Available(); !ok {
		t.Skip(reason)
	}
	dir, err := os.MkdirTemp("", "dummy")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestVictim$")
	cmd.Env = append(os.Environ(), victimDir+"="+dir)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	ready, err := stdout.Read(make([]byte, 1))
	require.NoError(t, err)
	require.Equal(t, 1, ready)
	require.NotEmpty(t, processes(t, dir))
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.Eventually(t, func() bool { return len(processes(t, dir)) == 0 }, 5*time.Second, 10*time.Millisecond)
}

// victimDir names the variable that makes TestVictim play its part.
const victimDir = "HPNN_DUMMY_VICTIM_DIR"

// TestVictim is the other half of TestKilledProgramTakesItsSwitchAlong: it starts a switch and waits to be killed.
func TestVictim(t *testing.T) {
	dir := os.Getenv(victimDir)
	if dir == "" {
		t.Skip("runs as a child of TestKilledProgramTakesItsSwitchAlong only")
	}
	_, err := Start(t.Context(), Config{Dir: dir})
	require.NoError(t, err)
	_, err = os.Stdout.WriteString("x")
	require.NoError(t, err)
	<-t.Context().Done()
}

// processes returns the command lines of all processes that name dir.
func processes(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	var found []string
	for _, p := range paths {
		line, err := os.ReadFile(p) // processes may have ended since
		if err == nil && strings.Contains(string(line), dir) {
			found = append(found, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return found
}
