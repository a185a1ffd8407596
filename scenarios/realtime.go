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

// hearOut lets what the node has done arrive in its log.
func (t *story) hearOut() {
	if t.inRealTime() {
		t.advance(linger)
	}
}

// catchUp lets what has happened arrive where it matters: frames at their hosts, packets in the counters of flows, and flows
// in what the switch has cached of them.
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
