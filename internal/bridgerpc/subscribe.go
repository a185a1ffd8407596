package bridgerpc

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"hpnn/datapath"
	"hpnn/internal/eventqueue"
)

// subscribers are the clients that want to know what happens at the switch.
type subscribers struct {
	mu    sync.Mutex
	all   map[*subscriber]bool
	there bool // the switch is
}

type subscriber struct{ queue *eventqueue.Queue }

// pass gives each event to all subscribers, until there are no more or the context is over.
func (s *subscribers) pass(ctx context.Context, events <-chan datapath.Event) {
	for {
		select {
		case e, open := <-events:
			if !open {
				s.put(datapath.Event{Kind: datapath.Disconnected}) // the Bridge was closed
				return
			}
			s.put(e)
		case <-ctx.Done():
			return
		}
	}
}

func (s *subscribers) put(e datapath.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e.Kind {
	case datapath.Connected:
		s.there = true
	case datapath.Disconnected:
		s.there = false
	}
	for c := range s.all {
		c.queue.Put(e)
	}
}

// add begins a subscription. Whoever comes later than the switch hears of it all the same.
func (s *subscribers) add() *subscriber {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &subscriber{eventqueue.New()}
	if s.there {
		c.queue.Put(datapath.Event{Kind: datapath.Connected})
	}
	s.all[c] = true
	return c
}

func (s *subscribers) remove(c *subscriber) {
	s.mu.Lock()
	delete(s.all, c)
	s.mu.Unlock()
	c.queue.Close()
}

// serve writes events to a client for as long as it listens.
func (s *subscribers) serve(w http.ResponseWriter, r *http.Request) {
	c := s.add()
	defer s.remove(c)
	out := http.NewResponseController(w)
	if out.Flush() != nil {
		return
	}
	lines := json.NewEncoder(w)
	for {
		select {
		case e := <-c.queue.Events():
			if lines.Encode(e) != nil || out.Flush() != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}
