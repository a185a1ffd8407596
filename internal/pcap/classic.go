package pcap

import (
	"fmt"
	"math/bits"
)

// classicHeader is the size of a classic file header, in bytes.
const classicHeader = 24

// classic reads the classic format (draft-ietf-opsawg-pcap): a file header, then records
// of a header and a frame.
type classic struct {
	magic   uint32
	swapped bool  // numbers are big-endian
	tick    int64 // nanoseconds per unit of the time stamp's fraction
	header  int   // bytes of a record header
	pending int   // bytes of the last record, lent and still in view
}

// classics are the layouts known, by magic.
var classics = []classic{
	{magic: 0xa1b2c3d4, tick: 1000, header: 16},
	{magic: 0xa1b23c4d, tick: 1, header: 16},
	{magic: 0xa1b2cd34, tick: 1000, header: 24}, // record headers name interface and protocol
}

func newClassic(r *Reader, c classic) (format, error) {
	h := r.in.peek(classicHeader)
	if len(h) < classicHeader {
		return nil, r.short(0, "the file header", classicHeader, len(h))
	}
	version := c.uint32(h[4:])
	major, minor := version&0xffff, version>>16
	if c.swapped {
		major, minor = minor, major
	}
	if major != 2 {
		return nil, r.fault(4, BadHeader, fmt.Sprintf("version %d.%d, but 2.4 is the one in use", major, minor))
	}
	if link := c.uint32(h[20:]) & linkMask; link != linkEthernet {
		return nil, r.fault(20, ForeignLink, linkFault(link))
	}
	r.in.skip(classicHeader)
	return &c, nil
}

// next implements format.
func (c *classic) next(r *Reader, rec *Record) error {
	w := r.in
	w.pos += c.pending
	c.pending = 0
	h := w.peek(c.header)
	if len(h) < c.header {
		if len(h) == 0 {
			return r.end()
		}
		return r.short(w.offset(), "the record header", c.header, len(h))
	}
	sec, frac := c.uint32(h), c.uint32(h[4:])
	size, orig := c.uint32(h[8:]), c.uint32(h[12:])
	if size > MaxFrame {
		return r.fault(w.offset(), BadLength, fmt.Sprintf("a frame of %d bytes, more than %d", size, MaxFrame))
	}
	n := c.header + int(size)
	b := w.peek(n)
	if len(b) < n {
		return r.short(w.offset(), "the frame", int(size), len(b)-c.header)
	}
	c.pending = n
	r.frames++
	rec.Time = int64(sec)*1e9 + int64(frac)*c.tick
	rec.Data = b[c.header:n:n]
	rec.OrigLen = wireLength(orig, size)
	rec.Index = r.frames
	rec.Offset = w.offset()
	return nil
}

// uint32 reads a number in the file's byte order.
func (c *classic) uint32(b []byte) uint32 {
	v := leUint32(b)
	if c.swapped {
		return bits.ReverseBytes32(v)
	}
	return v
}
