package ovsbackend

import (
	"context"
	"errors"
	"sync"
	"time"

	"hpnn/internal/ovsproto"
)

// linkGrace is how long a call waits for a switch that is known to be gone: long enough for one that
// restarts quickly, and much shorter than a call's own limit, so that callers do not queue up.
const linkGrace = time.Second

// errLinkDown is why calls fail before they have tried.
var errLinkDown = errors.New("it has not answered since its connection broke")

// link is what is known of the connection that stays open.
type link struct {
	mu      sync.Mutex
	conn    *ovsproto.Conn // nil while the link is down
	changed chan struct{}  // closed when it comes up
}

func newLink() *link { return &link{changed: make(chan struct{})} }

func (l *link) up(conn *ovsproto.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = conn
	close(l.changed)
}

func (l *link) down() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = nil
	l.changed = make(chan struct{})
}

// drop breaks the connection, if it is up, so that it is made anew by a switch that answers.
func (l *link) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn.Close()
}

// isUp tells whether the link is up.
func (l *link) isUp() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn != nil
}

// await returns when the link is up, and an error if that takes too long.
func (l *link) await(ctx context.Context) error {
	l.mu.Lock()
	changed := l.changed
	l.mu.Unlock()
	select {
	case <-changed:
		return nil
	default:
	}
	grace := time.NewTimer(linkGrace)
	defer grace.Stop()
	select {
	case <-changed:
		return nil
	case <-grace.C:
		return errLinkDown
	case <-ctx.Done():
		return ctx.Err()
	}
}
