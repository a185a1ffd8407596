package netns

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/vishvananda/netns"
)

// stopGrace is how long a process may take to end after SIGTERM before it is killed.
const stopGrace = 3 * time.Second

// process is a program that runs in a namespace. It ends when the process that started it does.
type process struct {
	name    string
	process *os.Process
	ended   chan struct{} // closed when it is gone
	status  string        // how it ended; read after ended is closed
}

// start runs a program in the namespace, with what it prints appended to NAME.log in dir.
//
// It is started and awaited on one locked thread: the kernel's parent-death signal is tied to the thread that started
// the child. A group of its own keeps an interrupt at the terminal away from it until Close has cleaned up.
func (s *space) start(dir, name, path string, args ...string) (*process, error) {
	p := &process{name: name, ended: make(chan struct{})}
	log, err := os.OpenFile(filepath.Join(dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, environment(dir), log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		defer log.Close()
		err := netns.Set(s.ns)
		if err == nil {
			err = cmd.Start()
		}
		p.process = cmd.Process
		started <- err
		if err == nil {
			_ = cmd.Wait() // the state says it better
			p.status = cmd.ProcessState.String()
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// signal goes through os.Process, which never hits a stranger that got the pid of a reaped child.
func (p *process) signal(sig syscall.Signal) error { return p.process.Signal(sig) }

// stop ends the process, politely first, and returns when it is gone.
func (p *process) stop() {
	if p == nil {
		return
	}
	_ = p.signal(syscall.SIGCONT)
	_ = p.signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(stopGrace):
		p.kill()
	}
}

// kill ends the process at once and returns when it is gone.
func (p *process) kill() {
	_ = p.signal(syscall.SIGKILL)
	<-p.ended
}

// environment keeps the daemons and tools inside dir, whatever the caller's environment says.
func environment(dir string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin", "LC_ALL=C", "HOME=" + dir,
		"OVS_RUNDIR=" + dir, "OVS_DBDIR=" + dir, "OVS_LOGDIR=" + dir, "OVS_SYSCONFDIR=" + dir,
	}
}
