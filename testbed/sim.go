package testbed

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/control"
	"hpnn/internal/health"
	"hpnn/internal/pipeline"
	"hpnn/model"
	"hpnn/simbackend"
	"hpnn/testbed/simhost"
)

// SimConfig describes a Sim. The zero value is a good one.
type SimConfig struct {
	Seed     uint64
	Settings control.Settings
	// Wrap, if set, stands between the node and its switch: to fail on purpose.
	Wrap func(datapath.Bridge) datapath.Bridge
	// Log is told what the node's log would say; may be nil.
	Log func(at time.Time, line string)
	// Taps see every frame that passes the switch, and those that the node itself sends through it,
	// with an empty Injection.
	Taps []Tap
	// Committed is told the node's view after each step that changed something; may be nil.
	Committed func(control.View)
	// Alone reports whether nobody but the node changes the switch, unless Touch is called: comparisons
	// that can find nothing are then left out, which makes long times cheap. nil: somebody may.
	Alone func() bool
	// Frames is told what each host sends and receives; may be nil.
	Frames func(simhost.Entry)
}

// Sim is a whole site in virtual time: hosts, a switch, and a node in charge of it, on one clock and
// without goroutines. Two runs of the same calls do the same.
type Sim struct {
	*Stand
	Switch VirtualSwitch
	Core   *control.Core

	config   SimConfig
	wire     *wire
	bridge   datapath.Bridge
	prober   *prober
	admin    map[pipeline.MemberName]model.AdminState // kept over restarts of the node
	running  bool
	touched  bool              // the switch may not be as the node left it
	Outcomes []control.Outcome // what the control loop did, until somebody takes it
}

// NewSim builds the site of a valid topology in memory and starts its node.
func NewSim(t model.Topology, c SimConfig) (*Sim, error) {
	sw, err := newSimulated(t)
	if err != nil {
		return nil, err
	}
	return newSim(t, sw, c)
}

// newSim builds a site around a switch.
func newSim(t model.Topology, sw VirtualSwitch, c SimConfig) (*Sim, error) {
	if c.Log == nil {
		c.Log = func(time.Time, string) {}
	}
	wire := &wire{sw: sw, taps: c.Taps}
	world := simhost.New(simhost.Config{Seed: c.Seed, Switch: wire, Log: c.Frames})
	sw.OnOutput(func(o datapath.Output) {
		world.Output(uint32(o.Port), o.Frame)
		for _, tap := range c.Taps {
			tap(datapath.Injection{}, []datapath.Output{{Port: o.Port, Frame: slices.Clone(o.Frame)}}, simbackend.Verdict{})
		}
	})
	stand, err := NewStand(t, world)
	if err != nil {
		return nil, err
	}
	s := &Sim{Stand: stand, Switch: sw, config: c, wire: wire, bridge: sw, admin: map[pipeline.MemberName]model.AdminState{}}
	if c.Wrap != nil {
		s.bridge = c.Wrap(sw)
	}
	return s, s.StartNode()
}

// StartNode starts the node, which adopts what the switch holds, as a restarted daemon does.
func (s *Sim) StartNode() error {
	if s.running {
		return fmt.Errorf("start node: it is running")
	}
	now := s.World.Wall()
	s.forget()
	s.Core = control.New(s.bridge, s.Topology, s.config.Settings, now)
	for name, a := range s.admin {
		if err := s.Core.SetAdmin(name, a, now); err != nil {
			return fmt.Errorf("start node: %w", err)
		}
	}
	owners, err := s.Core.Adopt(context.Background(), now)
	if err != nil {
		s.log("switch cannot be read: %v", err)
	}
	s.prober = &prober{world: s.World, probes: s.Probes, report: s.verdict}
	t := s.Core.Effective()
	checks := health.Checks(t)
	seed(checks, t, owners)
	s.prober.update(checks)
	s.running, s.touched = true, true
	return nil
}

// forget drops what the switch had to say while nobody listened.
func (s *Sim) forget() {
	for len(s.Switch.Events()) > 0 {
		<-s.Switch.Events()
	}
}

// seed tells the checks of a restarted node which members owned slots.
func seed(checks []health.Check, t model.Topology, owners []pipeline.MemberName) {
	if len(owners) == 0 {
		return
	}
	up := map[pipeline.MemberName]bool{}
	for _, o := range owners {
		up[o] = true
	}
	for i, c := range checks {
		switch {
		case up[pipeline.MemberName{Pool: c.ID.Pool, Member: c.Name}]:
			checks[i].Seed = health.SeenUp
		case c.Admin == model.Enabled:
			checks[i].Seed = health.SeenDown
		}
	}
}

// StopNode ends the node as kill -9 does: the switch goes on by itself. Results of probes under way
// do not matter any more.
func (s *Sim) StopNode() {
	s.running = false
	s.prober.report = func(health.Check, health.Transition) {}
}

// Running reports whether the node runs.
func (s *Sim) Running() bool { return s.running }

// Touch says that the switch may not be as the node left it.
func (s *Sim) Touch() { s.touched = true }

// Reapply makes the node compare the switch with what it should hold at once.
func (s *Sim) Reapply() {
	s.touched = true
	s.Core.Reapply(s.World.Wall())
}

// RestartSwitch makes the switch lose its flows and connections, as a restart of ovs-vswitchd does,
// and tells the node that it is there again.
func (s *Sim) RestartSwitch() error {
	s.touched = true
	if err := s.Switch.Restart(context.Background()); err != nil {
		return err
	}
	if s.running {
		s.Core.Event(datapath.Event{Kind: datapath.Disconnected}, s.World.Wall())
		s.Core.Event(datapath.Event{Kind: datapath.Connected}, s.World.Wall())
	}
	return nil
}

// log tells the node's log.
func (s *Sim) log(format string, args ...any) {
	s.config.Log(s.World.Wall(), fmt.Sprintf(format, args...))
}

// verdict takes a change of a member's health.
func (s *Sim) verdict(c health.Check, t health.Transition) {
	name := pipeline.MemberName{Pool: c.ID.Pool, Member: c.Name}
	if t.Happened() {
		s.log("member %v is %v: %s", name, t.To, t.Because)
	}
	s.Core.Verdict(name, t.To, s.World.Wall())
}

// SetAdmin drains or enables a member.
func (s *Sim) SetAdmin(name pipeline.MemberName, a model.AdminState) error {
	if err := s.Core.SetAdmin(name, a, s.World.Wall()); err != nil {
		return err
	}
	s.admin[name] = a
	s.prober.update(health.Checks(s.Core.Effective()))
	return nil
}

// SetTopology puts another topology in force in the node. The hosts stay as they are.
func (s *Sim) SetTopology(t model.Topology) {
	s.Topology = t
	s.Core.SetTopology(t, s.World.Wall())
	s.prober.update(health.Checks(s.Core.Effective()))
}

// Health is a member's health.
func (s *Sim) Health(name pipeline.MemberName) (health.Status, bool) {
	for id, w := range s.prober.members {
		if id.Pool == name.Pool && w.check.Name == name.Member {
			return w.tracker.Status(), true
		}
	}
	return health.Status{}, false
}

// Advance lets d pass: hosts talk, probes run, the node decides.
func (s *Sim) Advance(d time.Duration) { s.Until(func() bool { return false }, d) }

// Until lets time pass until done says so, and reports whether it did before limit had passed. It
// looks after every event.
func (s *Sim) Until(done func() bool, limit time.Duration) bool {
	end := s.World.Now() + limit
	for !done() {
		at, ok := s.next()
		if !ok || at > end {
			s.World.AdvanceTo(end)
			s.Switch.Advance(end)
			return done()
		}
		s.turn(at)
	}
	return true
}

// next is when something happens next.
func (s *Sim) next() (at time.Duration, ok bool) {
	at, ok = s.World.Next()
	earlier := func(t time.Duration) {
		if t = max(t, s.World.Now()); !ok || t < at {
			at, ok = t, true
		}
	}
	if s.running {
		earlier(s.sinceStart(s.Core.Due()))
		if t, any := s.prober.wake(); any {
			earlier(t)
		}
	}
	return at, ok
}

// turn lets happen what is due at a time: one event of the hosts, or a turn of the node.
func (s *Sim) turn(at time.Duration) {
	if t, ok := s.World.Next(); ok && t <= at {
		s.World.Step()
	} else {
		s.World.AdvanceTo(at)
		s.Switch.Advance(at)
	}
	if !s.running {
		return
	}
	s.events()
	if t, any := s.prober.wake(); any && t <= s.World.Now() {
		s.prober.launch()
	}
	now := s.World.Wall()
	if !s.touched && s.config.Alone != nil && s.config.Alone() {
		s.Core.Untouched(now)
	}
	if !s.Core.Due().After(now) {
		s.step(now)
	}
}

// events takes what the switch has to say.
func (s *Sim) events() {
	for len(s.Switch.Events()) > 0 {
		e := <-s.Switch.Events()
		if e.Kind != datapath.PacketIn {
			s.Core.Event(e, s.World.Wall())
		} else if err := control.Reject(context.Background(), s.bridge, e.Packet); err != nil {
			s.log("%v", err)
		}
	}
}

func (s *Sim) step(now time.Time) {
	out := s.Core.Step(context.Background(), now)
	if out.Err != nil {
		s.log("switch not in step: %v", out.Err)
	}
	for _, p := range out.Pools {
		if p.Before == ([32]byte{}) && len(out.Bundle) == 0 {
			continue // it was adopted: nothing changed
		}
		s.log("pool %s: digest %x, %v", p.Pool, p.After[:8], p.Report)
	}
	if out.Repaired() {
		s.log("repaired %d flows", len(out.Bundle))
	}
	s.touched = s.touched && out.Err != nil
	if out.Err != nil || len(out.Bundle) > 0 || len(out.Pools) > 0 {
		s.Outcomes = append(s.Outcomes, out)
	}
	if s.config.Committed != nil && (out.Changed || len(out.Bundle) > 0 || out.Flushed > 0) {
		s.config.Committed(s.Core.View())
	}
}

func (s *Sim) sinceStart(t time.Time) time.Duration { return t.Sub(s.World.Wall()) + s.World.Now() }

// Flows are the switch's flows.
func (s *Sim) Flows() []openflow.FlowEntry {
	flows, err := s.Switch.Flows(context.Background())
	if err != nil {
		panic(fmt.Sprintf("testbed: the switch of a running site does not answer: %v", err))
	}
	return flows
}
