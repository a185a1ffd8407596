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
	// Prober returns the prober of a monitor, which is never of type none; it is asked for every probe, by one goroutine.
	// nil stands for NewProber with Dial.
	Prober func(model.HealthMonitor) Prober
	// Dial opens the way to the members; nil stands for NetDial.
	Dial Dial
	// Parallel bounds the probes that run at a time; 0 stands for DefaultParallel.
	Parallel int
	// Report is called with every result, in the order they come in and never twice at a time; it may be nil. While it
	// runs, no probe is started. It may call Update and Statuses, but not Stop.
	Report func(Event)
}

// A Runner probes members until it is stopped: a [Roster], the clock and the goroutines. Its methods may be called from any
// goroutine.
type Runner struct {
	config  Config
	context context.Context
	cancel  context.CancelFunc
	changed chan struct{} // Update has planned something
	landed  chan landing  // with room for all, so that a probe never waits to hand in its result
	done    chan struct{}

	mu     sync.Mutex
	roster Roster
	flying map[ID]context.CancelFunc // the probes under way
}

// A landing is a probe that has ended.
type landing struct {
	launch Launch
	result Result
	ended  time.Time
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

// Statuses returns all members, in the order of the last Update.
func (r *Runner) Statuses() []Watched {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.roster.Statuses()
}

// Update makes the checks the ones that are watched; see [Roster.Update], whose error it returns. Probes that no longer
// count are cut short. What an update changes by itself is not reported as an event: who updates can ask for the statuses.
// An event that was on its way already may still arrive after Update has returned, for a member that is gone.
func (r *Runner) Update(checks []Check) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	cut, err := r.roster.Update(checks, time.Now())
	for _, id := range cut {
		if cancel := r.flying[id]; cancel != nil {
			cancel()
		}
	}
	select {
	case r.changed <- struct{}{}:
	default: // the loop has not yet seen the change before this one
	}
	return err
}

// loop is the one goroutine that starts probes and takes their results.
func (r *Runner) loop() {
	defer close(r.done)
	var probes sync.WaitGroup
	defer probes.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		wake, planned := r.launch(&probes)
		timer.Stop()
		if planned {
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
		l, ok := r.roster.Take(time.Now())
		if !ok {
			return r.roster.Wake()
		}
		ctx, cancel := context.WithCancel(r.context)
		r.flying[l.Flight.ID] = cancel
		prober := r.config.Prober(l.Check.Monitor)
		probes.Go(func() {
			result := prober.Probe(ctx, l.Check.Target)
			r.landed <- landing{l, result, time.Now()}
		})
	}
	return time.Time{}, false
}

// land takes the result of a probe, and reports it if it counts.
func (r *Runner) land(l landing) {
	r.mu.Lock()
	id := l.launch.Flight.ID
	r.flying[id]()
	delete(r.flying, id)
	e, counts := r.roster.Land(l.launch, l.result, l.ended)
	r.mu.Unlock()
	if counts {
		r.config.Report(e)
	}
}
