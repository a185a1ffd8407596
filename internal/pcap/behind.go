package pcap

import (
	"os"
	"sync/atomic"
)

// buffersBehind is how many buffers may wait to be written, so that memory is bounded by it and the
// number of Writers.
const buffersBehind = 4

// Behind writes what Writers have gathered on one goroutine of its own, so that whoever makes the frames
// need not wait for the disk. Every file gets the same bytes in the same order as without. After the
// first error nothing more is written to any file. Its Writers belong to one goroutine.
type Behind struct {
	jobs   chan job
	free   chan []byte
	failed atomic.Pointer[error] // the first
}

// job is a buffer to write, or, if done is not nil, a wish to know when all before it is written.
type job struct {
	file *os.File
	buf  []byte
	done chan struct{}
}

// WriteBehind starts the goroutine. Close ends it.
func WriteBehind() *Behind {
	b := &Behind{jobs: make(chan job, buffersBehind), free: make(chan []byte, buffersBehind)}
	for range buffersBehind {
		b.free <- nil
	}
	go b.run()
	return b
}

// Create is the function of this name, for a Writer whose buffers are written behind. An error of the
// disk comes with a later call than the one that caused it, with Close at the latest.
func (b *Behind) Create(path string) (*Writer, error) { return create(path, b) }

// Close ends the goroutine, when all Writers have been closed.
func (b *Behind) Close() { close(b.jobs) }

func (b *Behind) run() {
	for j := range b.jobs {
		if j.done != nil {
			close(j.done)
			continue
		}
		if b.failed.Load() == nil {
			if _, err := j.file.Write(j.buf); err != nil {
				b.failed.Store(&err)
			}
		}
		b.free <- j.buf
	}
}

// write hands over a buffer and takes an empty one.
func (b *Behind) write(file *os.File, buf []byte) ([]byte, error) {
	empty := <-b.free
	if empty == nil {
		empty = make([]byte, 0, writeBuffer)
	}
	b.jobs <- job{file: file, buf: buf}
	return empty[:0], b.err()
}

// wait waits until all that was handed over is written.
func (b *Behind) wait() error {
	done := make(chan struct{})
	b.jobs <- job{done: done}
	<-done
	return b.err()
}

func (b *Behind) err() error {
	if err := b.failed.Load(); err != nil {
		return *err
	}
	return nil
}
