package pcap

import (
	"fmt"
	"math"
	"math/bits"
)

// Interface options that change the meaning of frames (draft-ietf-opsawg-pcapng 4.2).
const (
	optEnd      = 0
	optTsResol  = 9
	optTsOffset = 14
)

// port is an interface a section has declared.
type port struct {
	link  uint32
	snap  uint32 // most bytes captured of a frame, 0: no limit
	clock clock
}

// clock gives an interface's time stamps their meaning.
type clock struct {
	perSecond uint64 // ticks in a second, never 0
	offset    int64  // seconds to add
}

// maxSeconds is the last whole second 64 bits of nanoseconds hold to either side of 1970.
const maxSeconds = math.MaxInt64/1_000_000_000 - 1

// nanoseconds converts a time stamp, rounding down; ok is false if it does not fit.
func (c clock) nanoseconds(ticks uint64) (ns int64, ok bool) {
	whole, part := ticks/c.perSecond, ticks%c.perSecond
	if whole > math.MaxInt64/2 {
		return 0, false
	}
	sec := int64(whole) + c.offset
	if sec > maxSeconds || sec < -maxSeconds {
		return 0, false
	}
	hi, lo := bits.Mul64(part, 1e9)
	frac, _ := bits.Div64(hi, lo, c.perSecond)
	return sec*1e9 + int64(frac), true
}

// addPort reads an interface block.
func (n *ng) addPort(r *Reader) error {
	if n.block.total > MaxFrame {
		return r.fault(n.block.at, BadLength, fmt.Sprintf("an interface block of %d bytes, more than %d", n.block.total, MaxFrame))
	}
	if len(n.ports) == maxInterfaces {
		return r.fault(n.block.at, BadBlock, fmt.Sprintf("more than %d interfaces in a section", maxInterfaces))
	}
	b := r.in.peek(int(n.block.total))
	if len(b) < int(n.block.total) {
		return r.short(n.block.at, "the block", int(n.block.total), len(b))
	}
	p := port{
		link:  uint32(n.uint16(b[8:])),
		snap:  n.uint32(b[12:]),
		clock: clock{perSecond: 1e6},
	}
	if err := n.options(r, b[16:len(b)-4], &p.clock); err != nil {
		return err
	}
	n.ports = append(n.ports, p)
	return nil
}

// options applies an interface's options to its clock.
func (n *ng) options(r *Reader, b []byte, c *clock) error {
	for len(b) >= 4 {
		code, size := n.uint16(b), int(n.uint16(b[2:]))
		if code == optEnd {
			return nil
		}
		b = b[4:]
		if size > len(b) {
			return r.fault(n.block.at, BadBlock, fmt.Sprintf("option %d of an interface has %d bytes, %d are there", code, size, len(b)))
		}
		if err := n.option(r, code, b[:size], c); err != nil {
			return err
		}
		b = b[min((size+3)&^3, len(b)):]
	}
	return nil
}

// option applies one option.
func (n *ng) option(r *Reader, code uint16, value []byte, c *clock) error {
	switch {
	case code == optTsResol && len(value) == 1:
		unit, ok := ticksPerSecond(value[0])
		if !ok {
			return r.fault(n.block.at, BadTime, fmt.Sprintf("time resolution %#x is finer than 64 bits can tell", value[0]))
		}
		c.perSecond = unit
	case code == optTsOffset && len(value) == 8:
		c.offset = n.int64(value)
		if c.offset > maxSeconds || c.offset < -maxSeconds {
			return r.fault(n.block.at, BadTime, fmt.Sprintf("a time offset of %d s", c.offset))
		}
	case code == optTsResol || code == optTsOffset:
		return r.fault(n.block.at, BadBlock, fmt.Sprintf("time option %d of an interface has %d bytes", code, len(value)))
	}
	return nil
}

// ticksPerSecond decodes if_tsresol: a negative power of ten, or of two with the top bit
// set. ok is false for units that need more than 64 bits.
func ticksPerSecond(resol byte) (unit uint64, ok bool) {
	exp := resol & 0x7f
	if resol&0x80 != 0 {
		return 1 << exp, exp < 64
	}
	unit = 1
	for range min(exp, 19) {
		unit *= 10
	}
	return unit, exp <= 19
}

// int64 reads a number in the section's byte order.
func (n *ng) int64(b []byte) int64 {
	first, second := uint64(n.uint32(b)), uint64(n.uint32(b[4:]))
	if n.swapped {
		return int64(first<<32 | second)
	}
	return int64(second<<32 | first)
}
