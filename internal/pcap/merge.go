package pcap

import (
	"errors"
	"io"
)

// Merger gives the frames of several captures in the order of time.
type Merger struct {
	readers []*Reader
	heap    []head // the next frame of each reader, the earliest first
	given   bool   // heap[0] has been given and its reader must move on
	faults  []error
	started bool
}

// head is the next frame of a reader.
type head struct {
	rec    Record
	source int
}

// Merge merges captures by time stamp; frames of equal time come in the order of the
// arguments. Frames of one capture always keep their order: one that is stamped earlier
// than a frame before it comes right after that frame, with its time as captured. So time
// can step back in the merged stream if it does in a capture, and whoever uses it as a
// clock must let the clock stand there.
func Merge(readers ...*Reader) *Merger { return &Merger{readers: readers} }

// Next gives the next frame and the index of the reader it comes from; the frame is valid
// until the next call. A reader with a fault is left and the others are read on; at the
// end Next gives io.EOF, or all faults joined, in the order they were met.
func (m *Merger) Next() (source int, rec Record, err error) {
	m.advance()
	if len(m.heap) == 0 {
		if len(m.faults) > 0 {
			return 0, Record{}, errors.Join(m.faults...)
		}
		return 0, Record{}, io.EOF
	}
	m.given = true
	return m.heap[0].source, m.heap[0].rec, nil
}

// advance moves the reader on whose frame was given, so that the heap is whole.
func (m *Merger) advance() {
	if !m.started {
		m.start()
	}
	if !m.given {
		return
	}
	m.given = false
	if rec, ok := m.read(m.heap[0].source); ok {
		m.heap[0].rec = rec
	} else {
		last := len(m.heap) - 1
		m.heap[0] = m.heap[last]
		m.heap = m.heap[:last]
	}
	m.sink(0)
}

// start takes the first frame of every reader.
func (m *Merger) start() {
	m.started = true
	for i := range m.readers {
		if rec, ok := m.read(i); ok {
			m.heap = append(m.heap, head{rec: rec, source: i})
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
}

// read takes the next frame of reader i; ok is false when it has no more.
func (m *Merger) read(i int) (rec Record, ok bool) {
	rec, err := m.readers[i].Next()
	if err != nil && err != io.EOF {
		m.faults = append(m.faults, err)
	}
	return rec, err == nil
}

// sink restores the heap order below position i.
func (m *Merger) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(m.heap); child++ {
			if m.heap[child].before(m.heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		i = least
	}
}

// before orders heads by time, then by reader.
func (h head) before(other head) bool {
	if h.rec.Time != other.rec.Time {
		return h.rec.Time < other.rec.Time
	}
	return h.source < other.source
}
