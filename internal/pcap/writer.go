package pcap

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
)

// writeBuffer is how much a Writer gathers before it writes, in bytes.
const writeBuffer = 256 << 10

// Writer writes a classic capture of Ethernet frames: little-endian, nanoseconds, version
// 2.4. It is not safe for concurrent use.
type Writer struct {
	buf    []byte // gathered, not yet written
	dst    io.Writer
	file   *os.File // nil unless Create made it
	behind *Behind  // who writes; nil: the Writer itself
	err    error    // of dst: what every further call gives
}

// Create makes or truncates the file at path for writing a capture. Close completes it.
func Create(path string) (*Writer, error) { return create(path, nil) }

func create(path string, behind *Behind) (*Writer, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("create capture: %w", err)
	}
	w := NewWriter(file)
	w.file, w.behind = file, behind
	return w, nil
}

// NewWriter writes a capture to dst. Close completes it: a capture without frames is a
// file header alone.
func NewWriter(dst io.Writer) *Writer {
	h := make([]byte, 0, writeBuffer)
	h = binary.LittleEndian.AppendUint32(h, 0xa1b23c4d)
	h = binary.LittleEndian.AppendUint16(h, 2)
	h = binary.LittleEndian.AppendUint16(h, 4)
	h = append(h, make([]byte, 8)...) // time zone and accuracy, both always 0
	h = binary.LittleEndian.AppendUint32(h, MaxFrame)
	h = binary.LittleEndian.AppendUint32(h, linkEthernet)
	return &Writer{buf: h, dst: dst}
}

// Write appends a frame. Of rec it takes Time, Data and OrigLen. It fails if the time lies
// outside the years 1970 to 2106, the frame exceeds MaxFrame or dst failed.
func (w *Writer) Write(rec Record) error {
	sec := rec.Time / 1e9
	if rec.Time < 0 || sec > math.MaxUint32 {
		return fmt.Errorf("write frame: time %d ns is outside the years 1970 to 2106 a classic capture can tell", rec.Time)
	}
	if len(rec.Data) > MaxFrame {
		return fmt.Errorf("write frame: %d bytes are more than %d", len(rec.Data), MaxFrame)
	}
	if len(w.buf)+16+len(rec.Data) > writeBuffer {
		w.write()
	}
	if w.err != nil {
		return fmt.Errorf("write frame: %w", w.err)
	}
	at := len(w.buf)
	b := append(w.buf, make([]byte, 16)...)
	h := b[at : at+16]
	binary.LittleEndian.PutUint32(h, uint32(sec))
	binary.LittleEndian.PutUint32(h[4:], uint32(rec.Time%1e9))
	binary.LittleEndian.PutUint32(h[8:], uint32(len(rec.Data)))
	binary.LittleEndian.PutUint32(h[12:], uint32(max(rec.OrigLen, len(rec.Data))))
	w.buf = append(b, rec.Data...)
	return nil
}

// write passes on what is gathered, or lets Behind do so and takes an empty buffer.
func (w *Writer) write() {
	switch {
	case w.err != nil || len(w.buf) == 0:
	case w.behind != nil:
		w.buf, w.err = w.behind.write(w.file, w.buf)
	default:
		_, w.err = w.dst.Write(w.buf)
		w.buf = w.buf[:0]
	}
}

// Flush passes everything written so far to the destination.
func (w *Writer) Flush() error {
	w.write()
	if w.behind != nil && w.err == nil {
		w.err = w.behind.wait()
	}
	if w.err != nil {
		return fmt.Errorf("write capture: %w", w.err)
	}
	return nil
}

// Close flushes, and closes the file Create made. A destination given to NewWriter stays
// open.
func (w *Writer) Close() error {
	err := w.Flush()
	if w.file == nil {
		return err
	}
	if closed := w.file.Close(); err == nil && closed != nil {
		err = fmt.Errorf("write capture: %w", closed)
	}
	return err
}
