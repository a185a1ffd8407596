package ovsbackend

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
)

// Config says which switch to speak to and what its bridge is to look like.
type Config struct {
	// RunDir is where ovs-vswitchd keeps its sockets, such as /run/openvswitch. There is no default.
	RunDir string
	// Database is the address of ovsdb-server, "unix:PATH"; if empty, RunDir's db.sock.
	Database string
	// Control is the path of ovs-vswitchd's control socket; if empty, the one in RunDir that its pid
	// file tells.
	Control string
	// Bridge is created if it is not there, and adopted if it is.
	Bridge string
	// DatapathType is "system" or "netdev". If empty, a bridge that exists keeps its own, and a new one is
	// "system" where the kernel has Open vSwitch's module, else "netdev". See Info.
	DatapathType string
	// Ports must be on the bridge. Others that are there stay.
	Ports []PortConfig
	// Wording is the form in which flows go to the switch and come back.
	Wording Wording
	// Changed is called whenever what Info tells has changed, from Open on; one call at a time. It must not wait for
	// the Bridge.
	Changed func(Info)
	// Timeout bounds each call, whatever its context allows; 0: DefaultTimeout.
	Timeout time.Duration
}

// Wording is a form of flows.
type Wording uint8

// Possible Wording values. Both mean the same.
const (
	// Binary is OpenFlow messages on the connection that stays open. What has no such form takes the way of Text.
	Binary Wording = iota
	// Text is what ovs-ofctl reads and prints: a process for each call.
	Text
)

// DefaultTimeout bounds calls if Config does not.
const DefaultTimeout = 10 * time.Second

// PortConfig is a port of the bridge.
type PortConfig struct {
	Name   string          // of the network device
	Number openflow.PortNo // its OpenFlow number, 1 to 0xfeff
	// Internal: the device is made by the switch and belongs to this host, which sends and receives
	// through it; the rest is meant for such ports only.
	Internal   bool
	MAC        packet.MAC   // zero: as the switch chooses
	Address    netip.Prefix // the host's own, with the length of the segment's prefix; zero: none
	Neighbours []Neighbour  // static, so that the host need not ask
	Routes     []Route      // to single hosts that are behind a neighbour
}

// Route is the way to a host behind a neighbour.
type Route struct{ To, Via netip.Addr }

// Neighbour is an entry of the host's neighbour table.
type Neighbour struct {
	Address netip.Addr
	MAC     packet.MAC
}

var (
	bridgeName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,14}$`)
	portName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$`)
)

// complete fills in defaults and checks.
func (c Config) complete() (Config, error) {
	if c.RunDir == "" {
		return c, errors.New("no run directory: name the one of the ovs-vswitchd to use, such as /run/openvswitch")
	}
	var err error
	if c.RunDir, err = filepath.Abs(c.RunDir); err != nil {
		return c, err
	}
	if c.Database == "" {
		c.Database = "unix:" + filepath.Join(c.RunDir, "db.sock")
	}
	if !strings.HasPrefix(c.Database, "unix:") {
		return c, fmt.Errorf("database %q: only unix:PATH is understood", c.Database)
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Wording > Text {
		return c, fmt.Errorf("wording %d: only Binary and Text are known", c.Wording)
	}
	if !bridgeName.MatchString(c.Bridge) {
		return c, fmt.Errorf("bridge %q: a name is a letter and up to 14 letters, digits, dots, dashes, underscores", c.Bridge)
	}
	return c, checkPorts(c.Bridge, c.Ports)
}

func checkPorts(bridge string, ports []PortConfig) error {
	names, numbers := map[string]bool{bridge: true}, map[openflow.PortNo]bool{}
	for _, p := range ports {
		switch {
		case !portName.MatchString(p.Name):
			return fmt.Errorf("port %q: a name has up to 15 letters, digits, dots, dashes, underscores", p.Name)
		case p.Number == 0 || p.Number >= openflow.PortMax:
			return fmt.Errorf("port %s: the number %d is not between 1 and %d", p.Name, p.Number, openflow.PortMax-1)
		case names[p.Name] || numbers[p.Number]:
			return fmt.Errorf("port %s: name or number %d is taken by another port", p.Name, p.Number)
		case !p.Internal && (p.MAC != packet.MAC{} || p.Address.IsValid() || p.Neighbours != nil || p.Routes != nil):
			return fmt.Errorf("port %s: only an internal port has addresses of this host", p.Name)
		}
		names[p.Name], numbers[p.Number] = true, true
	}
	return nil
}

func (c Config) managementSocket() string { return filepath.Join(c.RunDir, c.Bridge+".mgmt") }
