package netns

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"hpnn/model"
)

// space is a network namespace with a name in /run/netns.
type space struct {
	name   string
	ns     netns.NsHandle
	handle *netlink.Handle
}

// newSpace makes a namespace in which only the loopback is up.
func newSpace(name string) (*space, error) {
	s := &space{name: name}
	made := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		made <- s.make()
	}()
	if err := <-made; err != nil {
		return nil, fmt.Errorf("make namespace %s: %w", name, err)
	}
	return s, nil
}

// make runs on the thread that enters the new namespace.
func (s *space) make() (err error) {
	if s.ns, err = netns.NewNamed(s.name); err != nil {
		return err
	}
	_ = os.WriteFile("/proc/sys/net/ipv6/conf/all/disable_ipv6", []byte("1"), 0o644) // only noise if it stays
	_ = os.WriteFile("/proc/sys/net/ipv6/conf/default/disable_ipv6", []byte("1"), 0o644)
	if s.handle, err = netlink.NewHandle(); err != nil {
		return err
	}
	lo, err := s.handle.LinkByName("lo")
	if err != nil {
		return err
	}
	return s.handle.LinkSetUp(lo)
}

// close removes the name. The namespace goes with its last process.
func (s *space) close() {
	s.handle.Close()
	_ = s.ns.Close()
	_ = netns.DeleteNamed(s.name)
}

// do calls f on a thread that is in the namespace. Sockets that f opens and processes that it starts stay there.
func (s *space) do(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		if err := netns.Set(s.ns); err != nil {
			done <- fmt.Errorf("enter namespace %s: %w", s.name, err)
			return
		}
		done <- f()
	}()
	return <-done
}

// deafen keeps the kernel from answering ARP on a port of the switch. With the userspace datapath it sees the frames as
// well, and would answer for the probe addresses with the MAC of the port, past all rules.
func (s *space) deafen(port string) error {
	link, err := s.handle.LinkByName(port)
	if err == nil {
		err = s.handle.LinkSetARPOff(link)
	}
	if err != nil {
		return fmt.Errorf("turn ARP on %s in %s off: %w", port, s.name, err)
	}
	return nil
}

// tune sets what the machines of a site need of their kernels: a port that was used a second ago can be used again, and who
// asks for a neighbour asks with the address of that segment. They forward nothing, and do not complain about what they would have to.
func (s *space) tune() {
	_ = s.do(func() error {
		for name, value := range map[string]string{"ipv4/tcp_tw_reuse": "1", "ipv4/conf/all/arp_announce": "2", "ipv4/ip_forward": "0"} {
			_ = os.WriteFile("/proc/sys/net/"+name, []byte(value), 0o644) // who needs it will fail
		}
		return nil
	})
}

// device is the name of a machine's network card.
const device = "eth0"

// wire joins a machine's card to a port of the switch, both up, with all offloads off: the userspace datapath
// takes frames as they are, and a checksum that the hardware was to fill in is wrong.
func wire(machine *space, mac model.MAC, node *space, port string) error {
	attributes := netlink.NewLinkAttrs()
	attributes.Name = port
	veth := &netlink.Veth{LinkAttrs: attributes, PeerName: device, PeerHardwareAddr: net.HardwareAddr(mac[:]), PeerNamespace: netlink.NsFd(machine.ns)}
	if err := node.handle.LinkAdd(veth); err != nil {
		return fmt.Errorf("wire port %s: %w", port, err)
	}
	if err := node.deafen(port); err != nil {
		return err
	}
	for _, end := range []struct {
		space *space
		name  string
	}{{machine, device}, {node, port}} {
		if err := end.space.do(func() error { return offloadsOff(end.name) }); err != nil {
			return fmt.Errorf("turn the offloads of %s in %s off: %w", end.name, end.space.name, err)
		}
		link, err := end.space.handle.LinkByName(end.name)
		if err != nil {
			return fmt.Errorf("find %s in %s: %w", end.name, end.space.name, err)
		}
		if err := end.space.handle.LinkSetUp(link); err != nil {
			return fmt.Errorf("bring %s in %s up: %w", end.name, end.space.name, err)
		}
	}
	return nil
}

// address gives a machine's device an address.
func (s *space) address(name string, a netip.Prefix) error {
	link, err := s.handle.LinkByName(name)
	if err != nil {
		return err
	}
	if err := s.handle.AddrAdd(link, &netlink.Addr{IPNet: ipNet(a)}); err != nil {
		return fmt.Errorf("give %s address %v: %w", s.name, a, err)
	}
	return nil
}

// route adds a route; an invalid prefix stands for everything.
func (s *space) route(to netip.Prefix, via netip.Addr) error {
	r := &netlink.Route{Gw: via.AsSlice()}
	if to.IsValid() {
		r.Dst = ipNet(to)
	}
	if err := s.handle.RouteAdd(r); err != nil {
		return fmt.Errorf("give %s route %v via %v: %w", s.name, to, via, err)
	}
	return nil
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}
