package ovsbackend

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"

	"hpnn/internal/packet"
)

// host is this host's side of internal ports, in the network namespace that was current when it was
// made. A nil host has nothing to set up.
type host struct{ handle *netlink.Handle }

// newHost returns nil if no port needs one.
func newHost(ports []PortConfig) (*host, error) {
	if !slices.ContainsFunc(ports, func(p PortConfig) bool { return p.Internal }) {
		return nil, nil
	}
	handle, err := netlink.NewHandle()
	if err != nil {
		return nil, fmt.Errorf("speak to the kernel's network: %w", err)
	}
	return &host{handle}, nil
}

func (h *host) close() {
	if h != nil {
		h.handle.Close()
	}
}

// SetUpPorts gives the internal ports of a switch their addresses in the current network namespace, and
// brings them up. Their IPv4 and global IPv6 addresses and their static neighbours are then exactly those of
// the configuration. It needs CAP_NET_ADMIN. Open does this by itself.
func SetUpPorts(ports []PortConfig) error {
	h, err := newHost(ports)
	if err != nil {
		return err
	}
	defer h.close()
	return h.setUp(ports)
}

func (h *host) setUp(ports []PortConfig) error {
	if h == nil {
		return nil
	}
	var errs []error
	for _, p := range ports {
		if p.Internal {
			if err := h.setUpPort(p); err != nil {
				errs = append(errs, fmt.Errorf("set up port %s: %w", p.Name, err))
			}
		}
	}
	return errors.Join(errs...)
}

func (h *host) setUpPort(p PortConfig) error {
	link, err := h.handle.LinkByName(p.Name)
	if err != nil {
		return fmt.Errorf("find its device: %w: is the switch in another network namespace?", err)
	}
	if p.MAC != (packet.MAC{}) && string(link.Attrs().HardwareAddr) != string(p.MAC[:]) {
		if err := h.handle.LinkSetHardwareAddr(link, p.MAC[:]); err != nil {
			return fmt.Errorf("set address %v: %w", p.MAC, err)
		}
	}
	if link.Attrs().Flags&net.FlagUp == 0 {
		if err := h.handle.LinkSetUp(link); err != nil {
			return fmt.Errorf("bring it up: %w", err)
		}
	}
	if err := h.setAddress(link, p.Address); err != nil {
		return err
	}
	if err := h.setNeighbours(link, p.Neighbours); err != nil {
		return err
	}
	return h.setRoutes(link, p.Routes)
}

// setAddress leaves want as the only address, but for link-local IPv6 ones.
func (h *host) setAddress(link netlink.Link, want netip.Prefix) error {
	have, err := h.handle.AddrList(link, netlink.FAMILY_ALL)
	if err != nil {
		return fmt.Errorf("list its addresses: %w", err)
	}
	there := false
	for _, a := range have {
		switch {
		case a.IPNet.String() == want.String():
			there = true
		case !a.IP.IsLinkLocalUnicast() || a.IP.To4() != nil:
			if err := h.handle.AddrDel(link, &a); err != nil {
				return fmt.Errorf("remove address %v: %w", a.IPNet, err)
			}
		}
	}
	if there || !want.IsValid() {
		return nil
	}
	if err := h.handle.AddrReplace(link, &netlink.Addr{IPNet: ipNet(want)}); err != nil {
		return fmt.Errorf("add address %v: %w", want, err)
	}
	return nil
}

// setNeighbours leaves want as the only static neighbours.
func (h *host) setNeighbours(link netlink.Link, want []Neighbour) error {
	have, err := h.handle.NeighList(link.Attrs().Index, netlink.FAMILY_ALL)
	if err != nil {
		return fmt.Errorf("list its neighbours: %w", err)
	}
	wanted := map[netip.Addr]packet.MAC{}
	for _, n := range want {
		wanted[n.Address] = n.MAC
	}
	for _, n := range have {
		address, _ := netip.AddrFromSlice(n.IP)
		address = address.Unmap()
		mac, keep := wanted[address]
		switch {
		case n.State&netlink.NUD_PERMANENT == 0 || address.IsMulticast():
		case keep && string(n.HardwareAddr) == string(mac[:]):
			delete(wanted, address)
		case !keep:
			if err := h.handle.NeighDel(&n); err != nil {
				return fmt.Errorf("remove neighbour %v: %w", address, err)
			}
		}
	}
	for address, mac := range wanted {
		n := netlink.Neigh{LinkIndex: link.Attrs().Index, IP: address.AsSlice(), HardwareAddr: mac[:], State: netlink.NUD_PERMANENT}
		if err := h.handle.NeighSet(&n); err != nil {
			return fmt.Errorf("add neighbour %v at %v: %w", address, mac, err)
		}
	}
	return nil
}
