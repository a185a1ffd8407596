package dummybridge

import (
	"context"
	"time"
)

// slack is how far the switch's clock may stay behind.
const slack = 100 * time.Millisecond

// clock is what time it is, and what the switch knows of it.
type clock struct {
	now    time.Duration
	synced time.Duration // the switch's
}

// Advance sets the clock to a time since the switch was made; never back. The switch is told when it matters.
func (s *Switch) Advance(now time.Duration) { s.clock.now = max(s.clock.now, now) }

// sync tells the switch what time it is, if it is far behind.
func (s *Switch) sync() error {
	behind := s.clock.now - s.clock.synced
	if behind < slack {
		return nil
	}
	by := behind.Truncate(time.Millisecond)
	if err := s.sw.Warp(context.Background(), by); err != nil {
		return err
	}
	s.clock.synced += by
	return s.sw.Listen(context.Background())
}
