package netns

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"hpnn/model"
)

// Config describes a site.
type Config struct {
	Topology model.Topology // a valid one
	Programs string         // the directory of the programs hcd and backend, and of simswitch for the Simulator
	Switch   Switch         // Open vSwitch if not set
}

// Bed is the site of a topology: its machines, a switch that runs, and hcd once it is started.
type Bed struct {
	config   Config
	dir      string
	spaces   []*space // all of them
	node     *space
	machines []*Machine
	captures map[string]*capture // by the port of the switch
	closing  sync.Once

	forwarder forwarder

	mu  sync.Mutex // of what is restarted
	hcd *process
}

// Open builds the site: namespaces, cables, backends and an empty switch. The context bounds this only. Whatever
// happens, nothing stays when it fails.
func Open(ctx context.Context, c Config) (*Bed, error) {
	if reason, ok := Available(c.Switch); !ok {
		return nil, fmt.Errorf("build the site: %s", reason)
	}
	building.RLock()
	defer building.RUnlock()
	if err := sweepOnce(); err != nil {
		return nil, fmt.Errorf("remove what dead runs have left: %w", err)
	}
	b := &Bed{config: c, captures: map[string]*capture{}}
	b.forwarder = b.newForwarder()
	register(b)
	if err := b.open(ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("build the site: %w", err)
	}
	return b, nil
}

func (b *Bed) open(ctx context.Context) (err error) {
	if b.dir, err = os.MkdirTemp("", runName()); err != nil {
		return err
	}
	if err := os.WriteFile(b.TopologyFile(), b.config.Topology.YAML(), 0o644); err != nil {
		return err
	}
	if b.node, err = b.newSpace("node"); err != nil {
		return err
	}
	if err := b.addMachines(); err != nil {
		return err
	}
	return b.StartSwitch(ctx)
}

// newSpace makes a namespace whose name is unique among all runs and beds.
func (b *Bed) newSpace(name string) (*space, error) {
	s, err := newSpace(filepath.Base(b.dir) + "-" + name)
	if err == nil {
		b.spaces = append(b.spaces, s)
	}
	return s, err
}

// Dir is the directory of the topology, the database, the sockets and the logs. Close removes it.
func (b *Bed) Dir() string { return b.dir }

// TopologyFile is what hcd reads.
func (b *Bed) TopologyFile() string { return filepath.Join(b.dir, "topology.yaml") }

// Close ends all processes and removes everything. It may be called at any time, and more than once.
func (b *Bed) Close() {
	b.closing.Do(func() {
		defer forget(b)
		processes := []*process{b.running(&b.hcd)}
		for _, m := range b.machines {
			processes = append(processes, m.backend)
		}
		var ends sync.WaitGroup
		ends.Go(b.forwarder.stop)
		for _, p := range processes {
			ends.Go(p.stop)
		}
		ends.Wait()
		for _, c := range b.captures {
			c.close()
		}
		for _, s := range b.spaces {
			s.close()
		}
		if b.dir != "" {
			_ = os.RemoveAll(b.dir) // what cannot be removed, the next run tries again
		}
	})
}

// Machine finds a machine by its name. It panics if there is none: names come from the topology.
func (b *Bed) Machine(name string) *Machine {
	i := slices.IndexFunc(b.machines, func(m *Machine) bool { return m.Name == name })
	if i < 0 {
		panic("netns: no machine is called " + name)
	}
	return b.machines[i]
}

// Machines are all of them, those of the topology last.
func (b *Bed) Machines() []*Machine { return slices.Clone(b.machines) }
