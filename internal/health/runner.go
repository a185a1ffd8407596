package health

import (
	"context"
	"sync"
	"time"

	"hpnn/model"
)

// DefaultParallel is how many probes run at a time if nothing else is said. When all members hang, that many are timed out
// per timeout: at the default timeout of a second and interval of two, 512 members keep their pace.
const DefaultParallel = 256

// A Config is what a runner needs beside the members.
type Config struct {
	// Prober returns the prober of a monitor, which is never of type none; nil stands for NewProber with Dial.
	Prober func(model.HealthMonitor) Prober
	// Dial opens the way to the members; nil stands for NetDial.
	Dial Dial
	// Parallel bounds the probes that run at a time; 0 stands for DefaultParallel.
	Parallel int
	// Report is called with every result, in the order they come in and never twice at a time; it may be nil. While it
	// runs, no probe is started. It may call Update and Statuses, but not Stop.
	Report func(Event)
}

// An Event is one probe that ended, and what it changed.
type Event struct {
	ID         ID
	Name       string
	At         time.Time
	Result     Result
	Transition Transition
	Status     Status        // after the result
	Lag        time.Duration // how much later than due the probe started; if it grows, Config.Parallel is too small
}

// A Runner probes members until it is stopped. Its methods may be called from any goroutine.
type Runner struct {
	config  Config
	context context.Context
	cancel  context.CancelFunc
	changed chan struct{} // Update has planned something
	landed  chan landing  // with room for all, so that a probe never waits to hand in its result
	done    chan struct{}

	mu       sync.Mutex
	members  map[ID]*member
	order    []ID // as the last Update had them
	schedule Schedule
	started  uint64 // members planned so far, for the spread
	flying   map[ID]context.CancelFunc
}

// A member is one that is watched.
type member struct {
	check   Check
	prober  Prober // nil if it is not probed
	tracker Tracker
}

// A landing is a probe that has ended.
type landing struct {
	flight  Flight
	started time.Time
	ended   time.Time
	result  Result
}

// Start returns a runner that watches nobody yet; see [Runner.Update].
func Start(c Config) *Runner {
	if c.Parallel <= 0 {
		c.Parallel = DefaultParallel
	}
	if c.Prober == nil {
		c.Prober = func(m model.HealthMonitor) Prober { return NewProber(m, c.Dial) }
	}
	if c.Report == nil {
		c.Report = func(Event) {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &Runner{
		config: c, context: ctx, cancel: cancel,
		changed: make(chan struct{}, 1),
		landed:  make(chan landing, c.Parallel),
		done:    make(chan struct{}),
		members: map[ID]*member{},
		flying:  map[ID]context.CancelFunc{},
	}
	go r.loop()
	return r
}

// Stop ends all probes and returns when no goroutine of the runner is left. Nothing is reported any more, and the statuses
// stay as they were.
func (r *Runner) Stop() {
	r.cancel()
	<-r.done
}

// loop is the one goroutine that starts probes and takes their results.
func (r *Runner) loop() {
	defer close(r.done)
	var probes sync.WaitGroup
	defer probes.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		wake, any := r.launch(&probes)
		timer.Stop()
		if any {
			timer.Reset(time.Until(wake))
		}
		select {
		case <-r.context.Done():
			return
		case <-timer.C:
		case <-r.changed:
		case l := <-r.landed:
			if r.context.Err() == nil {
				r.land(l)
			}
		}
	}
}

// launch starts the probes that are due, as far as there is room, and returns when the next one will be; false if none is,
// or if there is no room before another has landed.
func (r *Runner) launch(probes *sync.WaitGroup) (time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.flying) < r.config.Parallel {
		now := time.Now()
		f, ok := r.schedule.Take(now)
		if !ok {
			return r.schedule.Wake()
		}
		m := r.members[f.ID]
		ctx, cancel := context.WithCancel(r.context)
		r.flying[f.ID] = cancel
		prober, target := m.prober, m.check.Target
		probes.Go(func() {
			result := prober.Probe(ctx, target)
			r.landed <- landing{f, now, time.Now(), result}
		})
	}
	return time.Time{}, false
}

// land takes the result of a probe.
func (r *Runner) land(l landing) {
	if e, counts := r.observe(l); counts {
		r.config.Report(e)
	}
}

func (r *Runner) observe(l landing) (Event, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := l.flight.ID
	r.flying[id]()
	delete(r.flying, id)
	if !r.schedule.Counts(l.flight) {
		r.schedule.Land(l.flight, l.ended, 0)
		return Event{}, false
	}
	m := r.members[id]
	change := m.tracker.Observe(l.result, l.ended)
	status := m.tracker.Status()
	r.schedule.Land(l.flight, l.ended, PaceOf(m.check.Monitor).For(status))
	return Event{
		ID: id, Name: m.check.Name, At: l.ended, Result: l.result,
		Transition: change, Status: status, Lag: max(l.started.Sub(l.flight.Due), 0),
	}, true
}
