package simhost

import "time"

// event is something that happens at a time: a timer fires, or a frame arrives at the end
// of a wire.
type event struct {
	at    time.Duration
	seq   uint64 // order of events at the same time
	timer *timer // fires if its generation is still gen; nil: a frame arrives
	gen   uint64
	wire  *wire
	frame []byte
}

func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.seq < o.seq
}

// queue is a clock and what will happen by it: a binary heap by time and order of arrival.
type queue struct {
	now  time.Duration
	seq  uint64
	heap []event
}

// push adds an event, not before now.
func (q *queue) push(e event) {
	q.seq++
	e.seq = q.seq
	e.at = max(e.at, q.now)
	q.heap = append(q.heap, e)
	i := len(q.heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !q.heap[i].before(&q.heap[parent]) {
			break
		}
		q.heap[i], q.heap[parent] = q.heap[parent], q.heap[i]
		i = parent
	}
}

// pop takes the first event out. There must be one.
func (q *queue) pop() event {
	first := q.heap[0]
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap[last] = event{}
	q.heap = q.heap[:last]
	q.sink(0)
	return first
}

// sink moves the event at i down to its place.
func (q *queue) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(q.heap); child++ {
			if q.heap[child].before(&q.heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
}

// next is the time of the first event that will really happen.
func (q *queue) next() (time.Duration, bool) {
	for len(q.heap) > 0 {
		e := &q.heap[0]
		if e.timer == nil || e.timer.due(e) {
			return e.at, true
		}
		stale := q.pop()
		stale.timer.missed(stale.gen)
	}
	return 0, false
}

// timer calls fire once, at a time that may be changed. Moving it to a later time, as
// retransmission timers are moved with every segment, costs nothing: the event in the queue
// stays and is put off when its time comes.
type timer struct {
	queue  *queue
	fire   func()
	held   func(*timer) bool // asked before firing; true: by someone who will release it; may be nil
	at     time.Duration     // when to fire, if armed
	armed  bool
	onHold bool
	gen    uint64        // of the event in the queue that counts
	queued time.Duration // its time, if there is one
	inHeap bool
}

// reset arms the timer to fire d from now.
func (t *timer) reset(d time.Duration) {
	t.at, t.armed, t.onHold = t.queue.now+max(d, 0), true, false
	if !t.inHeap || t.queued > t.at {
		t.enqueue()
	}
}

func (t *timer) enqueue() {
	t.gen++
	t.queued, t.inHeap = t.at, true
	t.queue.push(event{at: t.at, timer: t, gen: t.gen})
}

// stop makes sure the timer does not fire until it is reset.
func (t *timer) stop() { t.armed, t.onHold = false, false }

// due reports whether the timer fires at event e.
func (t *timer) due(e *event) bool { return t.gen == e.gen && t.armed && t.at <= e.at }

// missed is told that the timer's event of generation gen left the queue without effect:
// the timer was stopped, or moved to a later time.
func (t *timer) missed(gen uint64) {
	if gen != t.gen {
		return
	}
	t.inHeap = false
	if t.armed {
		t.enqueue()
	}
}

// expire fires the timer, unless it is held.
func (t *timer) expire() {
	t.armed, t.inHeap = false, false
	if t.held != nil && t.held(t) {
		t.onHold = true
		return
	}
	t.fire()
}

// release fires a timer at once that has expired on hold and was not stopped since.
func (t *timer) release() {
	if t.onHold {
		t.reset(0)
	}
}
