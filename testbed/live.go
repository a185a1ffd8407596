package testbed

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"hpnn/datapath"
	"hpnn/model"
	"hpnn/simbackend"
	"hpnn/testbed/simhost"
)

// Live is the machines of a topology and a simulated switch in real time, without a node: that is the
// daemon's part. Nothing of it touches the machine's own network.
type Live struct {
	*Stand
	Switch *simbackend.Switch

	mu    sync.Mutex
	tally Tally
}

// Tally counts the requests of a trickle.
type Tally struct {
	Asked   int            `json:"asked"`
	Failed  int            `json:"failed"`
	ByHost  map[string]int `json:"by_host"` // answers, by backend
	Last    string         `json:"last"`    // result
	LastErr string         `json:"last_error,omitempty"`
}

// NewLive builds the site of a valid topology.
func NewLive(t model.Topology) (*Live, error) {
	sw, err := simbackend.New(simbackend.Config{Ports: Ports(t)})
	if err != nil {
		return nil, err
	}
	world := simhost.New(simhost.Config{Switch: &wire{sw: simulated{sw}}, Epoch: time.Now()})
	sw.OnOutput(func(o datapath.Output) { // the switch is locked: the world must wait
		port, frame := uint32(o.Port), append([]byte(nil), o.Frame...)
		world.Post(func() { world.Output(port, frame) })
	})
	stand, err := NewStand(t, world)
	if err != nil {
		return nil, err
	}
	return &Live{Stand: stand, Switch: sw, tally: Tally{ByHost: map[string]int{}}}, nil
}

// Run lets the site live until the context is over.
func (l *Live) Run(ctx context.Context) error {
	l.World.Do(l.tick)
	return l.World.Run(ctx)
}

// tick keeps the switch's clock going when no frame comes.
func (l *Live) tick() {
	l.Switch.Advance(l.World.Now())
	l.World.After(time.Second, l.tick)
}

// Dial is the way of the node's probes: from the kernel behind the segment's probe port.
func (l *Live) Dial(ctx context.Context, network, local, remote string) (net.Conn, error) {
	source, err := netip.ParseAddr(local)
	host := l.Probes[source]
	if err != nil || host == nil {
		return nil, fmt.Errorf("dial %s: no segment has the probe address %q", remote, local)
	}
	return host.Dialer(simhost.DialOptions{}).DialContext(ctx, network, remote)
}

// Trickle has a host request a URL again and again, and counts how that goes.
func (l *Live) Trickle(host, url string, every time.Duration) error {
	h := l.World.Host(host)
	if h == nil {
		return fmt.Errorf("trickle from %s: no such host", host)
	}
	var ask func()
	ask = func() {
		h.Get(url, simhost.GetOptions{Timeout: 2 * time.Second}, l.count)
		l.World.After(every, ask)
	}
	l.World.Do(ask)
	return nil
}

func (l *Live) count(r simhost.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tally.Asked++
	l.tally.Last = r.String()
	if r.Err != nil {
		l.tally.Failed++
		l.tally.LastErr = r.Err.Error()
		return
	}
	l.tally.ByHost[r.Backend]++
}

// Tally is the count so far.
func (l *Live) Tally() Tally {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tally
	t.ByHost = map[string]int{}
	for host, n := range l.tally.ByHost {
		t.ByHost[host] = n
	}
	return t
}

// verbs are what can be done to a host.
var verbs = map[string]func(h *simhost.Host) error{
	"kill":   func(h *simhost.Host) error { h.Kill(); return nil },
	"revive": (*simhost.Host).Revive,
	"pause":  func(h *simhost.Host) error { h.Pause(simhost.Processes); return nil },
	"resume": func(h *simhost.Host) error { h.Resume(); return nil },
	"cut":    func(h *simhost.Host) error { h.Cut(); return nil },
	"mend":   func(h *simhost.Host) error { h.Mend(); return nil },
}

// Verbs lists what Act can do, in the order of opposites.
func Verbs() []string { return []string{"kill", "revive", "pause", "resume", "cut", "mend"} }

// Act does something to a host: kills its processes, revives them, pauses, resumes, cuts its cable, mends it.
func (l *Live) Act(verb, host string) (err error) {
	act, known := verbs[verb]
	if !known {
		return fmt.Errorf("%q is nothing that can be done to a host: use one of %v", verb, Verbs())
	}
	l.World.Do(func() {
		h := l.World.Host(host)
		if h == nil {
			err = fmt.Errorf("no host is called %q: use one of %v", host, l.names())
			return
		}
		err = act(h)
	})
	return err
}

func (l *Live) names() (names []string) {
	for _, h := range l.World.Hosts() {
		names = append(names, h.Name())
	}
	return names
}

// HostState is a host and how it is.
type HostState struct {
	Name      string `json:"name"`
	Address   string `json:"address"`
	Port      uint32 `json:"port"`
	Condition string `json:"condition"`
}

// Hosts lists the hosts.
func (l *Live) Hosts() (all []HostState) {
	l.World.Do(func() {
		for _, h := range l.World.Hosts() {
			all = append(all, HostState{h.Name(), h.Address().String(), h.Port(), h.Condition()})
		}
	})
	return all
}
