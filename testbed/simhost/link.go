package simhost

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// Faults are what a link does to frames, each way, by chance. Probabilities are 0 to 1.
type Faults struct {
	Loss      float64 // a frame is lost
	Duplicate float64 // a frame arrives twice
	Reorder   float64 // a frame is held back, so that those behind overtake it
	// HoldBack is how long a frame is held back; ten latencies if 0.
	HoldBack time.Duration
}

// check refuses what is no probability.
func (f Faults) check() error {
	for _, p := range []float64{f.Loss, f.Duplicate, f.Reorder} {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("set faults: probability %v: give 0 to 1", p)
		}
	}
	if f.HoldBack < 0 {
		return fmt.Errorf("set faults: hold back %v: give a time of 0 or more", f.HoldBack)
	}
	return nil
}

// wire is one direction of a link. Frames arrive in the order sent unless Faults say
// otherwise.
type wire struct {
	queue   *queue
	host    *Host
	latency time.Duration
	extra   time.Duration // the host is slow
	last    time.Duration // when the frame before arrives
	cut     bool
	faults  Faults
	random  *rand.Rand
	deliver func(frame []byte)
}

// newWire makes the wire of a name with chances of its own, so that adding a host does not
// change what happens to others.
func newWire(h *Host, direction string, deliver func([]byte)) *wire {
	name := fnv.New64a()
	name.Write([]byte(h.config.Name + " " + direction))
	return &wire{
		queue:   &h.world.queue,
		host:    h,
		latency: orTime(h.config.Latency, h.world.config.Latency),
		random:  rand.New(rand.NewPCG(h.world.config.Seed, name.Sum64())),
		deliver: deliver,
	}
}

// send puts a frame on the wire.
func (w *wire) send(frame []byte) {
	if w.cut {
		w.lose(frame, "cut")
		return
	}
	if w.chance(w.faults.Loss) {
		w.lose(frame, "loss")
		return
	}
	w.carry(frame)
	if w.chance(w.faults.Duplicate) {
		w.carry(frame)
	}
}

func (w *wire) carry(frame []byte) {
	at := w.queue.now + w.latency + w.extra
	if w.chance(w.faults.Reorder) {
		at += w.holdBack()
	} else {
		at = max(at, w.last)
		w.last = at
	}
	w.queue.push(event{at: at, wire: w, frame: frame})
}

func (w *wire) holdBack() time.Duration {
	if w.faults.HoldBack > 0 {
		return w.faults.HoldBack
	}
	return 10 * w.latency
}

// chance throws the dice, unless there is nothing to decide.
func (w *wire) chance(p float64) bool { return p > 0 && w.random.Float64() < p }

// arrive is the event at the wire's far end. What is on its way when a link is cut is lost.
func (w *wire) arrive(frame []byte) {
	if w.cut {
		w.lose(frame, "cut")
		return
	}
	w.deliver(frame)
}

func (w *wire) lose(frame []byte, why string) {
	w.host.counters.Lost++
	w.host.world.log(w.host, Lost, frame, why)
}
