package scenarios

import (
	"context"
	"time"

	"hpnn/testbed"
)

// Slack is how much later than told things may be on a bed in real time: the machine may be busy with something else.
const Slack = 3 * time.Second

// linger is how long frames may be under way on a bed in real time.
const linger = 100 * time.Millisecond

// inRealTime reports whether the bed has a clock that nobody can stop.
func (t *story) inRealTime() bool { return t.bed.Can(testbed.VirtualTime) != nil }

// slack is how much later than told something may be.
func (t *story) slack() time.Duration {
	if t.inRealTime() {
		return Slack
	}
	return 0
}

// catchUp lets what has happened arrive where it is looked for: frames at their hosts, packets in the counters of flows.
func (t *story) catchUp() error {
	if !t.inRealTime() {
		return nil
	}
	t.advance(linger)
	if c, ok := t.bed.Switch().Bridge().(testbed.Counter); ok {
		return c.Count(context.Background())
	}
	return nil
}
