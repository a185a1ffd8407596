//go:build linux

package realtime

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"hpnn/datapath/openflow"
	"hpnn/internal/control"
	"hpnn/internal/health"
	hcd "hpnn/internal/node"
	"hpnn/internal/pipeline"
	"hpnn/model"
	"hpnn/testbed"
)

// node is the daemon of a bed, as far as its API and its log tell.
type node struct {
	bed     *bed
	daemon  Daemon
	journal journal
	running bool
	known   testbed.NodeState
	told    control.View // what the story was told last
	asked   time.Time    // when the daemon was last asked to tell
	fresh   time.Time    // when what is known was asked for
}

// fresh is how long what the daemon said is taken for what it would say now, unless it was told something.
const fresh = 10 * time.Millisecond

func newNode(b *bed, t model.Topology) *node {
	d := b.site.Daemon()
	return &node{bed: b, daemon: d, journal: journal{path: d.Log()}, known: testbed.NodeState{Topology: t}}
}

// Start implements testbed.Node.
func (n *node) Start() error {
	if n.running {
		return errors.New("start node: it is running")
	}
	ctx, cancel := bounded()
	defer cancel()
	if err := n.daemon.Start(ctx); err != nil {
		return fmt.Errorf("start node: %w", err)
	}
	n.running, n.fresh = true, time.Time{}
	return nil
}

func (n *node) runs(what string) error {
	if !n.running {
		return fmt.Errorf("%s: it does not run", what)
	}
	return nil
}

// Kill implements testbed.Node.
func (n *node) Kill() error {
	if err := n.runs("kill node"); err != nil {
		return err
	}
	n.State() // the last that is known
	n.running = false
	return n.daemon.Kill()
}

func (n *node) post(path string, params url.Values) error {
	if err := n.runs("tell node"); err != nil {
		return err
	}
	n.fresh = time.Time{}
	ctx, cancel := bounded()
	defer cancel()
	return n.daemon.API().Post(ctx, path, params, new(any))
}

// SetAdmin implements testbed.Node.
func (n *node) SetAdmin(member pipeline.MemberName, a model.AdminState) error {
	path := "/enable"
	if a == model.Drained {
		path = "/drain"
	}
	return n.post(path, url.Values{"member": {member.String()}})
}

// Reapply implements testbed.Node.
func (n *node) Reapply() error { return n.post("/reapply", nil) }

// Reload implements testbed.Node. It returns when the daemon has read the topology.
func (n *node) Reload(t model.Topology) error {
	if err := n.runs("tell node"); err != nil {
		return err
	}
	n.fresh = time.Time{}
	before := n.journal.count(isReload)
	if err := n.daemon.Reload(t); err != nil {
		return err
	}
	for end := time.Now().Add(callTimeout); time.Now().Before(end); time.Sleep(lookEvery) {
		if n.journal.count(isReload) > before {
			return nil
		}
	}
	return fmt.Errorf("reload: the node's log does not tell of it within %v", callTimeout)
}

// State implements testbed.Node. If the daemon does not answer, it is what was known.
func (n *node) State() testbed.NodeState {
	if n.running && time.Since(n.fresh) > fresh {
		if s, err := n.ask(); err == nil {
			n.known, n.fresh = s, time.Now()
		}
	}
	n.known.Running = n.running
	return n.known
}

// ask asks the daemon for all it knows.
func (n *node) ask() (testbed.NodeState, error) {
	ctx, cancel := bounded()
	defer cancel()
	var text string
	if err := n.daemon.API().Get(ctx, "/topology", nil, &text); err != nil {
		return testbed.NodeState{}, err
	}
	t, err := model.Parse("the daemon's topology", []byte(text))
	if err != nil {
		return testbed.NodeState{}, err
	}
	status, err := n.status(ctx)
	if err != nil {
		return testbed.NodeState{}, err
	}
	s := testbed.NodeState{Topology: t, View: viewOf(status), Health: map[pipeline.MemberName]health.Status{}}
	for _, p := range status.Pools {
		for _, m := range p.Members {
			s.Health[pipeline.MemberName{Pool: p.Name, Member: m.Name}] = healthOf(m)
		}
	}
	if status.Control.Pending {
		s.Due = time.Millisecond // how long it will be, the daemon does not say
	}
	return s, nil
}

func (n *node) status(ctx context.Context) (s hcd.Status, err error) {
	err = n.daemon.API().Get(ctx, "/status", nil, &s)
	return s, err
}

// viewOf is the control loop's part of a status.
func viewOf(s hcd.Status) control.View {
	c := s.Control
	v := control.View{InSync: c.InSync, Failure: c.Failure, Failures: c.Failures, Repairs: c.Repairs, Commits: c.Commits}
	for _, p := range s.Pools {
		pool := p.PoolView
		pool.Members = nil
		for _, m := range p.Members {
			pool.Members = append(pool.Members, m.MemberView)
		}
		v.Pools = append(v.Pools, pool)
	}
	return v
}

func healthOf(m hcd.MemberStatus) health.Status {
	s := health.Status{Since: m.Since, Consecutive: m.Consecutive, Latency: m.Latency, LastError: m.LastError, Probes: m.Probes, Failures: m.Failures}
	for _, state := range []health.State{health.Up, health.Down} {
		if state.String() == m.State {
			s.State = state
		}
	}
	return s
}

// Program implements testbed.Node: it is rendered from what the daemon says of its members, by the same pure function.
func (n *node) Program() openflow.Program {
	s := n.State()
	down := map[pipeline.MemberName]bool{}
	for _, p := range s.View.Pools {
		kept := p.Policy == model.LastKnown.String() && nobodyTakes(p)
		for _, m := range p.Members {
			// A pool that keeps its last layout keeps the one of those that own slots in it.
			down[pipeline.MemberName{Pool: p.Name, Member: m.Name}] = !m.Up && !(kept && m.InPool)
		}
	}
	return pipeline.Render(s.Topology, pipeline.Layout(s.Topology, pipeline.State{Down: down}))
}

// nobodyTakes reports whether no member of a pool may own slots.
func nobodyTakes(p control.PoolView) bool {
	for _, m := range p.Members {
		if m.Up && m.Admin == model.Enabled.String() && m.Weight > 0 {
			return false
		}
	}
	return true
}

// tell brings the story the log and the node's view, if it is another.
func (n *node) tell() {
	if n == nil {
		return
	}
	for _, e := range n.journal.news() {
		if line, ok := e.line(); ok && n.bed.config.Log != nil {
			n.bed.config.Log(n.bed.Now(), line)
		}
	}
	if !n.running || n.bed.config.Committed == nil || time.Since(n.asked) < askEvery {
		return
	}
	n.asked = time.Now()
	ctx, cancel := bounded()
	defer cancel()
	status, err := n.status(ctx)
	if err != nil {
		return
	}
	if v := viewOf(status); !same(v, n.told) {
		n.told = v
		n.bed.config.Committed(v)
	}
}

// same reports whether two views say the same of the pools.
func same(a, b control.View) bool {
	if a.InSync != b.InSync || a.Commits != b.Commits || len(a.Pools) != len(b.Pools) {
		return false
	}
	for i, p := range a.Pools {
		q := b.Pools[i]
		if p.Name != q.Name || p.Digest != q.Digest || len(p.Members) != len(q.Members) {
			return false
		}
		for j, m := range p.Members {
			if m != q.Members[j] {
				return false
			}
		}
	}
	return true
}
