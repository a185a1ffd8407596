//go:build linux

package realtime

import (
	"context"
	"errors"

	"hpnn/datapath"
	"hpnn/internal/api"
	"hpnn/model"
	"hpnn/testbed"
)

// Beyond says why no site in real time has a feature, or is nil.
func Beyond(f testbed.Feature) error {
	switch f {
	case testbed.VirtualTime:
		return errors.New("time is the real one")
	case testbed.FailSwitch:
		return errors.New("nothing stands between the daemon and its switch")
	case testbed.SlowCables:
		return errors.New("the kernel's delay line, netem, is not used")
	}
	return nil
}

// Site is what somebody has built: machines, a switch, and a daemon that does not run yet.
type Site interface {
	// Name is the bed's.
	Name() string
	// Can is nil if the site has a feature, and else says why it has not.
	Can(f testbed.Feature) error
	// Machines are in the order of testbed.Hosts.List.
	Machines() []Machine
	Daemon() Daemon
	// Bridge connects to the switch, after the daemon was started for the first time.
	Bridge(ctx context.Context) (datapath.Bridge, error)
	// RestartSwitch makes the switch lose its flows and connections. It returns when the switch runs again.
	RestartSwitch(ctx context.Context) error
	// Close takes everything away. It may be called more than once.
	Close() error
}

// Watched is a Site that knows what becomes of each frame: it has the feature testbed.Taps.
type Watched interface {
	// Watch calls tap for every frame that passes the switch from then on, in order, also after a restart of the switch. It is
	// called once.
	Watch(tap testbed.Tap) error
}

// Machine is a machine with a network namespace.
type Machine interface {
	// About is what the bed says of it.
	About() testbed.Machine
	// Device is the name of its network card.
	Device() string
	// Enter calls f on a thread that is in its network namespace. Sockets that f opens stay there.
	Enter(f func() error) error
	// Web is the TCP port of its first web server, 0 if it has none. The server is cmd/backend.
	Web() uint16
	// Act does something to it. Sicken and Heal never come here.
	Act(a testbed.Act) error
}

// Daemon is hcd, as a process.
type Daemon interface {
	// Start starts it and returns when its API answers.
	Start(ctx context.Context) error
	// Kill ends it as kill -9 does.
	Kill() error
	// Reload gives it another topology to read and tells it to.
	Reload(t model.Topology) error
	API() *api.Client
	// Log is the path of the file that it appends its log to, as JSON.
	Log() string
}
