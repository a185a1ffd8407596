package pcap

import (
	"bufio"
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
	out  *bufio.Writer
	file *os.File // nil unless Create made it
}

// Create makes or truncates the file at path for writing a capture. Close completes it.
func Create(path string) (*Writer, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("create capture: %w", err)
	}
	w := NewWriter(file)
	w.file = file
	return w, nil
}

// NewWriter writes a capture to dst. Close completes it: a capture without frames is a
// file header alone.
func NewWriter(dst io.Writer) *Writer {
	w := &Writer{out: bufio.NewWriterSize(dst, writeBuffer)}
	h := make([]byte, 0, classicHeader)
	h = binary.LittleEndian.AppendUint32(h, 0xa1b23c4d)
	h = binary.LittleEndian.AppendUint16(h, 2)
	h = binary.LittleEndian.AppendUint16(h, 4)
	h = append(h, make([]byte, 8)...) // time zone and accuracy, both always 0
	h = binary.LittleEndian.AppendUint32(h, MaxFrame)
	h = binary.LittleEndian.AppendUint32(h, linkEthernet)
	w.out.Write(h) // stays in the buffer; an error of dst comes with Flush
	return w
}

// Write appends a frame. Of rec it takes Time, Data and OrigLen. It fails if the time lies
// outside the years 1970 to 2106, the frame exceeds MaxFrame or dst fails.
func (w *Writer) Write(rec Record) error {
	sec := rec.Time / 1e9
	if rec.Time < 0 || sec > math.MaxUint32 {
		return fmt.Errorf("write frame: time %d ns is outside the years 1970 to 2106 a classic capture can tell", rec.Time)
	}
	if len(rec.Data) > MaxFrame {
		return fmt.Errorf("write frame: %d bytes are more than %d", len(rec.Data), MaxFrame)
	}
	h := w.out.AvailableBuffer()
	h = binary.LittleEndian.AppendUint32(h, uint32(sec))
	h = binary.LittleEndian.AppendUint32(h, uint32(rec.Time%1e9))
	h = binary.LittleEndian.AppendUint32(h, uint32(len(rec.Data)))
	h = binary.LittleEndian.AppendUint32(h, uint32(max(rec.OrigLen, len(rec.Data))))
	if _, err := w.out.Write(h); err != nil {
		return fmt.Errorf("write frame: %w", err)
	}
	if _, err := w.out.Write(rec.Data); err != nil {
		return fmt.Errorf("write frame: %w", err)
	}
	return nil
}

// Flush passes everything written so far to the destination.
func (w *Writer) Flush() error {
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("write capture: %w", err)
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
