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
	if w.err != nil {
		return w.end - w.pos
	}
	w.makeRoom(n)
	for empty := 0; w.end-w.pos < n && w.err == nil; empty++ {
		got, err := w.src.Read(w.buf[w.end:])
		w.end += got
		w.err = err
		if got > 0 {
			empty = 0
		} else if empty == 100 && err == nil {
			w.err = &sourceError{io.ErrNoProgress}
		}
	}
	return w.end - w.pos
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
