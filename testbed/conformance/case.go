package conformance

import (
	"fmt"
	"time"

	"hpnn/datapath/openflow"
	"hpnn/simbackend"
	"hpnn/testbed/dummy"
)

// Case is what a switch is given.
type Case struct {
	// Note is prose for people: what the case is about.
	Note string
	// Flows are what the switch starts with. No two of one priority overlap in a table.
	Flows []openflow.Flow
	// Events happen one after the other.
	Events []Event
}

// Event is one thing that happens to a switch: a Frame, an Advance or a Commit.
type Event interface{ event() }

// Frame is a frame that arrives at a port of the switch: 1 to Ports, or LOCAL.
type Frame struct {
	Port  openflow.PortNo
	Bytes []byte // at least an Ethernet header
}

// Advance is time that passes: whole seconds, since both switches then expire the same.
type Advance struct{ By time.Duration }

// Commit is a bundle of changes to the flows.
type Commit struct{ Bundle openflow.Bundle }

func (Frame) event()   {}
func (Advance) event() {}
func (Commit) event()  {}

// Ports is how many ports the switches have besides LOCAL. They are named p1, p2 and so on.
const Ports = 4

func portName(n openflow.PortNo) string {
	if n == openflow.PortLocal {
		return dummy.Local
	}
	return fmt.Sprintf("p%d", n)
}

func simulatedPorts() []simbackend.Port {
	ports := make([]simbackend.Port, Ports)
	for i := range ports {
		n := openflow.PortNo(i + 1)
		ports[i] = simbackend.Port{Number: n, Name: portName(n)}
	}
	return ports
}

// allPorts lists the numbers of all ports.
func allPorts() []openflow.PortNo {
	var all []openflow.PortNo
	for i := range Ports {
		all = append(all, openflow.PortNo(i+1))
	}
	return append(all, openflow.PortLocal)
}

// initial is the bundle that gives a switch the flows of the case.
func (c Case) initial() openflow.Bundle {
	b := make(openflow.Bundle, len(c.Flows))
	for i, f := range c.Flows {
		b[i] = openflow.FlowMod{Command: openflow.Add, Flow: f}
	}
	return b
}

// flows yields every flow that the case speaks of, those of its bundles included.
func (c Case) flows(yield func(openflow.Flow) bool) {
	for _, f := range c.Flows {
		if !yield(f) {
			return
		}
	}
	for _, e := range c.Events {
		if commit, ok := e.(Commit); ok {
			for _, m := range commit.Bundle {
				if !yield(m.Flow) {
					return
				}
			}
		}
	}
}

// frames yields every frame of the case.
func (c Case) frames(yield func(Frame) bool) {
	for _, e := range c.Events {
		if f, ok := e.(Frame); ok && !yield(f) {
			return
		}
	}
}
