package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"hpnn/datapath"
	"hpnn/internal/control"
	"hpnn/internal/health"
	"hpnn/internal/pipeline"
	"hpnn/model"
)

// Config is what a node is made of.
type Config struct {
	Topology model.Topology // valid
	Bridge   datapath.Bridge
	Dial     health.Dial // how probes reach members; nil: by the machine's own network
	// StateFile keeps what operators drained over a restart; empty: it is forgotten.
	StateFile string
	Log       *slog.Logger // nil: silence
	Settings  control.Settings
	Observer  Observer // who counts what happens; may be nil
}

// Observer is told what happens, for metrics. Its methods must not wait.
type Observer interface {
	// Stepped: the control loop did something, or tried.
	Stepped(control.Outcome, time.Duration)
	// Probed: a probe ended.
	Probed(health.Event)
}

// silent is the Observer of those who do not care.
type silent struct{}

func (silent) Stepped(control.Outcome, time.Duration) {}
func (silent) Probed(health.Event)                    {}

// Node is a running node.
type Node struct {
	config  Config
	log     *slog.Logger
	started time.Time
	loop    *control.Loop
	admin   *adminStore

	mu       sync.Mutex // guards what follows
	topology model.Topology
	prober   *health.Runner

	rejects limiter // used by the loop alone
}

// New prepares a node: it reads the state file and adopts what the switch holds, so that a restart
// changes nothing for traffic. If the switch cannot be read now, the node starts all the same.
func New(ctx context.Context, c Config) (*Node, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Observer == nil {
		c.Observer = silent{}
	}
	store, err := openAdminStore(c.StateFile)
	if err != nil {
		return nil, err
	}
	n := &Node{config: c, log: c.Log, started: time.Now(), admin: store, topology: c.Topology}
	core := control.New(c.Bridge, c.Topology, c.Settings, n.started)
	n.restore(core)
	seeds := n.adopt(ctx, core)
	n.first(ctx, core)
	n.loop = control.NewLoop(core, control.Hooks{Outcome: n.stepped, PacketIn: n.reject})
	n.prober = health.Start(health.Config{Dial: c.Dial, Report: n.probed})
	return n, n.prober.Update(checks(core.Effective(), seeds))
}

// restore gives the core the operator's word from the state file. Members that are no more are forgotten.
func (n *Node) restore(core *control.Core) {
	for name, admin := range n.admin.all() {
		if err := core.SetAdmin(name, admin, n.started); err != nil {
			n.log.Warn("state file names a member that is not in the topology", "member", name.String())
			continue
		}
		n.log.Info("state restored", "member", name.String(), "admin", admin)
	}
}

// adopt takes the members that own slots in the switch for up. It returns what is known of each
// member, nil if nothing is.
func (n *Node) adopt(ctx context.Context, core *control.Core) map[health.ID]health.Seed {
	owners, err := core.Adopt(ctx, n.started)
	if err != nil {
		n.log.Warn("switch cannot be read; starting from the initial state", "error", err)
		return nil
	}
	if len(owners) == 0 {
		return nil
	}
	n.log.Info("adopted the slots that the switch holds", "members", fmt.Sprint(owners))
	up := map[pipeline.MemberName]bool{}
	for _, name := range owners {
		up[name] = true
	}
	seeds := map[health.ID]health.Seed{}
	for _, p := range core.Effective().Pools {
		for _, m := range p.Members {
			switch id := (health.ID{Pool: p.Name, Key: m.Key()}); {
			case up[pipeline.MemberName{Pool: p.Name, Member: m.Name}]:
				seeds[id] = health.SeenUp
			case m.Admin == model.Enabled && m.Weight > 0:
				seeds[id] = health.SeenDown
			}
		}
	}
	return seeds
}

// first fills the switch before the first probe leaves, for probes need the rules. If it fails, the
// loop tries again.
func (n *Node) first(ctx context.Context, core *control.Core) {
	out := core.Step(ctx, n.started)
	if out.Err != nil || len(out.Bundle) > 0 {
		n.stepped(out, time.Since(n.started))
	}
}

func checks(t model.Topology, seeds map[health.ID]health.Seed) []health.Check {
	all := health.Checks(t)
	for i := range all {
		all[i].Seed = seeds[all[i].ID]
	}
	return all
}

// Run probes and controls until the context is over. The rules stay in the switch.
func (n *Node) Run(ctx context.Context) error {
	defer n.prober.Stop()
	if err := n.loop.Run(ctx); err != nil {
		return fmt.Errorf("run control loop: %w", err)
	}
	return nil
}

// Bridge is the node's switch.
func (n *Node) Bridge() datapath.Bridge { return n.config.Bridge }

// Topology is the topology in force, with the operator's word in it.
func (n *Node) Topology(ctx context.Context) (t model.Topology, err error) {
	err = n.loop.Do(ctx, func(c *control.Core, _ time.Time) { t = c.Effective() })
	return t, err
}

// SetAdmin drains or enables the members that a person means by "member" or "pool/member". who is for the log.
func (n *Node) SetAdmin(ctx context.Context, member string, admin model.AdminState, who string) ([]pipeline.MemberName, error) {
	t, err := n.Topology(ctx)
	if err != nil {
		return nil, err
	}
	names, err := pipeline.FindMembers(t, member)
	if err != nil {
		return nil, err
	}
	var failed error
	err = n.loop.Do(ctx, func(c *control.Core, now time.Time) {
		for _, name := range names {
			failed = errors.Join(failed, c.SetAdmin(name, admin, now))
		}
		t = c.Effective()
	})
	if err := errors.Join(err, failed); err != nil {
		return nil, err
	}
	for _, name := range names {
		n.log.Info("member set", "member", name.String(), "admin", admin, "by", who)
	}
	return names, errors.Join(n.admin.set(names, admin), n.watch(t))
}

// watch tells the prober of a changed topology.
func (n *Node) watch(t model.Topology) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.topology = t
	return n.prober.Update(health.Checks(t))
}

// Reapply compares the switch with what it should hold at once.
func (n *Node) Reapply(ctx context.Context, who string) error {
	n.log.Info("reapply", "by", who)
	return n.loop.Do(ctx, func(c *control.Core, now time.Time) { c.Reapply(now) })
}

// Reload puts another valid topology in force. Members that stay keep their health.
func (n *Node) Reload(ctx context.Context, t model.Topology) error {
	err := n.loop.Do(ctx, func(c *control.Core, now time.Time) {
		c.SetTopology(t, now)
		t = c.Effective()
	})
	if err != nil {
		return err
	}
	n.log.Info("topology reloaded", "pools", len(t.Pools), "hosts", len(t.Hosts))
	return n.watch(t)
}

// probed takes a probe's result: only changes are logged and passed on.
func (n *Node) probed(e health.Event) {
	n.config.Observer.Probed(e)
	if !e.Transition.Happened() && !e.Transition.Proved {
		return
	}
	name := pipeline.MemberName{Pool: e.ID.Pool, Member: e.Name}
	if e.Transition.Happened() {
		n.log.Info("member is "+e.Transition.To.String(), "member", name.String(), "because", e.Transition.Because)
	}
	n.loop.Post(func(c *control.Core, now time.Time) { c.Verdict(name, e.Transition.To, now) })
}

// rejectsPerSecond bounds the answers to those who call a pool that rejects: a flood is not to
// keep the daemon busy.
const rejectsPerSecond = 1000

// limiter lets n things pass in each second.
type limiter struct {
	second int64
	passed int
}

func (l *limiter) pass(now time.Time, n int) bool {
	if s := now.Unix(); s != l.second {
		l.second, l.passed = s, 0
	}
	l.passed++
	return l.passed <= n
}

// reject answers a packet that a pool without live members sent to the daemon. It runs in the loop.
func (n *Node) reject(e datapath.Event) {
	if !n.rejects.pass(time.Now(), rejectsPerSecond) {
		return
	}
	if err := control.Reject(context.Background(), n.config.Bridge, e.Packet); err != nil {
		n.log.Warn("cannot refuse a connection", "error", err)
	}
}

// stepped logs what the loop did.
func (n *Node) stepped(o control.Outcome, took time.Duration) {
	n.config.Observer.Stepped(o, took)
	for _, p := range o.Pools {
		n.log.Info("slots changed", "pool", p.Pool, "digest", fmt.Sprintf("%x", p.After[:8]),
			"moved", p.Report.Moved, "of", p.Report.Slots, "necessary", p.Report.Necessary, "foreign", p.Report.Foreign)
	}
	switch {
	case o.Err != nil:
		n.log.Error("switch not in step; will try again", "error", o.Err)
	case o.Repaired():
		n.log.Warn("switch had lost or changed flows; repaired", "flows", len(o.Bundle), "took", took)
	}
}
