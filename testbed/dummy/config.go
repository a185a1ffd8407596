package dummy

import (
	"errors"
	"fmt"
	"regexp"
)

// Local is the name of the bridge and of its local port: Receive(ctx, Local, …) injects a frame as if the host had
// sent it, and frames that a flow sends to LOCAL appear in Outputs under this name.
const Local = "br0"

// LocalMAC is the Ethernet address of the bridge. It is fixed so that runs are alike.
const LocalMAC = "aa:55:aa:55:00:00"

const (
	maxPorts       = 1000
	firstReserved  = 0xff00     // OFPP_MAX of OpenFlow 1.0, which OVS keeps to
	localNumber    = 0xfffffffe // OFPP_LOCAL
	ethernetHeader = 14
)

// Port is one dummy port of the bridge.
type Port struct {
	// Name is the port's name in OVS: 1 to 15 letters, digits, dots, dashes and underscores.
	Name string
	// Number is its OpenFlow port number, 1 to 0xfeff.
	Number uint32
}

// Config describes a Switch.
type Config struct {
	// Dir is where the daemons keep database, sockets, logs and captures. It must exist, be empty and have a path
	// short enough for a Unix socket (about 90 bytes). Close leaves it and what is in it. If empty, Start makes a
	// temporary directory and Close removes it.
	Dir string
	// Ports are the ports of the bridge besides Local.
	Ports []Port
}

// NumberedPorts returns n ports named p1 to pn with OpenFlow numbers 1 to n. Their datapath numbers, which traces
// show, are the same.
func NumberedPorts(n int) []Port {
	ports := make([]Port, n)
	for i := range ports {
		ports[i] = Port{Name: fmt.Sprintf("p%d", i+1), Number: uint32(i + 1)}
	}
	return ports
}

var portName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,14}$`)

func (c Config) validate() error {
	if len(c.Ports) > maxPorts {
		return fmt.Errorf("check ports: %d are too many, the limit is %d", len(c.Ports), maxPorts)
	}
	names, numbers := map[string]bool{Local: true}, map[uint32]bool{}
	for i, p := range c.Ports {
		if err := p.validate(); err != nil {
			return fmt.Errorf("check port %d (%q): %w", i, p.Name, err)
		}
		if names[p.Name] || numbers[p.Number] {
			return fmt.Errorf("check port %d (%q): name or number %d is already taken", i, p.Name, p.Number)
		}
		names[p.Name], numbers[p.Number] = true, true
	}
	return nil
}

func (p Port) validate() error {
	if !portName.MatchString(p.Name) {
		return errors.New("the name must be a letter followed by up to 14 letters, digits, dots, dashes, underscores")
	}
	if p.Number == 0 || p.Number >= firstReserved {
		return fmt.Errorf("the number %d must be between 1 and %d", p.Number, firstReserved-1)
	}
	return nil
}

// accepts refuses what OVS would refuse after having taken some of the frames.
func (c Config) accepts(port string, frames [][]byte) error {
	if _, known := c.number(port); !known {
		return &RefusedError{Command: "receive", Words: fmt.Sprintf("no port %q in the configuration", port)}
	}
	for i, f := range frames {
		if len(f) < ethernetHeader {
			return &RefusedError{Command: "receive", Words: fmt.Sprintf(
				"frame %d has %d bytes, too short for an Ethernet header of %d", i, len(f), ethernetHeader)}
		}
	}
	return nil
}

// number returns the OpenFlow number of a port.
func (c Config) number(name string) (number uint32, known bool) {
	if name == Local {
		return localNumber, true
	}
	for _, p := range c.Ports {
		if p.Name == name {
			return p.Number, true
		}
	}
	return 0, false
}
