package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hpnn/datapath"
	"hpnn/internal/packet"
	"hpnn/model"
	"hpnn/ovsbackend"
	"hpnn/testbed"
	"hpnn/testbed/realtime"
)

// OpenBed starts a stand of its own for a story: containers of the images that make up uses, told the same, under other
// names. One that runs already is left alone. hcd waits in its container until the machines are wired.
func OpenBed(t model.Topology, c testbed.BedConfig) (testbed.Bed, error) {
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	if lacks := lacksForBed(ctx); len(lacks) > 0 {
		return nil, fmt.Errorf("%w: %s", testbed.ErrLacking, strings.Join(lacks, "; "))
	}
	if reasons := crowded(t); len(reasons) > 0 {
		return nil, fmt.Errorf("%w: %s", testbed.ErrUnfit, strings.Join(reasons, "; "))
	}
	building.RLock()
	defer building.RUnlock()
	if err := sweepOnce(ctx); err != nil {
		return nil, fmt.Errorf("remove what dead runs have left: %w", err)
	}
	b := &bed{datapath: "netdev"}
	if err := b.open(ctx, t); err != nil {
		return nil, errors.Join(fmt.Errorf("open bed docker: %w", err), b.Close())
	}
	return realtime.Open(b, b.topology, c)
}

// openTimeout bounds the start of a stand, on a machine that may be busy.
const openTimeout = 2 * time.Minute

// lacksForBed says what is missing on this machine.
func lacksForBed(ctx context.Context) (all []string) {
	if all = lacksForContainers(ctx); len(all) > 0 {
		return all
	}
	if _, err := engine(ctx, "image", "inspect", nodeImage, backendImage, clientImage); err != nil {
		all = append(all, "an image of the stand is missing: make images")
	}
	if _, err := exec.LookPath("ovs-ofctl"); err != nil {
		all = append(all, "ovs-ofctl is not installed: apt-get install openvswitch-common")
	}
	return all
}

// bed is a stand for a story.
type bed struct {
	stand
	datapath string
	dir      string // with the topology
	pid      int    // of the node's supervisor
	space    *space // the node's
	actors   []*actor
	closing  sync.Once
}

var _ realtime.Site = (*bed)(nil)

// opened counts the beds of this process.
var opened atomic.Int64

func (b *bed) open(ctx context.Context, t model.Topology) (err error) {
	name := fmt.Sprintf("%s%d-%d", bedPrefix, os.Getpid(), opened.Add(1))
	b.stand = stand{t, name + "-" + t.Node.Name, machinesOf(t, name)}
	if b.dir, err = os.MkdirTemp("", name+"-"); err != nil {
		return err
	}
	if err := os.WriteFile(b.topologyFile(), t.YAML(), 0o644); err != nil {
		return err
	}
	if err := b.run(ctx); err != nil {
		return err
	}
	pids, err := b.pids(ctx)
	if err != nil {
		return err
	}
	b.pid = pids[b.node]
	w, err := newWiring(ctx, b.stand, "")
	if err != nil {
		return err
	}
	b.space = w.node
	for _, m := range b.machines {
		b.actors = append(b.actors, &actor{bed: b, m: m, spaces: []*space{w.spaces[m.Name]}})
		w.spaces[m.Name].tune()
	}
	return w.wire(ctx)
}

// machinesOf are those of the stand, under other names of containers. All hosts know the way to the other segments.
func machinesOf(t model.Topology, name string) []Machine {
	all := Site(t)
	for i, m := range all {
		all[i].Container = name + "-" + m.Name
		if s, _ := t.Segment(m.Segment); m.Role != Gateway && s.Kind == model.Private {
			all[i].Routes = append(byNode(t, s), byGateway(t, s)...)
		}
	}
	return all
}

// run starts all containers.
func (b *bed) run(ctx context.Context) error {
	all := []container{nodeContainer(b.node, b.topologyFile(), b.datapath, "--hold", "--hcd-log", logFile)}
	for _, m := range b.machines {
		all = append(all, machineContainer(m))
	}
	return together(all, func(c container) error {
		_, err := engine(ctx, c.run(bedLabel+"="+fmt.Sprint(os.Getpid()))...)
		return err
	})
}

// together does something with all, at the same time.
func together[T any](all []T, do func(T) error) error {
	problems := make([]error, len(all))
	var running sync.WaitGroup
	for i, one := range all {
		running.Go(func() { problems[i] = do(one) })
	}
	running.Wait()
	return errors.Join(problems...)
}

func (b *bed) topologyFile() string { return filepath.Join(b.dir, "topology.yaml") }

// Name implements realtime.Site.
func (b *bed) Name() string { return "docker" }

// Can implements realtime.Site.
func (b *bed) Can(f testbed.Feature) error {
	switch f {
	case testbed.Taps, testbed.Fates:
		return errors.New("a real switch does not tell what became of a frame")
	case testbed.SuspendHosts:
		return errors.New("a container has no kernel of its own that could stand still")
	}
	return realtime.Beyond(f)
}

// Machines implements realtime.Site.
func (b *bed) Machines() (all []realtime.Machine) {
	for _, s := range b.topology.Segments {
		if p := s.Probe; p != nil {
			about := testbed.Machine{Name: "probe-" + s.Name, Address: p.Address, MAC: packet.MAC(p.MAC), Port: portNumber(p.Port), Role: testbed.Kernel}
			all = append(all, kernel{b.space, about, p.Port.Name})
		}
		for _, a := range b.actors {
			if a.behindUplink(s) {
				all = append(all, a)
			}
		}
	}
	for _, a := range b.actors {
		if s, _ := b.topology.Segment(a.m.Segment); !a.behindUplink(s) {
			all = append(all, a)
		}
	}
	return all
}

// Bridge implements realtime.Site.
func (b *bed) Bridge(ctx context.Context) (datapath.Bridge, error) {
	bridge, err := ovsbackend.Open(ctx, ovsbackend.Config{RunDir: b.inNode(runDir), Bridge: b.topology.Node.Bridge})
	if err != nil {
		return nil, err
	}
	return counting{bridge, b}, nil
}

// Close implements realtime.Site.
func (b *bed) Close() (err error) {
	b.closing.Do(func() {
		if b.node != "" {
			err = removeContainers(b.containers())
		}
		if b.space != nil {
			b.space.close()
		}
		for _, a := range b.actors {
			for _, s := range a.spaces {
				s.close()
			}
		}
		if b.dir != "" {
			err = errors.Join(err, os.RemoveAll(b.dir))
		}
	})
	return err
}
