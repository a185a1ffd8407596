package netns

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"

	"hpnn/internal/packet"
	"hpnn/model"
	"hpnn/testbed"
)

// addMachines makes what stands behind each port that is not the node's own, and starts the members' web servers.
func (b *Bed) addMachines() error {
	all, err := b.plan()
	if err != nil {
		return err
	}
	neighbours := map[string]int{} // machines by port
	for _, m := range all {
		neighbours[m.Port]++
	}
	hubs := map[string]*space{}
	for _, m := range all {
		at := b.node
		if neighbours[m.Port] > 1 {
			if hubs[m.Port] == nil {
				if hubs[m.Port], err = b.hub(m.Port); err != nil {
					return err
				}
			}
			at = hubs[m.Port]
		}
		if err := b.add(m, at); err != nil {
			return err
		}
	}
	if err := b.addRemote(); err != nil {
		return err
	}
	return b.startBackends()
}

// plan lists the machines with a cable of their own.
func (b *Bed) plan() (all []*Machine, err error) {
	t := b.config.Topology
	for _, s := range t.Segments {
		if s.Uplink != nil {
			m := beyond(t, s)
			all = append(all, &m)
		}
	}
	for _, h := range t.Hosts {
		s, _ := t.Segment(h.Segment) // a valid topology has it
		m := &Machine{Name: h.Name, Address: netip.PrefixFrom(h.Address, s.Prefix.Bits()), MAC: h.MAC, Port: h.Port.Name, number: h.Port.Number}
		m.routes = routes(t, s)
		if s.Kind == model.Private && s.Uplink != nil {
			m.routes = append(m.routes, route{via: beyond(t, s).Address.Addr()})
		}
		all = append(all, m)
	}
	return all, nil
}

// hub makes a switch for the machines that share a port of the node.
func (b *Bed) hub(port string) (*space, error) {
	s, err := b.newSpace("hub-" + port)
	if err != nil {
		return nil, err
	}
	attributes := netlink.NewLinkAttrs()
	attributes.Name = hubDevice
	snoops := false // it would send reports of its own (RFC 4541)
	if err := s.handle.LinkAdd(&netlink.Bridge{LinkAttrs: attributes, MulticastSnooping: &snoops}); err != nil {
		return nil, fmt.Errorf("make hub at port %s: %w", port, err)
	}
	mac := model.MAC{0x02, 0x68, 0x75, 0x62, 0, 1} // it sends nothing itself
	if err := wire(s, mac, b.node, port); err != nil {
		return nil, err
	}
	if err := s.enslave(device); err != nil {
		return nil, err
	}
	link, err := s.handle.LinkByName(hubDevice)
	if err != nil {
		return nil, err
	}
	b.captures[port], err = b.node.capture(port)
	return s, errors.Join(err, s.handle.LinkSetUp(link))
}

// hubDevice is the bridge in a hub's namespace.
const hubDevice = "hub"

func (s *space) enslave(name string) error {
	hub, err := s.handle.LinkByName(hubDevice)
	if err != nil {
		return err
	}
	link, err := s.handle.LinkByName(name)
	if err != nil {
		return err
	}
	return s.handle.LinkSetMaster(link, hub)
}

// add makes a machine and its cable to the node or to a hub.
func (b *Bed) add(m *Machine, at *space) (err error) {
	if m.space, err = b.newSpace(m.Name); err != nil {
		return err
	}
	m.space.tune()
	b.machines = append(b.machines, m)
	m.cable = cable{at, m.Port}
	if at != b.node {
		m.cable.device = m.Name
	}
	if err := wire(m.space, m.MAC, at, m.cable.device); err != nil {
		return err
	}
	if at != b.node {
		err = at.enslave(m.cable.device)
	} else {
		b.captures[m.Port], err = b.node.capture(m.Port)
	}
	if err != nil {
		return err
	}
	if err := m.space.address(device, m.Address); err != nil {
		return err
	}
	for _, r := range m.routes {
		err = errors.Join(err, m.space.route(r.to, r.via))
	}
	return err
}

// addRemote adds the members that are no hosts but behind one: each is an address more of its next hop.
func (b *Bed) addRemote() error {
	t := b.config.Topology
	for _, p := range t.Pools {
		for _, member := range p.Members {
			if b.at(member.Address) != nil {
				continue
			}
			hop, ok := t.NextHop(member.Address)
			if !ok {
				return fmt.Errorf("add member %s: no host has its address %v or is the way to it", member.Name, member.Address)
			}
			router := b.Machine(hop.Name)
			m := &Machine{Name: member.Name, Address: netip.PrefixFrom(member.Address, 32), MAC: router.MAC, Port: router.Port,
				number: router.number, space: router.space, cable: router.cable}
			if err := m.space.address("lo", m.Address); err != nil {
				return err
			}
			b.machines = append(b.machines, m)
		}
	}
	return nil
}

// at is the machine with an address, nil if there is none.
func (b *Bed) at(a netip.Addr) *Machine {
	for _, m := range b.machines {
		if m.Address.Addr() == a {
			return m
		}
	}
	return nil
}

// about is what a story may know of a machine.
func (m *Machine) about() testbed.Machine {
	role := testbed.Client
	if m.serves != nil {
		role = testbed.Member
	}
	return testbed.Machine{Name: m.Name, Address: m.Address.Addr(), MAC: packet.MAC(m.MAC), Port: portNumber(m.number), Role: role}
}
