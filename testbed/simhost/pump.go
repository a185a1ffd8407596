package simhost

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// pump lets the world follow the clock of package time.
type pump struct {
	running bool
	began   time.Time     // when Run began
	base    time.Duration // the world's time then
	wake    chan struct{} // tells Run that an event was added before its next
	next    time.Duration // when Run means to go on
	ended   bool          // Run has returned
	ends    signal        // it returns

	posting sync.Mutex // guards posted, and wake against Post
	posted  []func()
}

var errRunning = errors.New("run world: it runs already")

// Run lets the world's time pass as time passes, until the context ends; then it gives nil,
// and goroutines that wait for something of the world get net.ErrClosed. While it runs,
// others use the world by Do only.
func (w *World) Run(ctx context.Context) error {
	if err := w.start(); err != nil {
		return err
	}
	defer w.halt()
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.pump.wake:
		case <-alarm.C:
		}
		alarm.Reset(w.catchUp())
	}
}

func (w *World) start() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pump.running {
		return errRunning
	}
	w.pump.running, w.pump.ended = true, false
	w.pump.began, w.pump.base = time.Now(), w.now
	w.setWake(make(chan struct{}, 1))
	return nil
}

func (w *World) halt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.follow()
	w.pump.running, w.pump.ended = false, true
	w.setWake(nil)
	w.pump.ends.broadcast()
}

func (w *World) setWake(wake chan struct{}) {
	w.pump.posting.Lock()
	defer w.pump.posting.Unlock()
	w.pump.wake = wake
}

// idle is how long Run sleeps when nothing is to happen.
const idle = time.Hour

// catchUp lets happen what is due, and tells how long it is to the next event.
func (w *World) catchUp() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.follow()
	w.pump.next = w.now + idle
	if at, ok := w.next(); ok {
		w.pump.next = min(at, w.pump.next)
	}
	return w.pump.next - w.now
}

// follow sets the world to the present, if it runs.
func (w *World) follow() {
	if w.pump.running {
		w.AdvanceTo(w.pump.base + time.Since(w.pump.began))
	}
}

// Do calls f when nobody else uses the world, at the present time if it runs. f must not
// wait, nor call Do.
func (w *World) Do(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.follow()
	f()
	w.nudge()
}

// nudge wakes Run if it sleeps too long now.
func (w *World) nudge() {
	if !w.pump.running {
		return
	}
	if at, ok := w.next(); ok && at < w.pump.next {
		ring(w.pump.wake)
	}
}

// ring wakes Run, if it runs and has not been woken yet.
func ring(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// Post calls f soon, in order, when nobody else uses the world. Unlike Do it never waits, so
// that a switch can use it to Output frames while it holds locks of its own.
func (w *World) Post(f func()) {
	w.pump.posting.Lock()
	w.pump.posted = append(w.pump.posted, f)
	wake := w.pump.wake
	w.pump.posting.Unlock()
	ring(wake)
}

// runPosted calls what was posted.
func (w *World) runPosted() {
	w.pump.posting.Lock()
	posted := w.pump.posted
	w.pump.posted = nil
	w.pump.posting.Unlock()
	for _, f := range posted {
		f()
	}
}

// await calls try, when nobody else uses the world, until it says that it is done, and waits
// in between until something happened at s. It fails with net.ErrClosed if the world does
// not run any more, and with the context's error.
func (w *World) await(ctx context.Context, s *signal, try func() (done bool)) (err error) {
	for {
		var changed, ends <-chan struct{}
		w.Do(func() {
			switch {
			case w.pump.ended:
				err = net.ErrClosed
			case !try():
				changed, ends = s.wait(), w.pump.ends.wait()
			}
		})
		if changed == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ends:
		case <-changed:
		}
	}
}
