package testbed

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/control"
	"hpnn/internal/health"
	"hpnn/internal/packet"
	"hpnn/internal/pipeline"
	"hpnn/model"
)

// Bed is a place where a story can happen: the machines of a topology, a switch, and a node in
// charge of it. Every bed runs the same stories as far as it can; what it cannot do it says.
type Bed interface {
	// Name is what --bed calls it.
	Name() string
	// Can is nil if the bed has a feature, and else says why it has not.
	Can(f Feature) error
	// Now is the time since the site was built.
	Now() time.Duration
	// Until lets time pass until done says so, and reports whether it did before limit had passed.
	Until(done func() bool, limit time.Duration) bool
	Hosts() Hosts
	Node() Node
	Switch() Switch
	// Close takes the site away.
	Close() error
}

// ErrLacking is why a bed cannot be opened on this machine at all; what wraps it says what is missing.
var ErrLacking = errors.New("this machine cannot run the bed")

// ErrUnfit is why a bed cannot be opened for a topology; what wraps it says what of it.
var ErrUnfit = errors.New("the bed has no room for the topology")

// Keeper is a Bed that can write what helps to find out why a story failed to a directory.
type Keeper interface {
	Keep(ctx context.Context, dir string) error
}

// Counter is a bridge that forwards by what it has cached of its flows: their counters lag behind what has passed, and the cache
// behind changes.
type Counter interface {
	// Count lets both take in all that was before the call.
	Count(ctx context.Context) error
}

// Hosts are the machines around the switch. Names that are none are errors.
type Hosts interface {
	// List lists the machines, clients and members alike, in the order they were added.
	List() []Machine
	// Get begins an HTTP request.
	Get(host, url string, o GetOptions) (Request, error)
	// Ping begins an echo request.
	Ping(host string, to netip.Addr, o PingOptions) (Request, error)
	// Do does something to a machine.
	Do(host string, a Act) error
	// Send sends a frame as it is, whatever addresses it bears.
	Send(host string, frame []byte) error
	// Served is how many requests for a path have reached a host's web server since it started.
	Served(host, path string) (int, error)
}

// Machine is one of the Hosts.
type Machine struct {
	Name    string
	Address netip.Addr
	MAC     packet.MAC
	Port    openflow.PortNo // of the switch
	Role    Role
}

// Role says what a machine is for.
type Role uint8

// Possible roles.
const (
	Client Role = iota + 1 // and any other machine that is none of the below
	Member                 // of a pool
	Kernel                 // the node's own, from where probes leave
)

// String is the role's name.
func (r Role) String() string {
	return [...]string{"", "client", "member", "the node's kernel"}[r]
}

// GetOptions describe an HTTP request. Each has a connection of its own.
type GetOptions struct {
	Timeout   time.Duration // for all of it; 30 s if 0
	LocalPort uint16        // any free one if 0
	Reuse     bool          // of the port, though another connection may still hold it
	TTL       uint8         // of every packet; 64 if 0
}

// PingOptions describe an echo request.
type PingOptions struct {
	Timeout time.Duration // 1 s if 0
	TTL     uint8         // 64 if 0
}

// Request is something that was asked and may not be answered yet.
type Request interface {
	Done() bool
	// Answer is how it ended or, until it does, what has come so far.
	Answer() Answer
}

// Answer is how a Request ended.
type Answer struct {
	Status int    // of HTTP; 0 if no answer came
	Body   string // of HTTP, as far as it came
	TTL    uint8  // of an echo reply, as it arrived
	Err    error  // nil, or one that errors.Is finds an errno of package syscall in
}

// An Act is something done to a machine.
type Act struct {
	Kind ActKind
	By   time.Duration // of Delay
}

// ActKind says what an Act does.
type ActKind uint8

// Possible acts.
const (
	Freeze  ActKind = iota + 1 // the processes stand still, as after docker pause; the kernel lives
	Suspend                    // the whole machine stands still
	Thaw                       // it goes on
	Kill                       // the processes end at once; the kernel closes their ports and connections
	Revive                     // they are started anew
	Cut                        // the cable is unplugged
	Mend                       // and plugged in
	Delay                      // every frame takes longer, either way
	Sicken                     // the web server says 503 to probes
	Heal                       // and 200 again
)

// Node is what is in charge of the switch.
type Node interface {
	// Start starts it; it adopts what the switch holds.
	Start() error
	// Kill ends it as kill -9 does. The switch goes on by itself.
	Kill() error
	SetAdmin(member pipeline.MemberName, a model.AdminState) error
	// Reload puts another topology in force. The machines stay as they are.
	Reload(t model.Topology) error
	// Reapply makes it compare the switch with what it should hold at once.
	Reapply() error
	State() NodeState
	// Program is what the node wants the switch to hold.
	Program() openflow.Program
}

// NodeState is what a node knows. One that does not run knows what it knew.
type NodeState struct {
	Running  bool
	Topology model.Topology // with the operator's word in it
	View     control.View
	Health   map[pipeline.MemberName]health.Status
	// Due is how long the node may still wait before it acts on a change it knows of; 0 if there is
	// none.
	Due time.Duration
}

// Switch is a bed's switch.
type Switch interface {
	// Bridge is the switch as it is: the faults injected are between it and the node only.
	Bridge() datapath.Bridge
	// Restart makes it lose its flows and connections, as a restart of ovs-vswitchd does.
	Restart() error
	// Fail makes calls of the node fail; the zero Outage ends that. It returns how many calls have failed so far.
	Fail(o Outage) (failed int)
}

// BedConfig describes a site. The zero value is a good one.
type BedConfig struct {
	Seed uint64
	// Tap sees every frame that passes the switch on a bed that has the feature Taps; with Fates alone, those that a host was
	// told to send.
	Tap Tap
	// Heard is told what each host sends and receives.
	Heard func(Heard)
	// Log is told what the node's log would say.
	Log func(at time.Duration, line string)
	// Committed is told the node's view after each of its steps that changed something.
	Committed func(control.View)
}

// Heard is a frame at a host's end of its cable. It may be kept, but not changed.
type Heard struct {
	At    time.Duration
	Host  string
	Sent  bool // by the host; else received
	Frame []byte
}
