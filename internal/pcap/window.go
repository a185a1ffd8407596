package pcap

import (
	"errors"
	"io"
)

// readSize is how much is asked of a source at once, in bytes: enough to make system
// calls rare, little enough to stay in the processor's cache.
const readSize = 256 << 10

// window is a forward-only view of a stream through one buffer, which grows beyond
// readSize only if a frame does, so to little more than 2 x MaxFrame.
type window struct {
	src      io.Reader
	buf      []byte
	pos, end int   // buf[pos:end] is read and not yet consumed
	base     int64 // offset of buf[0] in the stream
	err      error // why src gives no more

	eager bool   // whether to read ahead
	ahead *ahead // since the buffer was first refilled; nil before
	block []byte // of ahead: what buf is, unless a frame did not fit
}

// newWindow begins with a buffer of size bytes.
func newWindow(src io.Reader, size int) *window {
	return &window{src: src, buf: make([]byte, size)}
}

// offset is the stream position of the next byte.
func (w *window) offset() int64 { return w.base + int64(w.pos) }

// peek gives the next n bytes without consuming them, or the fewer that are left.
// They stay valid until the next peek or skip, which may move the buffer.
func (w *window) peek(n int) []byte {
	if w.end-w.pos < n {
		w.fill(n)
	}
	return w.buf[w.pos:min(w.pos+n, w.end)]
}

// skip consumes up to n bytes, holding none of them, and gives the number consumed.
func (w *window) skip(n int64) int64 {
	done := int64(0)
	for {
		step := min(n-done, int64(w.end-w.pos))
		w.pos += int(step)
		done += step
		if done == n || w.fill(1) == 0 {
			return done
		}
	}
}

// fill reads until n bytes are in view or the stream ends, and gives the bytes in view.
func (w *window) fill(n int) int {
	for w.end-w.pos < n && w.err == nil {
		if w.refills() {
			w.take(<-w.ahead.full, n)
			continue
		}
		w.makeRoom(n)
		got, err := readSome(w.src, w.buf[w.end:])
		w.end += got
		w.err = err
	}
	return w.end - w.pos
}

// refills reports whether blocks are read ahead: from the second read on, so that a capture of which
// only the beginning is looked at for now costs no more than its window.
func (w *window) refills() bool {
	if w.ahead == nil && w.eager && w.offset() > 0 && w.end > 0 {
		w.ahead = readAhead(w.src, len(w.buf))
	}
	return w.ahead != nil
}

// take puts a block behind what is in view. Little is copied: what is in view, if it fits in front of
// the block, or else the block.
func (w *window) take(c chunk, n int) {
	w.err = c.err
	view, more := w.buf[w.pos:w.end], c.buf[headroom:c.end]
	if len(view) <= headroom && len(view) <= len(more) {
		start := headroom - copy(c.buf[headroom-len(view):], view)
		w.base += int64(w.pos - start)
		w.give(w.block)
		w.block, w.buf, w.pos, w.end = c.buf, c.buf, start, c.end
		return
	}
	w.makeRoom(max(n, len(view)+len(more)))
	w.end += copy(w.buf[w.end:], more)
	w.give(c.buf)
}

// give returns a block to be filled again.
func (w *window) give(block []byte) {
	if block != nil {
		w.ahead.free <- block
	}
}

// drop forgets what is in view: nothing more is wanted. The source is in use until what it returns is
// closed, or not at all if that is nil.
func (w *window) drop() (busy <-chan struct{}) {
	w.buf, w.block, w.pos, w.end = nil, nil, 0, 0
	if w.ahead == nil {
		return nil
	}
	busy = w.ahead.done
	close(w.ahead.stop)
	w.ahead, w.eager = nil, false
	return busy
}

// makeRoom moves what is in view to the front if n bytes would not fit where it lies.
func (w *window) makeRoom(n int) {
	if w.pos < w.end && len(w.buf)-w.pos >= n {
		return
	}
	from := w.buf[w.pos:w.end]
	if n > len(w.buf) {
		w.buf = make([]byte, 2*n)
	}
	w.base += int64(w.pos)
	w.pos, w.end = 0, copy(w.buf, from)
}

// failure is the error that ended the stream, nil at its proper end.
func (w *window) failure() error {
	if w.err == nil || errors.Is(w.err, io.EOF) {
		return nil
	}
	return w.err
}
