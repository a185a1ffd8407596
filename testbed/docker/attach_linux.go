package docker

import (
	"context"
	"fmt"
	"strings"

	"hpnn/model"
)

// card is the name of a machine's network card.
const card = "eth0"

// Attached says what Attach did with a machine.
type Attached struct {
	Machine Machine
	Fresh   bool // wired now; otherwise the wire was there
}

// Attach wires every machine to its port of the node's bridge: a veth pair, the card's MAC, address and routes, no
// offloads. A wire that is there stays, so it may be called at any time; a container that was made or started again needs
// it. With parent the port of the first public segment is a macvlan device on that interface of the host, and its client
// is left alone. The containers must run (a paused one does); it needs root.
func Attach(ctx context.Context, t model.Topology, parent string) ([]Attached, error) {
	return standOf(t).attach(ctx, parent)
}

func (s stand) attach(ctx context.Context, parent string) ([]Attached, error) {
	w, err := newWiring(ctx, s, parent)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := w.release(ctx); err != nil {
		return nil, err
	}
	if err := w.wire(ctx); err != nil {
		return nil, err
	}
	return w.all, w.settle(ctx)
}

// wiring is one run of attach.
type wiring struct {
	stand  stand
	parent string
	node   *space
	spaces map[string]*space // by the machine's name
	all    []Attached
}

func newWiring(ctx context.Context, s stand, parent string) (w *wiring, err error) {
	pids, err := s.pids(ctx)
	if err != nil {
		return nil, err
	}
	w = &wiring{stand: s, parent: parent, spaces: map[string]*space{}}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.node, err = enter(s.node, pids[s.node]); err != nil {
		return w, err
	}
	if err := w.node.quiet(); err != nil {
		return w, err
	}
	for _, m := range s.machines {
		if w.spaces[m.Name], err = enter(m.Container, pids[m.Container]); err != nil {
			return w, err
		}
		there := wired(w.node, m.Port.Name, w.spaces[m.Name])
		if w.isParents(m) {
			link, err := w.node.handle.LinkByName(m.Port.Name)
			there = err == nil && link.Type() == "macvlan"
		}
		w.all = append(w.all, Attached{m, !there})
	}
	return w, nil
}

func (w *wiring) close() {
	if w.node != nil {
		w.node.close()
	}
	for _, s := range w.spaces {
		if s != nil {
			s.close()
		}
	}
}

// isParents tells whether a machine gives its place to the host's interface.
func (w *wiring) isParents(m Machine) bool { return w.parent != "" && m.Name == publicClient }

// release takes the devices of ports that are to be wired away, then the ports: the userspace datapath would go on to
// listen on the device that is gone when another of its name appears.
func (w *wiring) release(ctx context.Context) error {
	var ports []string
	for _, a := range w.all {
		if !a.Fresh {
			continue
		}
		if err := w.node.remove(a.Machine.Port.Name); err != nil {
			return err
		}
		ports = append(ports, "--", "--if-exists", "del-port", a.Machine.Port.Name)
	}
	if len(ports) == 0 {
		return nil
	}
	err := w.vsctl(ctx, ports...)
	if err != nil && strings.Contains(err.Error(), "database connection failed") {
		return nil // the node has just begun, with an empty database
	}
	return err
}

// wire gives every machine its wire.
func (w *wiring) wire(ctx context.Context) error {
	for _, a := range w.all {
		if err := w.attach(ctx, a); err != nil {
			return fmt.Errorf("attach %s: %w", a.Machine.Container, err)
		}
	}
	return nil
}

func (w *wiring) attach(ctx context.Context, a Attached) error {
	m := a.Machine
	if w.isParents(m) {
		if !a.Fresh {
			return nil
		}
		return w.wireParent(ctx, m)
	}
	s := w.spaces[m.Name]
	if a.Fresh {
		if err := s.quiet(); err != nil {
			return err
		}
		if err := s.remove(card); err != nil {
			return err
		}
		if err := wire(w.node, m, s); err != nil {
			return err
		}
	}
	return s.configure(m)
}

// settle gives the switch all ports, waits until it has them, and brings their devices up for good. The switch opens a
// device when it likes, and writes the flags back that it has read: one that was brought up in between is down then.
func (w *wiring) settle(ctx context.Context) error {
	bridge := w.stand.topology.Node.Bridge
	ports, wait := []string{"--", "wait-until", "Bridge", bridge}, []string{}
	for _, a := range w.all {
		p := a.Machine.Port
		ports = append(ports, "--", "--may-exist", "add-port", bridge, p.Name, "--", "set", "Interface", p.Name, fmt.Sprintf("ofport_request=%d", p.Number))
		wait = append(wait, "--", "wait-until", "Interface", p.Name, "ofport>0")
	}
	if err := w.vsctl(ctx, ports...); err != nil {
		return fmt.Errorf("give the switch its ports: %w", err)
	}
	if err := w.vsctl(ctx, wait...); err != nil {
		return fmt.Errorf("wait until the switch has its ports: %w", err)
	}
	for _, a := range w.all {
		if err := w.node.up(a.Machine.Port.Name); err != nil {
			return err
		}
	}
	return nil
}

// vsctl runs ovs-vsctl in the node.
func (w *wiring) vsctl(ctx context.Context, args ...string) error {
	const db, timeout = "--db=unix:/run/openvswitch/db.sock", "--timeout=60"
	_, err := engine(ctx, append([]string{"exec", w.stand.node, "ovs-vsctl", db, timeout}, args...)...)
	return err
}
