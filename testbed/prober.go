package testbed

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"hpnn/internal/health"
	"hpnn/model"
	"hpnn/testbed/simhost"
)

// prober watches members in virtual time: the schedule and the trackers are the daemon's own; only
// the probes leave from simulated hosts.
type prober struct {
	world    *simhost.World
	probes   map[netip.Addr]*simhost.Host
	schedule health.Schedule
	members  map[health.ID]*watched
	order    []health.ID
	report   func(health.Check, health.Transition)
}

// watched is a member and its health.
type watched struct {
	check   health.Check
	tracker health.Tracker
}

// update makes the checks those that are watched. Members that stay keep their health.
func (p *prober) update(checks []health.Check) {
	old := p.members
	p.members, p.order = map[health.ID]*watched{}, nil
	for i, c := range checks {
		p.order = append(p.order, c.ID)
		w := old[c.ID]
		if w == nil {
			w = &watched{tracker: health.NewTracker(health.RuleOf(c.Monitor), c.Seed, p.world.Wall())}
			if c.Monitor.Type == model.MonitorNone {
				w.tracker = health.Unprobed(p.world.Wall())
			} else {
				p.schedule.Plan(c.ID, p.world.Wall().Add(health.Spread(uint64(i), c.Monitor.Interval)))
			}
		} else {
			w.tracker.SetRule(health.RuleOf(c.Monitor))
		}
		w.check = c
		w.tracker.SetAdmin(c.Admin)
		p.members[c.ID] = w
	}
	for id := range old {
		if p.members[id] == nil {
			p.schedule.Remove(id)
		}
	}
}

// wake is when the next probe is due.
func (p *prober) wake() (time.Duration, bool) {
	at, ok := p.schedule.Wake()
	if !ok {
		return 0, false
	}
	return at.Sub(p.world.Wall()) + p.world.Now(), true
}

// launch starts the probes that are due.
func (p *prober) launch() {
	for {
		f, ok := p.schedule.Take(p.world.Wall())
		if !ok {
			return
		}
		began := p.world.Now()
		p.probe(p.members[f.ID].check, func(r health.Result) {
			r.Latency = p.world.Now() - began
			p.land(f, r)
		})
	}
}

func (p *prober) land(f health.Flight, r health.Result) {
	counts, now := p.schedule.Counts(f), p.world.Wall()
	w := p.members[f.ID]
	if !counts || w == nil {
		p.schedule.Land(f, now, 0)
		return
	}
	change := w.tracker.Observe(r, now)
	p.schedule.Land(f, now, health.PaceOf(w.check.Monitor).For(w.tracker.Status()))
	if change.Happened() || change.Proved {
		p.report(w.check, change)
	}
}

// probe sends one probe and tells how it ended.
func (p *prober) probe(c health.Check, done func(health.Result)) {
	host := p.probes[c.Target.Source]
	if host == nil {
		done(health.Result{Outcome: health.NotProbed, Detail: "no probe address in the member's segment"})
		return
	}
	switch m := c.Monitor; m.Type {
	case model.MonitorICMP:
		host.Ping(c.Target.Address.Addr(), simhost.PingOptions{Timeout: m.Timeout}, func(r simhost.PingResult) {
			if r.Err != nil {
				done(failed(c, "no answer", r.Err))
				return
			}
			done(health.Result{Outcome: health.Passed})
		})
	case model.MonitorTCP:
		probeTCP(host, c, done)
	case model.MonitorHTTP:
		probeHTTP(host, c, done)
	default:
		done(health.Result{Outcome: health.NotProbed, Detail: fmt.Sprintf("the simulated prober has no %v", m.Type)})
	}
}

func probeHTTP(host *simhost.Host, c health.Check, done func(health.Result)) {
	m := c.Monitor
	url := fmt.Sprintf("http://%v/%s", c.Target.Address, strings.TrimPrefix(m.Path, "/"))
	host.Get(url, simhost.GetOptions{Host: m.HostHeader, Timeout: m.Timeout}, func(r simhost.Result) {
		switch {
		case r.Err != nil && r.Connected == 0:
			done(failed(c, "no connection", r.Err))
		case r.Err != nil:
			done(failed(c, "no answer", r.Err))
		case !m.Expect.Contains(r.Status):
			done(health.Result{Outcome: health.Unwanted, Detail: fmt.Sprintf("status %d, want %v", r.Status, m.Expect)})
		default:
			done(health.Result{Outcome: health.Passed})
		}
	})
}

func probeTCP(host *simhost.Host, c health.Check, done func(health.Result)) {
	conn, err := host.Dial(c.Target.Address, simhost.DialOptions{})
	if err != nil {
		done(failed(c, "no connection", err))
		return
	}
	ended := false
	end := func(r health.Result) {
		if !ended {
			ended = true
			conn.Abort()
			done(r)
		}
	}
	conn.Handle(func(conn *simhost.Conn) {
		switch {
		case conn.Err() != nil:
			end(failed(c, "no connection", conn.Err()))
		case conn.State() == simhost.Established:
			end(health.Result{Outcome: health.Passed})
		}
	})
	host.World().After(c.Monitor.Timeout, func() { end(failed(c, "no connection", simhost.ErrTimeout)) })
}

// failed is the verdict on a probe that ended with an error of a simulated host, for want of something. Its words are the
// daemon's.
func failed(c health.Check, want string, err error) health.Result {
	if errors.Is(err, simhost.ErrTimeout) {
		err = context.DeadlineExceeded
	}
	target := c.Target
	target.Timeout = c.Monitor.Timeout
	return health.Explain(target, want, err)
}
