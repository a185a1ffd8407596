package docker

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"

	"hpnn/model"
)

// shim is the host's own way to the public segment.
const shim = "hpnn-shim"

// Shim gives the host a way to the node's public addresses when they are on one of its interfaces: an interface does not
// see the macvlan devices on it, but these see each other. The device has an address of the segment, the client's unless
// another is given, and a route to each of the node's addresses there. What was there before is made anew.
func Shim(t model.Topology, parent string, own netip.Addr) (to []netip.Addr, err error) {
	client, to, err := shimAddresses(t)
	if err != nil {
		return nil, err
	}
	if own.IsValid() {
		client = own
	}
	on, err := netlink.LinkByName(parent)
	if err != nil {
		return nil, fmt.Errorf("find PUB_IF=%s: %w", parent, err)
	}
	if err := RemoveShim(); err != nil {
		return nil, err
	}
	attributes := netlink.NewLinkAttrs()
	attributes.Name, attributes.ParentIndex = shim, on.Attrs().Index
	if err := netlink.LinkAdd(&netlink.Macvlan{LinkAttrs: attributes, Mode: netlink.MACVLAN_MODE_BRIDGE}); err != nil {
		return nil, fmt.Errorf("make macvlan %s on %s: %w", shim, parent, err)
	}
	if err := raiseShim(client, to); err != nil {
		return nil, errors.Join(err, RemoveShim())
	}
	return to, nil
}

// shimAddresses are the address of the client of the first public segment, and the node's in it.
func shimAddresses(t model.Topology) (client netip.Addr, to []netip.Addr, err error) {
	all := Site(t)
	i := slices.IndexFunc(all, func(m Machine) bool { return m.Name == publicClient })
	if i < 0 {
		return client, nil, errors.New("make shim: the topology has no public segment with an uplink")
	}
	s, _ := t.Segment(all[i].Segment)
	to = []netip.Addr{s.Gateway.Address}
	for _, l := range t.Listeners {
		if s.Prefix.Contains(l.VIP) && !slices.Contains(to, l.VIP) {
			to = append(to, l.VIP)
		}
	}
	return all[i].Address.Addr(), to, nil
}

func raiseShim(own netip.Addr, to []netip.Addr) error {
	link, err := netlink.LinkByName(shim)
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(link, &netlink.Addr{IPNet: ipNet(netip.PrefixFrom(own, own.BitLen()))}); err != nil {
		return fmt.Errorf("give %s address %v: %w", shim, own, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("bring %s up: %w", shim, err)
	}
	for _, a := range to {
		route := &netlink.Route{LinkIndex: link.Attrs().Index, Dst: ipNet(netip.PrefixFrom(a, a.BitLen())), Scope: netlink.SCOPE_LINK}
		if err := netlink.RouteReplace(route); err != nil {
			return fmt.Errorf("give the host a route to %v: %w", a, err)
		}
	}
	return nil
}

// ShimFillsChecksums tells whether the host's frames are whole when the node gets them. Those of a shim on an interface
// that leaves checksums to its hardware never pass that hardware, and the userspace datapath takes them as they are.
func ShimFillsChecksums() bool { return fillsChecksums(shim) }

// RemoveShim removes it if it is there.
func RemoveShim() error {
	link, err := netlink.LinkByName(shim)
	if err != nil {
		return nil //nolint:nilerr // it is not there
	}
	if err := netlink.LinkDel(link); err != nil {
		return fmt.Errorf("remove %s: %w", shim, err)
	}
	return nil
}
