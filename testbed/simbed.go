package testbed

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/health"
	"hpnn/internal/packet"
	"hpnn/internal/pipeline"
	"hpnn/model"
	"hpnn/testbed/simhost"
)

// simBed is a Sim as a Bed.
type simBed struct {
	name    string
	sim     *Sim
	breaker *breaker
	lacks   map[Feature]error
}

var (
	_ Bed    = simBed{}
	_ Hosts  = simHosts{}
	_ Node   = simNode{}
	_ Switch = simSwitch{}
)

// OpenSim builds a site in memory, in virtual time.
func OpenSim(t model.Topology, c BedConfig) (Bed, error) {
	sw, err := newSimulated(t)
	if err != nil {
		return nil, err
	}
	return openVirtual(simBed{name: "sim"}, t, sw, c)
}

// openVirtual builds a site around a switch and starts its node: of b, the rest is filled in. It takes the
// switch over.
func openVirtual(b simBed, t model.Topology, sw VirtualSwitch, c BedConfig) (Bed, error) {
	config := SimConfig{
		Seed: c.Seed, Committed: c.Committed,
		Alone: func() bool { return !b.breaker.active() },
		Wrap: func(sw datapath.Bridge) datapath.Bridge {
			b.breaker = newBreaker(sw, c.Seed)
			return b.breaker
		},
	}
	if c.Tap != nil {
		config.Taps = []Tap{c.Tap}
	}
	if c.Log != nil {
		config.Log = func(at time.Time, line string) { c.Log(at.Sub(simhost.DefaultEpoch), line) }
	}
	if c.Heard != nil {
		config.Frames = func(e simhost.Entry) {
			if e.Fate != simhost.Lost {
				c.Heard(Heard{e.At, e.Host.Name(), e.Fate == simhost.Sent, e.Frame})
			}
		}
	}
	var err error
	if b.sim, err = newSim(t, sw, config); err != nil {
		return nil, errors.Join(err, sw.Close())
	}
	return b, nil
}

// Name implements Bed.
func (b simBed) Name() string { return b.name }

// Can implements Bed.
func (b simBed) Can(f Feature) error { return b.lacks[f] }

// Now implements Bed.
func (b simBed) Now() time.Duration { return b.sim.World.Now() }

// Until implements Bed.
func (b simBed) Until(done func() bool, limit time.Duration) bool { return b.sim.Until(done, limit) }

// Hosts implements Bed.
func (b simBed) Hosts() Hosts { return simHosts{b.sim} }

// Node implements Bed.
func (b simBed) Node() Node { return simNode{b.sim} }

// Switch implements Bed.
func (b simBed) Switch() Switch { return simSwitch(b) }

// Close implements Bed.
func (b simBed) Close() error { return b.sim.Switch.Close() }

// simHosts are the hosts of a Sim.
type simHosts struct{ sim *Sim }

func (h simHosts) find(name string) (*simhost.Host, error) {
	host := h.sim.World.Host(name)
	if host == nil {
		return nil, fmt.Errorf("find host %q: there is none of this name", name)
	}
	return host, nil
}

// List implements Hosts.
func (h simHosts) List() (all []Machine) {
	for _, host := range h.sim.World.Hosts() {
		m := Machine{Name: host.Name(), Address: host.Address(), MAC: host.MAC(), Port: openflow.PortNo(host.Port()), Role: Client}
		switch {
		case h.sim.Webs[host.Name()] != nil:
			m.Role = Member
		case h.sim.Probes[host.Address()] == host:
			m.Role = Kernel
		}
		all = append(all, m)
	}
	return all
}

// Get implements Hosts.
func (h simHosts) Get(name, url string, o GetOptions) (Request, error) {
	host, err := h.find(name)
	if err != nil {
		return nil, err
	}
	dial := simhost.DialOptions{LocalPort: o.LocalPort, TTL: o.TTL}
	if o.Reuse {
		dial.Reuse = simhost.ReuseLocal
	}
	return simGet{host.Get(url, simhost.GetOptions{Timeout: o.Timeout, Dial: dial}, nil)}, nil
}

type simGet struct{ *simhost.Request }

// Answer implements Request.
func (g simGet) Answer() Answer {
	r := g.Result()
	return Answer{Status: r.Status, Body: string(r.Body), Err: r.Err}
}

// Ping implements Hosts.
func (h simHosts) Ping(name string, to netip.Addr, o PingOptions) (Request, error) {
	host, err := h.find(name)
	if err != nil {
		return nil, err
	}
	return simPing{host.Ping(to, simhost.PingOptions{Timeout: o.Timeout, TTL: o.TTL}, nil)}, nil
}

type simPing struct{ *simhost.Ping }

// Done implements Request.
func (p simPing) Done() bool {
	_, done := p.Result()
	return done
}

// Answer implements Request.
func (p simPing) Answer() Answer {
	r, _ := p.Result()
	return Answer{TTL: r.TTL, Err: r.Err}
}

// Do implements Hosts.
func (h simHosts) Do(name string, a Act) error {
	host, err := h.find(name)
	if err != nil {
		return err
	}
	switch a.Kind {
	case Freeze:
		host.Pause(simhost.Processes)
	case Suspend:
		host.Pause(simhost.Machine)
	case Thaw:
		host.Resume()
	case Kill:
		host.Kill()
	case Revive:
		return host.Revive()
	case Cut:
		host.Cut()
	case Mend:
		host.Mend()
	case Delay:
		host.Slow(a.By)
	case Sicken, Heal:
		return h.examine(name, a.Kind)
	}
	return nil
}

func (h simHosts) examine(name string, k ActKind) error {
	web := h.sim.Webs[name]
	if web == nil {
		return fmt.Errorf("find web server of %s: it has none", name)
	}
	web.SetHealth(simhost.Healthy)
	if k == Sicken {
		web.SetHealth(simhost.Unhealthy)
	}
	return nil
}

// Send implements Hosts.
func (h simHosts) Send(name string, frame []byte) error {
	host, err := h.find(name)
	if err != nil {
		return err
	}
	frame = packet.Pad(frame)
	h.sim.wire.watch(frame)
	host.Transmit(frame)
	return nil
}

// Served implements Hosts.
func (h simHosts) Served(name, path string) (int, error) {
	web := h.sim.Webs[name]
	if web == nil {
		return 0, fmt.Errorf("find web server of %q: it has none", name)
	}
	return web.Requests(path), nil
}

// simNode is the node of a Sim.
type simNode struct{ sim *Sim }

// Start implements Node.
func (n simNode) Start() error { return n.sim.StartNode() }

// Kill implements Node.
func (n simNode) Kill() error {
	if err := n.runs("kill node"); err != nil {
		return err
	}
	n.sim.StopNode()
	return nil
}

func (n simNode) runs(what string) error {
	if !n.sim.Running() {
		return fmt.Errorf("%s: it does not run", what)
	}
	return nil
}

// SetAdmin implements Node.
func (n simNode) SetAdmin(member pipeline.MemberName, a model.AdminState) error {
	if err := n.runs("tell node"); err != nil {
		return err
	}
	return n.sim.SetAdmin(member, a)
}

// Reload implements Node.
func (n simNode) Reload(t model.Topology) error {
	if err := n.runs("tell node"); err != nil {
		return err
	}
	n.sim.SetTopology(t)
	return nil
}

// Reapply implements Node.
func (n simNode) Reapply() error {
	if err := n.runs("tell node"); err != nil {
		return err
	}
	n.sim.Reapply()
	return nil
}

// State implements Node.
func (n simNode) State() NodeState {
	s := NodeState{
		Running: n.sim.Running(), Topology: n.sim.Core.Effective(), View: n.sim.Core.View(),
		Health: map[pipeline.MemberName]health.Status{},
	}
	for _, p := range s.Topology.Pools {
		for _, m := range p.Members {
			name := pipeline.MemberName{Pool: p.Name, Member: m.Name}
			s.Health[name], _ = n.sim.Health(name)
		}
	}
	if n.sim.Core.Pending() {
		s.Due = max(1, n.sim.Core.Due().Sub(n.sim.World.Wall()))
	}
	return s
}

// Program implements Node.
func (n simNode) Program() openflow.Program { return n.sim.Core.Program() }

// simSwitch is the switch of a Sim.
type simSwitch simBed

// Bridge implements Switch.
func (s simSwitch) Bridge() datapath.Bridge { return touching{s.sim.Switch, s.sim} }

// Restart implements Switch.
func (s simSwitch) Restart() error { return s.sim.RestartSwitch() }

// Fail implements Switch.
func (s simSwitch) Fail(o Outage) int {
	s.sim.Touch()
	return s.breaker.set(o)
}

// touching lets the site know when somebody else than the node changes the switch.
type touching struct {
	datapath.Bridge
	sim *Sim
}

// Commit implements datapath.Bridge.
func (t touching) Commit(ctx context.Context, b openflow.Bundle) error {
	t.sim.Touch()
	return t.Bridge.Commit(ctx, b)
}
