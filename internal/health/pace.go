package health

import (
	"math/bits"
	"time"

	"hpnn/model"
)

// minInterval keeps a monitor that was built by hand without an interval from probing without pause. It is the least the
// model accepts.
const minInterval = 10 * time.Millisecond

// A Pace says how long after the start of one probe of a member the next one starts.
type Pace struct {
	Interval time.Duration
	Fast     time.Duration // while the member is undecided; 0 stands for Interval
	Slow     time.Duration // while it is down and that is decided; 0 stands for Interval
}

// PaceOf returns the pace of a monitor.
func PaceOf(m model.HealthMonitor) Pace {
	return Pace{Interval: m.Interval, Fast: m.FastInterval, Slow: m.SlowInterval}
}

// For returns the interval that a member in the given condition is probed at, at least 10 ms.
func (p Pace) For(s Status) time.Duration {
	d := p.Interval
	switch {
	case s.Undecided && p.Fast > 0:
		d = p.Fast
	case !s.Undecided && s.State == Down && p.Slow > 0:
		d = p.Slow
	}
	return max(d, minInterval)
}

// Spread returns how long after the common start the k-th member (from 0) is probed first: a moment in [0, interval).
//
// The moments are the multiples of the golden ratio, without their whole parts. They lie evenly however many members there
// are: of n moments no two are closer than 0.44/n of the interval, and no gap is wider than 1.90/n. So members that are
// added later fall between the ones before them, which need not move. To divide the interval by the number of members one
// would have to know that number first; a hash would form clusters.
func Spread(k uint64, interval time.Duration) time.Duration {
	const golden = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio
	high, _ := bits.Mul64(k*golden, uint64(max(interval, 0)))
	return time.Duration(high)
}

// following returns when the probe after one that was due at a moment and has ended at another is due.
//
// It lies on the grid of the due moments, not at a distance from the end, so that nothing drifts: a late probe does not
// delay all that follow. If its moment has passed, it is due at once; of several moments that have passed, the last one
// counts and the others are left out.
func following(due, ended time.Time, interval time.Duration) time.Time {
	next := due.Add(interval)
	if late := ended.Sub(next); late > 0 {
		next = next.Add(late - late%interval)
	}
	return next
}
