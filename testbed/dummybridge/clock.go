package dummybridge

import (
	"context"
	"time"

	"hpnn/datapath/openflow"
)

// The switch's clock follows that of the world late and in leaps, for each leap costs 10 ms of real time, which no
// processor shortens: the daemon sleeps.
const (
	// slack is how far it may stay behind.
	slack = 100 * time.Millisecond
	// leap is the time that is worth finding out whether it can be left out.
	leap = time.Second
)

// clock is what time it is, and what the switch knows of it.
type clock struct {
	now    time.Duration // of the world
	synced time.Duration // of the world, when the switch's clock last moved
	own    time.Duration // of the switch
	skips  []skip
	strict bool // nothing may be skipped any more
}

// skip is time that the switch did not hear of.
type skip struct{ own, by time.Duration }

// Advance sets the clock to a time since the switch was made; never back. The switch is told when it matters.
func (s *Switch) Advance(now time.Duration) { s.clock.now = max(s.clock.now, now) }

// sync tells the switch what time it is, if it is far behind. Time in which nothing could come to its end is left out.
func (s *Switch) sync() error {
	behind := (s.clock.now - s.clock.synced).Truncate(time.Millisecond)
	if behind < slack {
		return nil
	}
	if behind >= leap && !s.clock.strict {
		if idle, err := s.timeless(); err != nil {
			return err
		} else if idle {
			s.clock.skips = append(s.clock.skips, skip{s.clock.own, behind})
			s.clock.synced += behind
			return nil
		}
	}
	return s.warp(behind)
}

func (s *Switch) warp(by time.Duration) error {
	if err := s.sw.Warp(context.Background(), by); err != nil {
		return err
	}
	s.clock.own += by
	s.clock.synced += by
	return s.sw.Listen(context.Background())
}

// apart lets what is put into the switch now be younger than what was there before time was left out.
func (s *Switch) apart() error {
	if n := len(s.clock.skips); n > 0 && s.clock.skips[n-1].own == s.clock.own {
		return s.warp(time.Millisecond)
	}
	return nil
}

// age is the age of something that the switch's clock gives an age.
func (c *clock) age(own time.Duration) time.Duration {
	whole := own
	for i := len(c.skips) - 1; i >= 0 && c.skips[i].own >= c.own-own; i-- {
		whole += c.skips[i].by
	}
	return whole
}

// correct gives flows that do not time out their true age. What learned them, or hit them last, is not known, so a
// time since then stays as the switch has it.
func (c *clock) correct(flows []openflow.FlowEntry) {
	if len(c.skips) == 0 {
		return
	}
	for i, f := range flows {
		if f.IdleTimeout == 0 && f.HardTimeout == 0 {
			flows[i].Duration, flows[i].HardAge = c.age(f.Duration), c.age(f.HardAge)
		}
	}
}
