package control

import (
	"context"
	"errors"
	"sync"
	"time"

	"hpnn/datapath"
)

// ErrStopped is what Do returns after the loop has ended.
var ErrStopped = errors.New("control loop has stopped")

// Loop runs a Core: one goroutine that alone touches it.
type Loop struct {
	core     *Core
	bridge   datapath.Bridge
	report   func(Outcome, time.Duration)
	packetIn func(datapath.Event)
	requests chan request
	stopped  chan struct{}

	mu     sync.Mutex
	posted []func(c *Core, now time.Time)
	wake   chan struct{} // posted is no longer empty
}

// request is something to be done in the loop, and who waits for it.
type request struct {
	do   func(c *Core, now time.Time)
	done chan struct{}
}

// Hooks are told what the loop did. Both run in the loop and must not wait.
type Hooks struct {
	Outcome  func(Outcome, time.Duration) // a step that did or tried something, and how long it took
	PacketIn func(datapath.Event)
}

// NewLoop makes a loop around a core that nobody else uses.
func NewLoop(c *Core, h Hooks) *Loop {
	l := &Loop{
		core: c, bridge: c.bridge, report: h.Outcome, packetIn: h.PacketIn,
		requests: make(chan request), stopped: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	if l.report == nil {
		l.report = func(Outcome, time.Duration) {}
	}
	if l.packetIn == nil {
		l.packetIn = func(datapath.Event) {}
	}
	return l
}

// Run works until the context is over or the bridge is closed, and leaves the switch as it is.
func (l *Loop) Run(ctx context.Context) error {
	defer close(l.stopped)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(time.Until(l.core.Due()))
		select {
		case <-ctx.Done():
			return nil
		case e, open := <-l.bridge.Events():
			if !open {
				return datapath.ErrClosed
			}
			l.event(e)
		case r := <-l.requests:
			r.do(l.core, time.Now())
			close(r.done)
		case <-l.wake:
			l.runPosted()
		case <-timer.C:
			l.step(ctx)
		}
	}
}

func (l *Loop) event(e datapath.Event) {
	if e.Kind == datapath.PacketIn {
		l.packetIn(e)
		return
	}
	l.core.Event(e, time.Now())
}

func (l *Loop) step(ctx context.Context) {
	began := time.Now()
	out := l.core.Step(ctx, began)
	if out.Err != nil || len(out.Bundle) > 0 || len(out.Pools) > 0 || out.Flushed > 0 {
		l.report(out, time.Since(began))
	}
}

// Do runs a function in the loop, between steps, and returns when it has run.
func (l *Loop) Do(ctx context.Context, do func(c *Core, now time.Time)) error {
	r := request{do, make(chan struct{})}
	select {
	case l.requests <- r:
		<-r.done
		return nil
	case <-l.stopped:
		return ErrStopped
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Post has a function run in the loop, after those posted before it, and does not wait. What is
// posted after the loop has ended is not run.
func (l *Loop) Post(do func(c *Core, now time.Time)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.posted = append(l.posted, do)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *Loop) runPosted() {
	l.mu.Lock()
	posted := l.posted
	l.posted = nil
	l.mu.Unlock()
	for _, do := range posted {
		do(l.core, time.Now())
	}
}

// View is the core's state.
func (l *Loop) View(ctx context.Context) (v View, err error) {
	err = l.Do(ctx, func(c *Core, _ time.Time) { v = c.View() })
	return v, err
}
