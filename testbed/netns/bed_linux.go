package netns

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"hpnn/model"
)

// Config describes a site.
type Config struct {
	Topology model.Topology // a valid one
	Programs string         // the directory of the programs hcd and backend
}

// Bed is the site of a topology: its machines, a switch that runs, and hcd once it is started.
type Bed struct {
	config   Config
	dir      string
	node     *space
	machines []*Machine
	captures map[string]*capture // by the port of the switch
	closing  sync.Once

	mu       sync.Mutex // of what is restarted
	database *process
	vswitchd *process
	hcd      *process
}

// Open builds the site: namespaces, cables, backends and an empty switch. The context bounds this only. Whatever
// happens, nothing stays when it fails.
func Open(ctx context.Context, c Config) (*Bed, error) {
	if reason, ok := Available(); !ok {
		return nil, fmt.Errorf("build the site: %s", reason)
	}
	if _, err := Sweep(); err != nil {
		return nil, fmt.Errorf("remove what dead runs have left: %w", err)
	}
	b := &Bed{config: c, captures: map[string]*capture{}}
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
	if b.node, err = newSpace(b.spaceName("node")); err != nil {
		return err
	}
	if err := b.addMachines(); err != nil {
		return err
	}
	if err := b.createDatabase(ctx); err != nil {
		return err
	}
	return b.StartVswitchd(ctx)
}

// spaceName is unique among all runs and beds.
func (b *Bed) spaceName(machine string) string { return filepath.Base(b.dir) + "-" + machine }

// Dir is the directory of the topology, the database, the sockets and the logs. Close removes it.
func (b *Bed) Dir() string { return b.dir }

// TopologyFile is what hcd reads.
func (b *Bed) TopologyFile() string { return filepath.Join(b.dir, "topology.yaml") }

// Close ends all processes and removes everything. It may be called at any time, and more than once.
func (b *Bed) Close() {
	b.closing.Do(func() {
		b.mu.Lock()
		processes := []*process{b.hcd, b.vswitchd, b.database}
		b.mu.Unlock()
		for _, m := range b.machines {
			processes = append(processes, m.backend)
		}
		var ends sync.WaitGroup
		for _, p := range processes {
			ends.Go(p.stop)
		}
		ends.Wait()
		for _, c := range b.captures {
			c.close()
		}
		for _, m := range b.machines {
			m.space.close()
		}
		if b.node != nil {
			b.node.close()
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

// addMachines makes what stands behind each port that is not the node's own.
func (b *Bed) addMachines() error {
	t := b.config.Topology
	for _, s := range t.Segments {
		if s.Uplink == nil {
			continue
		}
		if err := b.add(beyond(t, s)); err != nil {
			return err
		}
	}
	for _, h := range t.Hosts {
		s, _ := t.Segment(h.Segment) // a valid topology has it
		m := Machine{Name: h.Name, Address: netip.PrefixFrom(h.Address, s.Prefix.Bits()), MAC: h.MAC, Port: h.Port.Name}
		m.routes = routes(t, s)
		if s.Kind == model.Private && s.Uplink != nil {
			m.routes = append(m.routes, route{via: beyond(t, s).Address.Addr()})
		}
		if err := b.add(m); err != nil {
			return err
		}
	}
	return b.startBackends()
}

func (b *Bed) add(m Machine) (err error) {
	if m.space, err = newSpace(b.spaceName(m.Name)); err != nil {
		return err
	}
	b.machines = append(b.machines, &m)
	if err := wire(m.space, m.MAC, b.node, m.Port); err != nil {
		return err
	}
	if b.captures[m.Port], err = b.node.capture(m.Port); err != nil {
		return err
	}
	if err := m.space.address(m.Address); err != nil {
		return err
	}
	for _, r := range m.routes {
		err = errors.Join(err, m.space.route(r.to, r.via))
	}
	return err
}

// startBackends starts a web server for each member that is on a machine here.
func (b *Bed) startBackends() (err error) {
	for _, p := range b.config.Topology.Pools {
		for _, member := range p.Members {
			i := slices.IndexFunc(b.machines, func(m *Machine) bool { return m.Address.Addr() == member.Address })
			if i < 0 || b.machines[i].backend != nil {
				continue
			}
			b.machines[i].serves = member.Port
			if err := b.Revive(b.machines[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Revive starts the backend of a machine that is a member.
func (b *Bed) Revive(m *Machine) (err error) {
	m.backend, err = m.space.start(b.dir, m.Name, filepath.Join(b.config.Programs, "backend"),
		"-name", m.Name, "-listen", fmt.Sprintf(":%d", m.serves))
	return err
}
