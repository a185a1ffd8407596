package control

import (
	"fmt"
	"slices"
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/health"
	"hpnn/internal/pipeline"
	"hpnn/model"
)

// Settings are the loop's times. The zero value means the defaults.
type Settings struct {
	Settle   time.Duration // how long changes are gathered into one bundle; default 20 ms
	Resync   time.Duration // how often the switch is compared with what it should hold; default 1 s
	RetryMin time.Duration // the wait after a first failure; doubles up to RetryMax; default 100 ms
	RetryMax time.Duration // default 5 s
}

func (s Settings) withDefaults() Settings {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&s.Settle, 20*time.Millisecond)
	set(&s.Resync, time.Second)
	set(&s.RetryMin, 100*time.Millisecond)
	set(&s.RetryMax, 5*time.Second)
	return s
}

// Core is the state of the loop: what is wanted, what is known, and what is still to be done.
type Core struct {
	settings Settings
	bridge   datapath.Bridge

	topology model.Topology
	admin    map[pipeline.MemberName]model.AdminState // the operator's word, over the topology's
	down     map[pipeline.MemberName]bool
	doubted  map[pipeline.MemberName]bool // adopted as down: who found them so may not have come to flush their connections
	layouts  pipeline.Layouts             // the last that was committed or adopted
	moves    map[uint16]lastMove          // of each pool's slots, by the pool's id
	flushes  []datapath.ConnFilter
	again    []lateFlush

	changed  bool      // something that the program depends on
	due      time.Time // when to do the next step
	compared time.Time // when all that the switch holds was last compared with all that it should
	trusted  bool      // the switch held the program of layouts when it was last looked at or changed
	rendered rendering // the last program
	backoff  time.Duration
	failure  error // of the last attempt; nil after a success
	failures int   // attempts that failed since the start
	repairs  int   // steps that found the switch altered
	commits  int   // bundles that took effect
}

// New starts a Core for a valid topology. Until Adopt or a verdict says otherwise, members are as
// their monitor's initial state has it. The first step is due at once.
func New(b datapath.Bridge, t model.Topology, s Settings, now time.Time) *Core {
	c := &Core{
		settings: s.withDefaults(), bridge: b, topology: t, due: now, changed: true,
		admin: map[pipeline.MemberName]model.AdminState{}, down: map[pipeline.MemberName]bool{}, doubted: map[pipeline.MemberName]bool{},
		moves: map[uint16]lastMove{},
	}
	for name, m := range c.members() {
		c.down[name] = !startsUp(m.pool)
	}
	return c
}

// startsUp reports whether members of a pool are up before anything is known of them.
func startsUp(p model.Pool) bool {
	return p.Health.Type == model.MonitorNone || p.Health.Initial == model.InitialUp
}

// placed is a member in its pool.
type placed struct {
	pool   model.Pool
	member model.Member
}

// members yields every member of every pool.
func (c *Core) members() map[pipeline.MemberName]placed {
	all := map[pipeline.MemberName]placed{}
	for _, p := range c.topology.Pools {
		for _, m := range p.Members {
			all[pipeline.MemberName{Pool: p.Name, Member: m.Name}] = placed{p, m}
		}
	}
	return all
}

// Verdict tells the core that a member is up or down. A member that goes down, or is proved to be as it
// was adopted, has its tracked connections forgotten, so that a client that tries again reaches a live one.
func (c *Core) Verdict(name pipeline.MemberName, s health.State, now time.Time) {
	m, known := c.members()[name]
	down := s == health.Down
	proved := down && c.doubted[name]
	delete(c.doubted, name)
	if !known || c.down[name] == down && !proved {
		return
	}
	c.down[name] = down
	if down {
		c.flushes = append(c.flushes, pipeline.Connections(m.member)...)
	}
	c.touch(now)
}

// SetAdmin drains or enables a member, whatever the topology says. Connections of a drained member live on.
func (c *Core) SetAdmin(name pipeline.MemberName, admin model.AdminState, now time.Time) error {
	if _, ok := c.members()[name]; !ok {
		return fmt.Errorf("set %v: no such member", name)
	}
	c.admin[name] = admin
	c.touch(now)
	return nil
}

// SetTopology replaces the topology by another valid one. What is known of members that stay is
// kept; members that go have their connections forgotten.
func (c *Core) SetTopology(t model.Topology, now time.Time) {
	before := c.members()
	c.topology, c.trusted, c.rendered = t, false, rendering{}
	after := c.members()
	for name, m := range before {
		if n, ok := after[name]; !ok || n.member.Key() != m.member.Key() {
			c.flushes = append(c.flushes, pipeline.Connections(m.member)...)
			delete(c.down, name)
			delete(c.doubted, name)
			delete(c.admin, name)
		}
	}
	for name, m := range after {
		if _, ok := c.down[name]; !ok {
			c.down[name] = !startsUp(m.pool)
		}
	}
	c.touch(now)
}

// Reapply makes the next step compare at once.
func (c *Core) Reapply(now time.Time) { c.due, c.trusted = now, false }

// Event tells the core what happened at the switch.
func (c *Core) Event(e datapath.Event, now time.Time) {
	if e.Kind == datapath.Connected {
		c.backoff, c.due, c.trusted = 0, now, false
	}
}

// touch notes a change: the next step waits for more to come, but not for long.
func (c *Core) touch(now time.Time) {
	if at := now.Add(c.settings.Settle); !c.changed && at.Before(c.due) {
		c.due = at
	}
	c.changed = true
}

// Due is when Step is to be called next.
func (c *Core) Due() time.Time { return c.due }

// Effective is the topology with the operator's word in it.
func (c *Core) Effective() model.Topology {
	t := c.topology
	t.Pools = slices.Clone(t.Pools)
	for i, p := range t.Pools {
		t.Pools[i].Members = slices.Clone(p.Members)
		for j, m := range p.Members {
			if a, ok := c.admin[pipeline.MemberName{Pool: p.Name, Member: m.Name}]; ok {
				t.Pools[i].Members[j].Admin = a
			}
		}
	}
	return t
}

// Program is what the switch should hold.
func (c *Core) Program() openflow.Program {
	t := c.Effective()
	return pipeline.Render(t, c.wanted(t))
}

// wanted lays out the slots. A pool without a live member that is to keep its last layout does so.
func (c *Core) wanted(t model.Topology) pipeline.Layouts {
	layouts := pipeline.Layout(t, pipeline.State{Down: c.down})
	for _, p := range t.Pools {
		last, known := c.layouts[p.ID]
		if p.NoLiveMember == model.LastKnown && known && !owned(layouts[p.ID]) && last.Slots() == int(p.Slots) {
			layouts[p.ID] = last
		}
	}
	return layouts
}
