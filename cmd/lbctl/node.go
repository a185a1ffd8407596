package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hpnn/datapath/openflow"
	"hpnn/internal/pipeline"
	"hpnn/internal/replay"
	"hpnn/model"
	"hpnn/simbackend"
)

// origin says where a node comes from: a topology, whose members may be down or drained, or a file
// of flows and the names of the ports.
type origin struct {
	topology    string
	down, drain []string
	flows       string
	ports       string
}

// bindTopology adds the flags of a command that needs a topology.
func (o *origin) bindTopology(c *cobra.Command) {
	c.Flags().StringVar(&o.topology, "topology", "", "the topology's `FILE`")
}

// bindMembers adds the flags that take members out.
func (o *origin) bindMembers(c *cobra.Command) {
	c.Flags().StringSliceVar(&o.down, "down", nil, "a `MEMBER` that is dead; repeat it for more, pool/member if the name is not enough")
	c.Flags().StringSliceVar(&o.drain, "drain", nil, "a `MEMBER` that takes no new connections; likewise")
}

// bindFlows adds the flags of a command that can also do with flows.
func (o *origin) bindFlows(c *cobra.Command) {
	c.Flags().StringVar(&o.flows, "flows", "", "in place of a topology: a `FILE` of flows, as add-flows reads or dump-flows prints them")
	c.Flags().StringVar(&o.ports, "ports", "", "with --flows: a `LIST` of the ports, their names and OpenFlow numbers, as pub0=1,be1=10")
}

// load reads the topology and the state of its members.
func (o *origin) load(c *cobra.Command) (t model.Topology, s pipeline.State, err error) {
	if o.topology == "" {
		return t, s, usage(c, "--topology FILE is needed")
	}
	if t, err = model.Load(o.topology); err != nil {
		return t, s, err
	}
	if s.Down, err = members(t, o.down); err != nil {
		return t, s, fmt.Errorf("--down: %w", err)
	}
	if s.Drained, err = members(t, o.drain); err != nil {
		return t, s, fmt.Errorf("--drain: %w", err)
	}
	return t, s, nil
}

func members(t model.Topology, names []string) (map[pipeline.MemberName]bool, error) {
	set := map[pipeline.MemberName]bool{}
	for _, name := range names {
		found, err := pipeline.FindMembers(t, name)
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			set[m] = true
		}
	}
	return set, nil
}

// site is a node and, if it was rendered from one, its topology.
type site struct {
	replay.Node
	topology *model.Topology
}

// node makes the node that the flags speak of.
func (o *origin) node(c *cobra.Command) (site, error) {
	switch {
	case (o.topology == "") == (o.flows == ""):
		return site{}, usage(c, "one of --topology and --flows is needed")
	case o.flows != "":
		n, err := o.fromFlows(c)
		return site{Node: n}, err
	case o.ports != "":
		return site{}, usage(c, "--ports goes with --flows: a topology names its ports itself")
	}
	t, s, err := o.load(c)
	if err != nil {
		return site{}, err
	}
	return site{replay.FromTopology(t, s), &t}, nil
}

func (o *origin) fromFlows(c *cobra.Command) (replay.Node, error) {
	if len(o.down)+len(o.drain) > 0 {
		return replay.Node{}, usage(c, "--down and --drain go with --topology: flows know no members")
	}
	ports, err := parsePorts(o.ports)
	if err != nil {
		return replay.Node{}, usage(c, "--ports: %v", err)
	}
	file, err := os.Open(o.flows)
	if err != nil {
		return replay.Node{}, fmt.Errorf("read flows: %w", err)
	}
	defer file.Close()
	program, err := openflow.ParseProgram(o.flows, file, openflow.WithPorts(numbers(ports)))
	if err != nil {
		return replay.Node{}, err
	}
	return replay.FromFlows(program, ports), nil
}

// parsePorts reads "pub0=1,be1=10".
func parsePorts(text string) ([]simbackend.Port, error) {
	if text == "" {
		return nil, fmt.Errorf("name the ports that the flows speak of, as pub0=1,be1=10")
	}
	var ports []simbackend.Port
	for each := range strings.SplitSeq(text, ",") {
		name, number, found := strings.Cut(strings.TrimSpace(each), "=")
		n, err := strconv.ParseUint(number, 10, 16)
		if !found || err != nil || name == "" || strings.ContainsAny(name, `/\ `) {
			return nil, fmt.Errorf("%q is no port: write NAME=NUMBER, as pub0=1", each)
		}
		ports = append(ports, simbackend.Port{Name: name, Number: openflow.PortNo(n)})
	}
	return ports, nil
}

func numbers(ports []simbackend.Port) map[string]openflow.PortNo {
	m := map[string]openflow.PortNo{}
	for _, p := range ports {
		m[p.Name] = p.Number
	}
	return m
}

// title names a table: its number, and its name if it has one.
func title(n replay.Node, id openflow.TableID) string {
	if t, ok := n.Table(id); ok {
		return fmt.Sprintf("%d %s", id, t.Name)
	}
	return strconv.Itoa(int(id))
}

// portTitle names a port and its number.
func portTitle(n replay.Node, number openflow.PortNo) string {
	name := n.PortName(number)
	if name == number.String() {
		return name
	}
	return fmt.Sprintf("%s (%v)", name, number)
}
