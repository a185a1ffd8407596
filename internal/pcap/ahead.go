package pcap

import "io"

// Bounds of reading ahead. Three blocks of a capture are in memory at most: one that is read from,
// one that waits, one that is being filled.
const (
	blocksWaiting = 1
	headroom      = 64 << 10 // bytes in front of a block for the rest of the one before
)

// ahead reads a source on a goroutine of its own, block after block, while the blocks before are
// being read from.
type ahead struct {
	full chan chunk
	free chan []byte
	stop chan struct{}
	done chan struct{} // closed when the goroutine has ended: the source is nobody's then
}

// chunk is what one read gave: the bytes of buf from headroom to end, then err.
type chunk struct {
	buf []byte
	end int
	err error
}

// readAhead starts reading blocks of size bytes.
func readAhead(src io.Reader, size int) *ahead {
	a := &ahead{
		full: make(chan chunk, blocksWaiting),
		free: make(chan []byte, blocksWaiting+2),
		stop: make(chan struct{}),
		done: make(chan struct{}),
	}
	for range cap(a.free) {
		a.free <- nil
	}
	go a.run(src, headroom+size)
	return a
}

func (a *ahead) run(src io.Reader, size int) {
	defer close(a.done)
	for {
		c := chunk{}
		select {
		case c.buf = <-a.free:
		case <-a.stop:
			return
		}
		if c.buf == nil {
			c.buf = make([]byte, size)
		}
		c.end, c.err = readSome(src, c.buf[headroom:])
		c.end += headroom
		select {
		case a.full <- c:
		case <-a.stop:
			return
		}
		if c.err != nil {
			return
		}
	}
}

// readSome reads until something has come, or the source has no more.
func readSome(src io.Reader, b []byte) (n int, err error) {
	for range 100 {
		if n, err = src.Read(b); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, &sourceError{io.ErrNoProgress}
}
