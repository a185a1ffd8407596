package health

import (
	"container/heap"
	"fmt"
	"time"
)

// A Schedule says which member is probed next, and when. It never hands out a member whose last probe has not ended, also
// if that member was removed and added again meanwhile.
//
// The zero Schedule is empty and ready.
type Schedule struct {
	entries map[ID]*entry
	waiting queue // those that are not being probed
	planned uint64
}

// An entry is one member's place in the schedule.
type entry struct {
	id    ID
	due   time.Time
	order uint64 // among those due at the same moment
	index int    // in the queue, or nowhere
	busy  bool   // a probe of it is under way
	void  bool   // and its result will not count
	gone  bool   // and the member is no longer wanted
}

const nowhere = -1

// A Flight is one probe under way.
type Flight struct {
	ID  ID
	Due time.Time // when it should have started
}

// Plan sets when the member is probed next, and adds it if it is new. A probe of it that is under way becomes void: it is
// waited for, but no longer counts.
func (s *Schedule) Plan(id ID, due time.Time) {
	if s.entries == nil {
		s.entries = map[ID]*entry{}
	}
	e := s.entries[id]
	if e == nil {
		e = &entry{id: id, index: nowhere, order: s.planned}
		s.entries[id] = e
		s.planned++
	}
	e.due, e.gone = due, false
	switch {
	case e.busy:
		e.void = true
	case e.index == nowhere:
		heap.Push(&s.waiting, e)
	default:
		heap.Fix(&s.waiting, e.index)
	}
}

// Remove takes the member out. A probe of it that is under way becomes void.
func (s *Schedule) Remove(id ID) {
	e := s.entries[id]
	switch {
	case e == nil:
	case e.busy:
		e.void, e.gone = true, true
	default:
		heap.Remove(&s.waiting, e.index)
		delete(s.entries, id)
	}
}

// Wake returns when the next member is due that is not being probed; false if there is none.
func (s *Schedule) Wake() (time.Time, bool) {
	if len(s.waiting) == 0 {
		return time.Time{}, false
	}
	return s.waiting[0].due, true
}

// Take returns a member that is due, the longest waiting first, and counts it as being probed until Land.
func (s *Schedule) Take(now time.Time) (Flight, bool) {
	if due, ok := s.Wake(); !ok || due.After(now) {
		return Flight{}, false
	}
	e := heap.Pop(&s.waiting).(*entry)
	e.busy, e.void = true, false
	return Flight{e.id, e.due}, true
}

// Counts reports whether the result of a probe under way still counts: the member was neither removed nor planned anew.
func (s *Schedule) Counts(f Flight) bool { return !s.busy(f).void }

// Land ends a probe and plans the next one, an interval after the moment the probe was due; see [Pace]. The member of a
// void probe is planned already, and the interval does not matter.
func (s *Schedule) Land(f Flight, now time.Time, interval time.Duration) {
	e := s.busy(f)
	e.busy = false
	switch {
	case e.gone:
		delete(s.entries, f.ID)
		return
	case !e.void:
		e.due = following(f.Due, now, max(interval, minInterval))
	}
	heap.Push(&s.waiting, e)
}

func (s *Schedule) busy(f Flight) *entry {
	e := s.entries[f.ID]
	if e == nil || !e.busy {
		panic(fmt.Sprintf("health: no probe of %s is under way", f.ID))
	}
	return e
}

// A queue is a heap of entries, the one due first at the top.
type queue []*entry

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	if c := q[i].due.Compare(q[j].due); c != 0 {
		return c < 0
	}
	return q[i].order < q[j].order
}

func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push is called by the heap.
func (q *queue) Push(x any) {
	e := x.(*entry)
	e.index = len(*q)
	*q = append(*q, e)
}

// Pop is called by the heap.
func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	e.index = nowhere
	return e
}
