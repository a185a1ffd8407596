package dummy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

const (
	// stopGrace is how long a daemon may take to end after SIGTERM before it is killed.
	stopGrace = 3 * time.Second
	// logTail is how much of a log an AbortedError carries, in bytes.
	logTail = 4096
)

// daemon is a child process in the foreground: its end is seen at once.
type daemon struct {
	name, dir string
	process   *os.Process
	ended     chan struct{} // closed when the process is gone
	status    string        // how it ended; read after ended is closed
}

// startDaemon runs path with args in dir. Log and standard error go to NAME.log and NAME.err there.
//
// The process is started and awaited on one locked thread: the kernel's parent-death signal, which ends the daemons of
// a test that is killed, is tied to the thread that started the child.
func startDaemon(path, dir string, args ...string) (*daemon, error) {
	d := &daemon{name: filepath.Base(path), dir: dir, ended: make(chan struct{})}
	stderr, err := os.Create(d.file("err"))
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", d.name, err)
	}
	cmd := exec.Command(path, append(args, "--log-file="+d.file("log"), "-vconsole:off", "-vsyslog:off")...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, environment(dir), stderr, stderr
	cmd.SysProcAttr = childAttributes()
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer stderr.Close()
		err := cmd.Start()
		if err == nil {
			d.process = cmd.Process
		}
		started <- err
		if err == nil {
			d.await(cmd)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", d.name, err)
	}
	return d, nil
}

func (d *daemon) await(cmd *exec.Cmd) {
	_ = cmd.Wait() // the state says it better
	d.status = cmd.ProcessState.String()
	close(d.ended)
}

func (d *daemon) file(kind string) string { return filepath.Join(d.dir, d.name+"."+kind) }

// stop ends the process, politely first, and returns when it is gone. Stopping one that has ended is fine.
func (d *daemon) stop() {
	if d == nil {
		return
	}
	d.signal(syscall.SIGTERM)
	if !d.endsWithin(stopGrace) {
		d.signal(syscall.SIGKILL)
		<-d.ended
	}
}

// signal goes through os.Process, which never hits a stranger that got the pid of a reaped child.
func (d *daemon) signal(sig syscall.Signal) { _ = d.process.Signal(sig) }

// over tells whether the daemon has ended; one that never started has not.
func (d *daemon) over() bool {
	if d == nil {
		return false
	}
	select {
	case <-d.ended:
		return true
	default:
		return false
	}
}

// endsWithin waits until the daemon has ended, at most the given time, and tells whether it has.
func (d *daemon) endsWithin(limit time.Duration) bool {
	if d == nil || limit == 0 {
		return d.over()
	}
	select {
	case <-d.ended:
	case <-time.After(limit):
	}
	return d.over()
}

// aborted describes a daemon that has ended.
func (d *daemon) aborted() *AbortedError {
	words := append(tail(d.file("log")), tail(d.file("err"))...)
	return &AbortedError{Daemon: d.name, Status: d.status, Log: string(bytes.TrimSpace(words))}
}

// tail returns whole lines from the end of a file, or nothing if it cannot be read.
func tail(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err == nil {
		_, _ = f.Seek(max(0, size-logTail), io.SeekStart)
	}
	data, _ := io.ReadAll(f)
	if len(data) == logTail {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	return data
}

// environment keeps the daemons and tools inside dir, whatever the caller's environment says.
func environment(dir string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin", "LC_ALL=C", "HOME=" + dir,
		"OVS_RUNDIR=" + dir, "OVS_DBDIR=" + dir, "OVS_LOGDIR=" + dir, "OVS_SYSCONFDIR=" + dir,
	}
}

// awaitSocket polls until somebody answers on a Unix socket at path, the daemon ends, or ctx does. A socket that is
// there may not listen yet.
func (d *daemon) awaitSocket(ctx context.Context, path string) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if conn, err := net.Dial("unix", path); err == nil {
			return conn.Close()
		}
		select {
		case <-tick.C:
		case <-d.ended:
			return d.aborted()
		case <-ctx.Done():
			return fmt.Errorf("await %s of %s: %w", filepath.Base(path), d.name, ctx.Err())
		}
	}
}
