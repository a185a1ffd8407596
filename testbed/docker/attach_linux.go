package docker

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/vishvananda/netlink"

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
	pids, err := pids(ctx, t)
	if err != nil {
		return nil, err
	}
	node, err := enter(t.Node.Name, pids[t.Node.Name])
	if err != nil {
		return nil, err
	}
	defer node.close()
	node.quiet()
	var all []Attached
	for _, m := range Site(t) {
		var fresh bool
		if parent != "" && m.Name == publicClient {
			fresh, err = attachParent(ctx, node, m, t, parent)
		} else {
			fresh, err = attach(ctx, node, m, pids[m.Container])
		}
		if err != nil {
			return all, fmt.Errorf("attach %s: %w", m.Container, err)
		}
		all = append(all, Attached{m, fresh})
	}
	return all, settle(ctx, node, all)
}

// settle waits until the switch has all ports and brings their devices up for good. The switch opens a device when it
// likes, and writes the flags back that it has read: one that was brought up in between is down then.
func settle(ctx context.Context, node *space, all []Attached) error {
	var wait []string
	for _, a := range all {
		wait = append(wait, "--", "wait-until", "Interface", a.Machine.Port.Name, "ofport>0")
	}
	if _, err := vsctl(ctx, node, wait...); err != nil {
		return fmt.Errorf("wait until the switch has its ports: %w", err)
	}
	for _, a := range all {
		if err := node.raise(a.Machine.Port.Name); err != nil {
			return err
		}
	}
	return nil
}

// vsctl runs ovs-vsctl in the node.
func vsctl(ctx context.Context, node *space, args ...string) (string, error) {
	const db, timeout = "--db=unix:/run/openvswitch/db.sock", "--timeout=60"
	return engine(ctx, append([]string{"exec", node.name, "ovs-vsctl", db, timeout}, args...)...)
}

func attach(ctx context.Context, node *space, m Machine, pid int) (fresh bool, err error) {
	s, err := enter(m.Container, pid)
	if err != nil {
		return false, err
	}
	defer s.close()
	if wired(node, m.Port.Name, s) {
		return false, s.configure(m)
	}
	s.quiet()
	if err := s.remove(card); err != nil {
		return false, err
	}
	if err := reopened(ctx, node, m.Port, func() error { return wire(node, m, s) }); err != nil {
		return false, err
	}
	return true, s.configure(m)
}

// wire joins the machine's card and the port, both up.
func wire(node *space, m Machine, s *space) error {
	attributes := netlink.NewLinkAttrs()
	attributes.Name = m.Port.Name
	veth := &netlink.Veth{LinkAttrs: attributes, PeerName: card, PeerHardwareAddr: net.HardwareAddr(m.MAC[:]), PeerNamespace: netlink.NsFd(s.ns)}
	if err := node.handle.LinkAdd(veth); err != nil {
		return fmt.Errorf("wire port %s: %w", m.Port.Name, err)
	}
	if err := node.deafen(m.Port.Name); err != nil {
		return err
	}
	if err := node.raise(m.Port.Name); err != nil {
		return err
	}
	return s.raise(card)
}

// deafen keeps the node's kernel from answering ARP on a port. With the userspace datapath it sees the frames as well,
// and would answer for the probe addresses with the MAC of the port, past all rules.
func (s *space) deafen(device string) error {
	link, err := s.handle.LinkByName(device)
	if err != nil {
		return fmt.Errorf("find %s in %s: %w", device, s.name, err)
	}
	if err := s.handle.LinkSetARPOff(link); err != nil {
		return fmt.Errorf("turn ARP on %s in %s off: %w", device, s.name, err)
	}
	return nil
}

// reopened makes a port's device while the switch does not listen to the last one of its name: the userspace datapath
// would go on to do so. The last one goes first, for hcd may add the port again at any time.
func reopened(ctx context.Context, node *space, p model.Port, device func() error) error {
	if err := node.remove(p.Name); err != nil {
		return err
	}
	bridge, err := vsctl(ctx, node, "port-to-br", p.Name)
	known := err == nil
	if !known && !strings.Contains(err.Error(), "no port named") && !strings.Contains(err.Error(), "database connection failed") {
		return err // otherwise the node has just begun, and hcd will add the port
	}
	if known {
		if _, err := vsctl(ctx, node, "--if-exists", "del-port", p.Name); err != nil {
			return err
		}
	}
	if err := device(); err != nil {
		return err
	}
	if known {
		_, err = vsctl(ctx, node, "--may-exist", "add-port", strings.TrimSpace(bridge), p.Name, "--", "set", "Interface", p.Name, fmt.Sprintf("ofport_request=%d", p.Number))
		return err
	}
	return nil
}

// wired tells whether port and card are the two ends of one wire: each names the other's number.
func wired(node *space, port string, s *space) bool {
	a, err := node.handle.LinkByName(port)
	if err != nil {
		return false
	}
	b, err := s.handle.LinkByName(card)
	if err != nil {
		return false
	}
	return a.Attrs().ParentIndex == b.Attrs().Index && b.Attrs().ParentIndex == a.Attrs().Index
}

// configure gives a machine's card its address and routes. Doing it again changes nothing.
func (s *space) configure(m Machine) error {
	link, err := s.handle.LinkByName(card)
	if err != nil {
		return err
	}
	if err := s.handle.AddrReplace(link, &netlink.Addr{IPNet: ipNet(m.Address)}); err != nil {
		return fmt.Errorf("give it address %v: %w", m.Address, err)
	}
	for _, r := range m.Routes {
		route := &netlink.Route{LinkIndex: link.Attrs().Index, Gw: r.Via.AsSlice()}
		if r.To.IsValid() {
			route.Dst = ipNet(r.To)
		}
		if err := s.handle.RouteReplace(route); err != nil {
			return fmt.Errorf("give it route %v via %v: %w", r.To, r.Via, err)
		}
	}
	return nil
}

// attachParent makes the public port a macvlan device on an interface of the host, with the gateway's MAC: the VIPs
// answer with it, and the interface accepts no other.
func attachParent(ctx context.Context, node *space, m Machine, t model.Topology, parent string) (fresh bool, err error) {
	if link, err := node.handle.LinkByName(m.Port.Name); err == nil && link.Type() == "macvlan" {
		return false, nil
	}
	on, err := netlink.LinkByName(parent)
	if err != nil {
		return false, fmt.Errorf("find PUB_IF=%s: %w", parent, err)
	}
	s, _ := t.Segment(m.Segment) // the machine's
	attributes := netlink.NewLinkAttrs()
	attributes.Name, attributes.ParentIndex = m.Port.Name, on.Attrs().Index
	attributes.HardwareAddr, attributes.Namespace = net.HardwareAddr(s.Gateway.MAC[:]), netlink.NsFd(node.ns)
	return true, reopened(ctx, node, m.Port, func() error {
		if err := netlink.LinkAdd(&netlink.Macvlan{LinkAttrs: attributes, Mode: netlink.MACVLAN_MODE_BRIDGE}); err != nil {
			return fmt.Errorf("make macvlan %s on %s: %w", m.Port.Name, parent, err)
		}
		if err := node.deafen(m.Port.Name); err != nil {
			return err
		}
		return node.raise(m.Port.Name)
	})
}
