package simswitch

import (
	"context"
	"encoding/gob"
	"fmt"
	"net"
	"sync"
)

// watchers are told what becomes of each frame.
type watchers struct {
	mu  sync.Mutex
	all map[*watcher]bool
}

// watcher is one of them. Nothing is lost for it, however slow it is.
type watcher struct {
	mu    sync.Mutex
	queue []passage
	more  chan struct{} // the queue is no longer empty
}

func (w *watchers) none() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.all) == 0
}

func (w *watchers) tell(p passage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for one := range w.all {
		one.put(p)
	}
}

func (w *watcher) put(p passage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = append(w.queue, p)
	select {
	case w.more <- struct{}{}:
	default:
	}
}

func (w *watcher) take() (all []passage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, w.queue = w.queue, nil
	return all
}

// Report tells whoever connects what becomes of each frame, until the context is over. See Watch.
func (s *Switch) Report(ctx context.Context, l net.Listener) error {
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
		go s.watchers.serve(ctx, conn)
	}
}

func (w *watchers) serve(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	one := &watcher{more: make(chan struct{}, 1)}
	one.put(passage{})
	w.mu.Lock()
	w.all[one] = true
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, one)
	}()
	out := gob.NewEncoder(conn)
	for {
		select {
		case <-ctx.Done():
			return
		case <-one.more:
		}
		for _, p := range one.take() {
			if out.Encode(p) != nil {
				return
			}
		}
	}
}
