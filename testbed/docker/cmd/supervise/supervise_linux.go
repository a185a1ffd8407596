package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	tick      = 50 * time.Millisecond
	firstWait = 200 * time.Millisecond // before a program is started again
	longWait  = 5 * time.Second        // at most
	healthy   = 10 * time.Second       // one that ran this long starts without having waited before
	lastWord  = 4 * time.Second        // a program that is told to end has this time
)

// child is a service and its present run.
type child struct {
	service
	pid     int // 0 if it does not run
	started time.Time
	wait    time.Duration
	due     time.Time // not to be started before
}

// ended notes the end of a run, and when the next may begin.
func (c *child) ended(now time.Time) {
	c.pid = 0
	if now.Sub(c.started) >= healthy {
		c.wait = 0
	}
	c.wait = min(max(2*c.wait, firstWait), longWait)
	c.due = now.Add(c.wait)
}

// supervisor owns all children. One goroutine does everything, so a child that ends at once is known before it is buried.
type supervisor struct{ children []*child }

func newSupervisor(all []service) *supervisor {
	s := &supervisor{}
	for _, one := range all {
		s.children = append(s.children, &child{service: one})
	}
	return s
}

func (s *supervisor) run() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGCHLD, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT)
	ticker := time.NewTicker(tick)
	for {
		s.startDue(time.Now())
		select {
		case <-ticker.C:
		case sig := <-signals:
			switch sig {
			case syscall.SIGCHLD:
				s.bury(time.Now())
			case syscall.SIGHUP:
				s.hup()
			default:
				s.stop(signals)
				return
			}
		}
	}
}

// startDue starts what does not run and may.
func (s *supervisor) startDue(now time.Time) {
	for _, c := range s.children {
		if c.pid != 0 || now.Before(c.due) {
			continue
		}
		if _, err := os.Stat(c.after); c.after != "" && err != nil {
			continue
		}
		if _, err := os.Stat(c.held); c.held != "" && err == nil {
			c.wait = 0 // who ended it on purpose does not want it late
			continue
		}
		for _, path := range c.made {
			_ = os.Remove(path) // there is none in the first run
		}
		pid, err := c.start()
		c.started = now
		if err != nil {
			say("cannot start %s: %v", c.name, err)
			c.ended(now)
			continue
		}
		c.pid = pid
		say("started %s, pid %d", c.name, pid)
	}
}

// start begins a run.
func (c *child) start() (pid int, err error) {
	files := []uintptr{0, 1, 2}
	if c.log != "" {
		log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return 0, err
		}
		defer log.Close()
		files[1], files[2] = log.Fd(), log.Fd()
	}
	return syscall.ForkExec(c.args[0], c.args, &syscall.ProcAttr{Env: append(os.Environ(), "OVS_RUNDIR="+runDir), Files: files})
}

// bury takes the status of all that ended, children and orphans alike.
func (s *supervisor) bury(now time.Time) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		for _, c := range s.children {
			if c.pid == pid {
				c.ended(now)
				say("%s ended (%s) after %v; it starts again in %v", c.name, describe(status), now.Sub(c.started).Round(time.Millisecond), c.wait)
			}
		}
	}
}

func describe(w syscall.WaitStatus) string {
	if w.Signaled() {
		return w.Signal().String()
	}
	return fmt.Sprintf("exit status %d", w.ExitStatus())
}

// hup makes hcd read its topology again.
func (s *supervisor) hup() {
	if c := s.children[len(s.children)-1]; c.pid != 0 {
		_ = syscall.Kill(c.pid, syscall.SIGHUP) // it may have ended just now
	}
}

// stop ends the children, the last started first, each in its own time.
func (s *supervisor) stop(signals <-chan os.Signal) {
	for i := len(s.children) - 1; i >= 0; i-- {
		c := s.children[i]
		if c.pid == 0 {
			continue
		}
		_ = syscall.Kill(c.pid, syscall.SIGTERM)
		late := time.After(lastWord)
		for c.pid != 0 {
			select {
			case <-signals:
			case <-time.After(tick):
			case <-late:
				_ = syscall.Kill(c.pid, syscall.SIGKILL)
			}
			s.bury(time.Now())
		}
	}
}

func say(format string, args ...any) { fmt.Fprintf(os.Stderr, "supervise: "+format+"\n", args...) }
