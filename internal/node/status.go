package node

import (
	"context"
	"time"

	"hpnn/internal/control"
	"hpnn/internal/health"
)

// Status is a moment's picture of the node.
type Status struct {
	Node    string       `json:"node"`
	Started time.Time    `json:"started"`
	Now     time.Time    `json:"now"`
	Control ControlState `json:"control"`
	Pools   []PoolStatus `json:"pools"`
}

// ControlState is how the control loop fares.
type ControlState struct {
	InSync   bool   `json:"in_sync"`
	Failure  string `json:"failure,omitempty"`
	Failures int    `json:"failures"`
	Repairs  int    `json:"repairs"`
	Commits  int    `json:"commits"`
	// Pending: something is known that the switch does not have yet.
	Pending bool `json:"pending"`
}

// PoolStatus is a pool, how it is watched, and its members.
type PoolStatus struct {
	control.PoolView
	Monitor MonitorStatus  `json:"monitor"`
	Members []MemberStatus `json:"members"`
}

// MonitorStatus is how a pool's members are probed.
type MonitorStatus struct {
	Type     string        `json:"type"`
	Interval time.Duration `json:"interval_ns"`
	Timeout  time.Duration `json:"timeout_ns"`
	Rise     int           `json:"rise"`
	Fall     int           `json:"fall"`
}

// MemberStatus is a member: what the switch does with it and what its monitor says.
type MemberStatus struct {
	control.MemberView
	State       string        `json:"state"`
	Evidence    string        `json:"evidence"`
	Since       time.Time     `json:"since"`
	Probes      uint64        `json:"probes"`
	Failures    uint64        `json:"failures"`
	Consecutive int           `json:"consecutive"`
	Latency     time.Duration `json:"latency_ns"`
	LastError   string        `json:"last_error,omitempty"`
	Source      string        `json:"probe_source,omitempty"`
}

// Status is the node now.
func (n *Node) Status(ctx context.Context) (Status, error) {
	t, err := n.Topology(ctx)
	if err != nil {
		return Status{}, err
	}
	var view control.View
	pending := false
	err = n.loop.Do(ctx, func(c *control.Core, _ time.Time) { view, pending = c.View(), c.Pending() })
	if err != nil {
		return Status{}, err
	}
	watched := map[health.ID]health.Watched{}
	for _, w := range n.prober.Statuses() {
		watched[w.Check.ID] = w
	}
	s := Status{
		Node: t.Node.Name, Started: n.started, Now: time.Now(),
		Control: ControlState{view.InSync, view.Failure, view.Failures, view.Repairs, view.Commits, pending},
	}
	for i, p := range view.Pools {
		h := t.Pools[i].Health
		pool := PoolStatus{PoolView: p, Monitor: MonitorStatus{h.Type.String(), h.Interval, h.Timeout, h.Rise, h.Fall}}
		for _, m := range p.Members {
			pool.Members = append(pool.Members, memberStatus(m, watched[health.ID{Pool: p.Name, Key: m.Key}]))
		}
		s.Pools = append(s.Pools, pool)
	}
	return s, nil
}

func memberStatus(m control.MemberView, w health.Watched) MemberStatus {
	s := MemberStatus{
		MemberView: m, State: w.Status.State.String(), Evidence: w.Status.Evidence.String(), Since: w.Status.Since,
		Probes: w.Status.Probes, Failures: w.Status.Failures, Consecutive: w.Status.Consecutive,
		Latency: w.Status.Latency, LastError: w.Status.LastError,
	}
	if src := w.Check.Target.Source; src.IsValid() {
		s.Source = src.String()
	}
	return s
}
