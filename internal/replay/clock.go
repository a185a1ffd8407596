package replay

import "time"

// clock turns the time stamps of captures into the time of a switch: 0 at the first, and still where they
// step back.
type clock struct {
	frames int
	start  int64 // the first stamp, nanoseconds since 1970
	now    time.Duration
}

// tick moves the clock on to the next frame.
func (c *clock) tick(stamp int64) {
	if c.frames++; c.frames == 1 {
		c.start = stamp
	}
	c.now = max(c.now, time.Duration(stamp-c.start))
}

// stamp is the time now as in a capture.
func (c *clock) stamp() int64 { return c.start + int64(c.now) }
