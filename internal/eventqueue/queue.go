// Package eventqueue keeps the events of a switch for a reader that may be slow, as datapath.Bridge promises: it loses frames
// first, and never that a switch came or went.
package eventqueue

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

// Queue is a queue without an end between what happens and who reads. When the reader falls behind,
// packet-ins are dropped first, then changes of ports, and nothing else ever.
type Queue struct {
	out  chan datapath.Event
	stop chan struct{}
	done chan struct{}

	mu    sync.Mutex
	queue []datapath.Event
	more  chan struct{} // the queue is no longer empty
}

// New makes a queue, which Close ends.
func New() *Queue {
	q := &Queue{out: make(chan datapath.Event), stop: make(chan struct{}), done: make(chan struct{}), more: make(chan struct{}, 1)}
	go q.deliver()
	return q
}

// Put queues an event, or drops it. It does not wait.
func (q *Queue) Put(event datapath.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch n := len(q.queue); {
	case event.Kind == datapath.PacketIn && n >= keepPackets, event.Kind == datapath.PortStatus && n >= keepPorts:
		return
	}
	q.queue = append(q.queue, event)
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// Events delivers what was put in, in order. Close closes it.
func (q *Queue) Events() <-chan datapath.Event { return q.out }

func (q *Queue) take() (event datapath.Event, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 {
		return datapath.Event{}, false
	}
	event, q.queue = q.queue[0], q.queue[1:]
	return event, true
}

func (q *Queue) deliver() {
	defer close(q.done)
	defer close(q.out)
	for {
		event, ok := q.take()
		if !ok {
			select {
			case <-q.more:
				continue
			case <-q.stop:
				return
			}
		}
		select {
		case q.out <- event:
		case <-q.stop:
			return
		}
	}
}

// Close closes the channel. What was not read is lost. It is called once.
func (q *Queue) Close() {
	close(q.stop)
	<-q.done
}
