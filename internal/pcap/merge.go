package pcap

import (
	"errors"
	"io"
)

// Merger gives the frames of several captures in the order of time.
type Merger struct {
	readers []*Reader
	recs    []Record // the next frame of each reader that has one
	heap    []head   // a head for each of them, the earliest first
	given   bool     // the frame of heap[0] has been given: its reader must move on
	faults  []error
	started bool
}

// head stands for the next frame of a reader.
type head struct {
	time   int64
	source int
}

// Merge merges captures by time stamp; frames of equal time come in the order of the
// arguments. Frames of one capture always keep their order: one that is stamped earlier
// than a frame before it comes right after that frame, with its time as captured. So time
// can step back in the merged stream if it does in a capture, and whoever uses it as a
// clock must let the clock stand there.
func Merge(readers ...*Reader) *Merger {
	return &Merger{readers: readers, recs: make([]Record, len(readers))}
}

// Next gives the next frame and the index of the reader it comes from; the frame is valid
// until the next call. A reader with a fault is left and the others are read on; at the
// end Next gives io.EOF, or all faults joined, in the order they were met.
func (m *Merger) Next() (source int, rec *Record, err error) {
	m.advance()
	if len(m.heap) == 0 {
		if len(m.faults) > 0 {
			return 0, nil, errors.Join(m.faults...)
		}
		return 0, nil, io.EOF
	}
	m.given = true
	source = m.heap[0].source
	return source, &m.recs[source], nil
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
	if source := m.heap[0].source; m.read(source) {
		m.heap[0].time = m.recs[source].Time
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
		if m.read(i) {
			m.heap = append(m.heap, head{time: m.recs[i].Time, source: i})
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
}

// read takes the next frame of reader i and reports whether there is one.
func (m *Merger) read(i int) bool {
	err := m.readers[i].next(&m.recs[i])
	if err != nil && err != io.EOF {
		m.faults = append(m.faults, err)
	}
	return err == nil
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
	if h.time != other.time {
		return h.time < other.time
	}
	return h.source < other.source
}
