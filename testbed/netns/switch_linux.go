package netns

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"hpnn/datapath"
)

// programs are those of this project that a site with the switch needs.
func (s Switch) programs() []string {
	if s == Simulator {
		return []string{"hcd", "backend", "simswitch"}
	}
	return []string{"hcd", "backend"}
}

// forwarder is a Switch at work in the node's namespace.
type forwarder interface {
	// start starts it, the first time with whatever it needs. When it returns, the switch answers, and has no flows.
	start(ctx context.Context) error
	// kill ends it as kill -9 does: flows and connections are lost.
	kill()
	// stop ends all that belongs to it, whether it was started or not.
	stop()
	// flags tell hcd where it is.
	flags() []string
	bridge(ctx context.Context) (datapath.Bridge, error)
	// dump writes what it holds to files of a directory.
	dump(ctx context.Context, dir string) error
}

func (b *Bed) newForwarder() forwarder {
	if b.config.Switch == Simulator {
		return &simulator{bed: b}
	}
	return &OVS{bed: b}
}

// StartSwitch starts the switch after KillSwitch, and returns when it answers.
func (b *Bed) StartSwitch(ctx context.Context) error { return b.forwarder.start(ctx) }

// KillSwitch ends the switch as kill -9 does: connections, flows and the node's internal ports are lost.
func (b *Bed) KillSwitch() { b.forwarder.kill() }

// OVS is the site's Open vSwitch; nil if something else forwards.
func (b *Bed) OVS() *OVS {
	o, _ := b.forwarder.(*OVS)
	return o
}

func (b *Bed) path(name string) string { return filepath.Join(b.dir, name) }

// keep notes a process for Close.
func (b *Bed) keep(at **process, p *process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*at = p
}

func (b *Bed) running(at **process) *process {
	b.mu.Lock()
	defer b.mu.Unlock()
	return *at
}

// poll is how often it is looked whether something has begun.
const poll = 5 * time.Millisecond

// awaitSocket waits until somebody answers on a Unix socket, the process ends, or the context does.
func awaitSocket(ctx context.Context, p *process, path string) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		conn, err := net.Dial("unix", path)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-tick.C:
		case <-p.ended:
			return fmt.Errorf("await %s: %s", p.name, p.status)
		case <-ctx.Done():
			return fmt.Errorf("await %s of %s: %w: %w", filepath.Base(path), p.name, ctx.Err(), err)
		}
	}
}
