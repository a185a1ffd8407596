package dummy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	pcapHeader   = 24      // bytes before the first record
	recordHeader = 16      // bytes before each frame: seconds, microseconds, captured length, length
	shrinkAbove  = 1 << 20 // a capture read up to its end is emptied above this size
)

// capture follows the file into which OVS appends the frames a port sends. OVS flushes each record, in the byte order
// of the machine.
type capture struct {
	port   string
	file   *os.File
	offset int64
	buffer []byte
}

func openCapture(port, path string) (*capture, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open capture of %s: %w", port, err)
	}
	return &capture{port: port, file: file, offset: pcapHeader, buffer: make([]byte, 64<<10)}, nil
}

// next appends the frames written since the last call to outputs.
func (c *capture) next(outputs []Output) ([]Output, error) {
	data, err := c.unread()
	if err != nil {
		return outputs, fmt.Errorf("read capture of %s: %w", c.port, err)
	}
	for len(data) >= recordHeader {
		end := recordHeader + int(binary.NativeEndian.Uint32(data[8:]))
		if end > len(data) {
			break
		}
		outputs = append(outputs, Output{Port: c.port, Frame: append([]byte(nil), data[recordHeader:end]...)})
		data, c.offset = data[end:], c.offset+int64(end)
	}
	if len(data) > 0 {
		return outputs, fmt.Errorf("read capture of %s: record at %d is cut short", c.port, c.offset)
	}
	return outputs, c.shrink()
}

// unread returns what follows the offset; it is valid until the next call.
func (c *capture) unread() ([]byte, error) {
	for n := 0; ; {
		got, err := c.file.ReadAt(c.buffer[n:], c.offset+int64(n))
		n += got
		switch {
		case errors.Is(err, io.EOF):
			return c.buffer[:n], nil
		case err != nil:
			return nil, err
		}
		c.buffer = append(c.buffer, make([]byte, len(c.buffer))...)
	}
}

// skip forgets what was not read.
func (c *capture) skip() error {
	info, err := c.file.Stat()
	if err != nil {
		return fmt.Errorf("skip capture of %s: %w", c.port, err)
	}
	c.offset = max(pcapHeader, info.Size())
	return c.shrink()
}

// shrink empties a long capture that has been read to its end. OVS appends, so its next record follows the header.
func (c *capture) shrink() error {
	if c.offset < shrinkAbove {
		return nil
	}
	if err := c.file.Truncate(pcapHeader); err != nil {
		return fmt.Errorf("empty capture of %s: %w", c.port, err)
	}
	c.offset = pcapHeader
	return nil
}

func (c *capture) close() { _ = c.file.Close() }
