package replay

import (
	"context"
	"fmt"
	"net/netip"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/internal/pipeline"
	"hpnn/model"
	"hpnn/simbackend"
)

// Node is a switch to be: its ports and rules, and what they mean to people.
type Node struct {
	Ports   []simbackend.Port
	Program openflow.Program

	// Members are the services that connections are translated to. Listeners names the pool of
	// each VIP; without listeners a member stands behind any address.
	Members   []Member
	Listeners map[netip.AddrPort]string

	// MACs are the node's own, and for each the port by which the node's kernel sends with it, 0
	// if it does not.
	MACs map[packet.MAC]openflow.PortNo

	// Tables and Zones explain the numbers of a rendered program; empty if it was not rendered.
	Tables []pipeline.Table
	Zones  []pipeline.Zone
}

// Member is a service that connections are translated to.
type Member struct {
	Pool    string         `json:"pool,omitempty"`
	Name    string         `json:"name,omitempty"`
	Address netip.AddrPort `json:"address"`
}

// String is the member's name, or its address if it has none.
func (m Member) String() string {
	if m.Name == "" {
		return m.Address.String()
	}
	return m.Name
}

// FromTopology is the node that a valid topology describes, its members in the given state.
func FromTopology(t model.Topology, s pipeline.State) Node {
	n := Node{
		Program:   pipeline.Render(t, pipeline.Layout(t, s)),
		Listeners: map[netip.AddrPort]string{},
		MACs:      map[packet.MAC]openflow.PortNo{},
		Tables:    pipeline.Tables(),
		Zones:     pipeline.Zones(),
	}
	for _, p := range t.Ports() {
		n.Ports = append(n.Ports, simbackend.Port{Number: openflow.PortNo(p.Number), Name: p.Name})
	}
	for _, l := range t.Listeners {
		n.Listeners[netip.AddrPortFrom(l.VIP, l.Port)] = l.Pool
	}
	for _, s := range t.Segments {
		n.MACs[packet.MAC(s.Gateway.MAC)] = 0
		if s.Probe != nil {
			n.MACs[packet.MAC(s.Probe.MAC)] = openflow.PortNo(s.Probe.Port.Number)
		}
	}
	for _, p := range t.Pools {
		for _, m := range p.Members {
			n.Members = append(n.Members, Member{p.Name, m.Name, netip.AddrPortFrom(m.Address, m.Port)})
		}
	}
	return n
}

// FromFlows is the node that runs the given flows. Its members are the addresses that the flows
// translate destinations to.
func FromFlows(p openflow.Program, ports []simbackend.Port) Node {
	n := Node{Program: p, Ports: ports}
	seen := map[netip.AddrPort]bool{}
	for f := range p.All() {
		for a := range translations(f.Actions) {
			if !seen[a] {
				seen[a] = true
				n.Members = append(n.Members, Member{Address: a})
			}
		}
	}
	sortMembers(n.Members)
	return n
}

// Switch makes the switch in memory, its rules in place, its time 0. The error names the first
// port or rule that it refuses.
func (n Node) Switch(ctx context.Context) (*simbackend.Switch, error) {
	sw, err := simbackend.New(simbackend.Config{Ports: n.Ports})
	if err != nil {
		return nil, fmt.Errorf("make switch: %w", err)
	}
	if err := sw.Commit(ctx, n.Program.Bundle()); err != nil {
		return nil, err
	}
	return sw, nil
}

// sent reports whether the node itself sent a frame that comes in by a port.
func (n Node) sent(port openflow.PortNo, source packet.MAC) bool {
	own, ours := n.MACs[source]
	return ours && own != port
}

// Table returns the declaration of a table; false if the rules were not rendered from a topology.
func (n Node) Table(id openflow.TableID) (pipeline.Table, bool) {
	for _, t := range n.Tables {
		if t.ID == id {
			return t, true
		}
	}
	return pipeline.Table{}, false
}

// ZoneName is the name of a zone of the connection tracker, "" if it has none.
func (n Node) ZoneName(id uint16) string {
	for _, z := range n.Zones {
		if z.ID == id {
			return z.Name
		}
	}
	return ""
}

// PortName is the name of a port, its number if it has none.
func (n Node) PortName(number openflow.PortNo) string {
	for _, p := range n.Ports {
		if p.Number == number {
			return p.Name
		}
	}
	return number.String()
}

// Port finds a port by its name; LOCAL is always there.
func (n Node) Port(name string) (openflow.PortNo, error) {
	for _, p := range n.Ports {
		if p.Name == name {
			return p.Number, nil
		}
	}
	if name == openflow.PortLocal.String() {
		return openflow.PortLocal, nil
	}
	return 0, fmt.Errorf("find port %q: no such port: use one of %s", name, n.portNames())
}
