package netns

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"

	"hpnn/model"
	"hpnn/testbed"
	"hpnn/testbed/realtime"
)

// Machine is a host of the site, with a kernel of its own as far as the network is concerned.
type Machine struct {
	Name    string
	Address netip.Prefix // with the length of the segment's prefix
	MAC     model.MAC
	Port    string // of the switch, by name

	number  uint32 // of the port
	routes  []route
	space   *space
	cable   cable    // its other end
	serves  []uint16 // the backend's ports; nil if it has none
	healthy []string // paths at which the backend tells its health, besides its own
	backend *process // nil if it serves nothing
}

// cable is the end of a cable: a device in a namespace.
type cable struct {
	space  *space
	device string
}

// route leads to everything if its prefix is invalid.
type route struct {
	to  netip.Prefix
	via netip.Addr
}

// Do calls f on a thread that is in the machine's namespace. Sockets that f opens, and processes that it starts, stay there.
func (m *Machine) Do(f func() error) error { return m.space.do(f) }

// Dial connects from the machine; the address is a literal one.
func (m *Machine) Dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	err = m.space.do(func() (err error) {
		conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

// Client makes a client on the machine. Each request has a connection of its own, and all of it takes timeout at most;
// 0 is for ever. It closes first: its kernel, and not the server's, remembers the connection for a minute, and does not use its
// port again for so long.
func (m *Machine) Client(timeout time.Duration) *http.Client {
	return &http.Client{Timeout: timeout, Transport: &http.Transport{DialContext: m.Dial, MaxIdleConnsPerHost: -1}}
}

// Neighbour is the MAC address that the machine's kernel has learned for an address.
func (m *Machine) Neighbour(a netip.Addr) (model.MAC, error) {
	link, err := m.space.handle.LinkByName(device)
	if err != nil {
		return model.MAC{}, err
	}
	all, err := m.space.handle.NeighList(link.Attrs().Index, netlink.FAMILY_V4)
	if err != nil {
		return model.MAC{}, fmt.Errorf("list neighbours of %s: %w", m.Name, err)
	}
	i := slices.IndexFunc(all, func(n netlink.Neigh) bool { return n.IP.String() == a.String() && len(n.HardwareAddr) == 6 })
	if i < 0 {
		return model.MAC{}, fmt.Errorf("find neighbour %v of %s: it is not known", a, m.Name)
	}
	return model.MAC(all[i].HardwareAddr), nil
}

// Ping sends an echo request and waits for the reply, which it returns the TTL of.
func (m *Machine) Ping(to netip.Addr, timeout time.Duration) (ttl uint8, err error) {
	if ttl, err = realtime.Ping(m.space.do, to, testbed.PingOptions{Timeout: timeout}); err != nil {
		return 0, fmt.Errorf("from %s: %w", m.Name, err)
	}
	return ttl, nil
}

// Freeze makes the machine's backend stand still; its kernel lives.
func (m *Machine) Freeze() error { return m.backend.signal(syscall.SIGSTOP) }

// Thaw ends that.
func (m *Machine) Thaw() error { return m.backend.signal(syscall.SIGCONT) }

// Kill ends the machine's backend as kill -9 does; its kernel lives and refuses connections. Revive starts it again.
func (m *Machine) Kill() { m.backend.kill() }

// Cut unplugs a machine's cable at the switch.
func (b *Bed) Cut(m *Machine) error { return m.plug(m.cable.space.handle.LinkSetDown) }

// Mend plugs it in.
func (b *Bed) Mend(m *Machine) error { return m.plug(m.cable.space.handle.LinkSetUp) }

func (m *Machine) plug(set func(netlink.Link) error) error {
	link, err := m.cable.space.handle.LinkByName(m.cable.device)
	if err == nil {
		err = set(link)
	}
	if err != nil {
		return fmt.Errorf("plug cable of %s: %w", m.Name, err)
	}
	return nil
}

// routes lead from a segment to the others, by the node.
func routes(t model.Topology, from model.Segment) (all []route) {
	for _, s := range t.Segments {
		if s.ID != from.ID {
			all = append(all, route{s.Prefix, from.Gateway.Address})
		}
	}
	return all
}

const (
	clientHost  = 13  // where the client in a public segment has its address
	gatewayHost = 254 // and the provider's gateway in a private one
)

// beyond is the machine behind a segment's uplink: a client in a public segment, the provider's gateway in a private
// one. The first public segment's is called "client", others have the segment's name behind it.
func beyond(t model.Topology, s model.Segment) Machine {
	m := Machine{Name: "gw-" + s.Name, Port: s.Uplink.Name, number: s.Uplink.Number}
	host := gatewayHost
	if s.Kind == model.Public {
		m.Name, host, m.routes = "client", clientHost, routes(t, s)
		first := slices.IndexFunc(t.Segments, func(s model.Segment) bool { return s.Kind == model.Public && s.Uplink != nil })
		if t.Segments[first].ID != s.ID {
			m.Name += "-" + s.Name
		}
	}
	a := s.Prefix.Addr().As4()
	for {
		a[3] = byte(host)
		if free(t, netip.AddrFrom4(a)) {
			break
		}
		host--
	}
	m.Address = netip.PrefixFrom(netip.AddrFrom4(a), s.Prefix.Bits())
	m.MAC = model.MAC{0x02, 0x42, a[0], a[1], a[2], a[3]}
	return m
}

func free(t model.Topology, a netip.Addr) bool {
	for _, s := range t.Segments {
		if s.Gateway.Address == a || s.Probe != nil && s.Probe.Address == a {
			return false
		}
	}
	_, host := t.HostAt(a)
	return !host && !slices.ContainsFunc(t.Listeners, func(l model.Listener) bool { return l.VIP == a })
}
