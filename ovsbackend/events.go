package ovsbackend

import (
	"sync"

	"hpnn/datapath"
)

const (
	// keepPackets is the length of the queue above which frames for the controller are dropped.
	keepPackets = 256
	// keepPorts is the same for changes of ports.
	keepPorts = 1024
)

// events is a queue without an end between what happens and who reads. When the reader falls behind,
// packet-ins are dropped first, then changes of ports, and nothing else ever.
type events struct {
	out  chan datapath.Event
	stop chan struct{}
	done chan struct{}

	mu    sync.Mutex
	queue []datapath.Event
	more  chan struct{} // the queue is no longer empty
}

func newEvents() *events {
	e := &events{out: make(chan datapath.Event), stop: make(chan struct{}), done: make(chan struct{}), more: make(chan struct{}, 1)}
	go e.deliver()
	return e
}

// put queues an event, or drops it.
func (e *events) put(event datapath.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch n := len(e.queue); {
	case event.Kind == datapath.PacketIn && n >= keepPackets, event.Kind == datapath.PortStatus && n >= keepPorts:
		return
	}
	e.queue = append(e.queue, event)
	select {
	case e.more <- struct{}{}:
	default:
	}
}

func (e *events) take() (event datapath.Event, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.queue) == 0 {
		return datapath.Event{}, false
	}
	event, e.queue = e.queue[0], e.queue[1:]
	return event, true
}

func (e *events) deliver() {
	defer close(e.done)
	defer close(e.out)
	for {
		event, ok := e.take()
		if !ok {
			select {
			case <-e.more:
				continue
			case <-e.stop:
				return
			}
		}
		select {
		case e.out <- event:
		case <-e.stop:
			return
		}
	}
}

// close closes the channel. What was not read is lost.
func (e *events) close() {
	close(e.stop)
	<-e.done
}
