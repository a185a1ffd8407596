package ovsbackend

import (
	"context"
	"errors"
	"sync"
	"time"

	"hpnn/internal/ovsproto"
)

// linkGrace is how long a switch may be gone before calls are given up: long enough for one that breaks a
// connection and takes another, and much shorter than a call's own limit, so that callers do not queue up.
const linkGrace = time.Second

var (
	// errLinkDown is why calls end early.
	errLinkDown = errors.New("the switch has not answered since its connection broke")
	// errNoDatabase is why no connection is tried.
	errNoDatabase = errors.New("ovs-vswitchd serves no OpenFlow without its database")
)

// link is what is known of the connection that stays open, and with it of the switch.
type link struct {
	mu        sync.Mutex
	session   *ovsproto.Session // nil while the link is down
	changed   chan struct{}     // closed when it comes up
	fell      chan struct{}     // closed when it goes down
	alive     context.Context
	kill      context.CancelFunc // ends alive
	burial    *time.Timer        // calls kill after the grace; nil while the link is up
	suspended bool
}

func newLink() *link {
	l := &link{changed: make(chan struct{}), fell: make(chan struct{})}
	l.alive, l.kill = context.WithCancel(context.Background())
	return l
}

func (l *link) up(session *ovsproto.Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.burial != nil && !l.burial.Stop() { // too late: calls were given up
		l.alive, l.kill = context.WithCancel(context.Background())
	}
	l.session, l.burial, l.fell = session, nil, make(chan struct{})
	close(l.changed)
}

func (l *link) down() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session, l.changed = nil, make(chan struct{})
	close(l.fell)
	l.burial = time.AfterFunc(linkGrace, l.kill)
}

// isUp tells whether the link is up.
func (l *link) isUp() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session != nil
}

// suspend breaks the connection and keeps it from being made anew until resume.
func (l *link) suspend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.suspended = true
	l.session.Close()
}

func (l *link) resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.suspended = false
}

// mayConnect is nil unless the link is suspended.
func (l *link) mayConnect() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.suspended {
		return errNoDatabase
	}
	return nil
}

// hold waits until the link is up, unless the switch is gone, and returns a context for a call over it, which
// ends with ctx and when the switch is gone. Without an error, the caller must call release.
func (l *link) hold(ctx context.Context) (bound context.Context, release func(), err error) {
	l.mu.Lock()
	changed, alive := l.changed, l.alive
	l.mu.Unlock()
	select {
	case <-changed:
	case <-alive.Done():
		return ctx, nil, errLinkDown
	case <-ctx.Done():
		return ctx, nil, context.Cause(ctx)
	}
	bound, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(alive, func() { cancel(errLinkDown) })
	return bound, func() { stop(); cancel(nil) }, nil
}

// next waits until the link is up with another session than the last, which has broken or is nil.
func (l *link) next(ctx context.Context, last *ovsproto.Session) (*ovsproto.Session, error) {
	for {
		l.mu.Lock()
		session, turn := l.session, l.changed
		if session != nil && session == last {
			turn = l.fell
		}
		l.mu.Unlock()
		if session != nil && session != last {
			return session, nil
		}
		select {
		case <-turn:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
