package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

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

// wireParent makes the public port a macvlan device on an interface of the host, with the gateway's MAC: the VIPs answer
// with it, and the interface accepts no other. Its offloads are those of the interface.
func (w *wiring) wireParent(ctx context.Context, m Machine) error {
	on, err := netlink.LinkByName(w.parent)
	if err != nil {
		return fmt.Errorf("find PUB_IF=%s: %w", w.parent, err)
	}
	s, _ := w.stand.topology.Segment(m.Segment) // the machine's
	attributes := netlink.NewLinkAttrs()
	attributes.Name, attributes.ParentIndex = m.Port.Name, on.Attrs().Index
	attributes.HardwareAddr, attributes.Namespace = net.HardwareAddr(s.Gateway.MAC[:]), netlink.NsFd(w.node.ns)
	if err := netlink.LinkAdd(&netlink.Macvlan{LinkAttrs: attributes, Mode: netlink.MACVLAN_MODE_BRIDGE}); err != nil {
		return fmt.Errorf("make macvlan %s on %s: %w", m.Port.Name, w.parent, err)
	}
	if err := w.node.deafen(m.Port.Name); err != nil {
		return err
	}
	return w.upAlone(ctx, m.Port.Name)
}

// upAlone brings a macvlan device up. The one of a node that has just ended bears the same MAC, and lives until the
// kernel has taken its namespace apart.
func (w *wiring) upAlone(ctx context.Context, device string) error {
	for limit := time.Now().Add(30 * time.Second); ; {
		err := w.node.up(device)
		if !errors.Is(err, unix.EADDRINUSE) || time.Now().After(limit) {
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
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
