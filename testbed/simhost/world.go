package simhost

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Switch is what the hosts' cables end in.
type Switch interface {
	// Receive takes a frame that arrives at a port at a time of the world's clock. What
	// leaves the switch at once goes to emit, which copies it; what leaves later, to
	// World.Output. The frame must not be changed or kept.
	Receive(now time.Duration, port uint32, frame []byte, emit func(port uint32, frame []byte))
}

// SwitchFunc is a Switch that is one function.
type SwitchFunc func(now time.Duration, port uint32, frame []byte, emit func(port uint32, frame []byte))

// Receive calls f.
func (f SwitchFunc) Receive(now time.Duration, port uint32, frame []byte, emit func(port uint32, frame []byte)) {
	f(now, port, frame, emit)
}

// Config describes a World. The zero value is a good one.
type Config struct {
	Seed    uint64        // of sequence numbers and faults: other seeds, other runs
	Latency time.Duration // of each link, one way; 100 µs if 0
	Epoch   time.Time     // what clocks on the wall show at time 0; DefaultEpoch if zero
	Switch  Switch        // nil: a hub joins all ports
	Log     func(Entry)   // is told of every frame a host sends, receives, or misses; may be nil
}

// DefaultEpoch is when a World begins unless its Config says otherwise.
var DefaultEpoch = time.Date(2026, time.August, 17, 15, 0, 0, 0, time.FixedZone("MSK", 3*60*60))

const defaultLatency = 100 * time.Microsecond

// World is hosts, the links to their switch, and the one clock they live by.
type World struct {
	mu sync.Mutex // held by Do and Run; nobody else needs it
	queue
	config Config
	hosts  []*Host // in the order of Add
	byName map[string]*Host
	ports  map[uint32][]*Host
	emit   func(port uint32, frame []byte) // Output, bound once
	pump   pump
}

// New makes a world without hosts, at time 0.
func New(c Config) *World {
	if c.Latency == 0 {
		c.Latency = defaultLatency
	}
	if c.Epoch.IsZero() {
		c.Epoch = DefaultEpoch
	}
	w := &World{config: c, byName: map[string]*Host{}, ports: map[uint32][]*Host{}}
	w.emit = w.Output
	return w
}

// Add makes a host and plugs it in. Hosts given the same port share a segment behind it:
// they hear each other as on a hub.
func (w *World) Add(c HostConfig) (*Host, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if w.byName[c.Name] != nil {
		return nil, fmt.Errorf("add host %s: there is one of this name: choose another", c.Name)
	}
	h := newHost(w, c)
	w.hosts = append(w.hosts, h)
	w.byName[c.Name] = h
	w.ports[c.Port] = append(w.ports[c.Port], h)
	return h, nil
}

// Host is the host of a name, or nil.
func (w *World) Host(name string) *Host { return w.byName[name] }

// Hosts lists the hosts in the order they were added.
func (w *World) Hosts() []*Host { return slices.Clone(w.hosts) }

// Ports lists the ports that hosts are on, ascending.
func (w *World) Ports() []uint32 {
	ports := make([]uint32, 0, len(w.ports))
	for p := range w.ports {
		ports = append(ports, p)
	}
	slices.SortFunc(ports, cmp.Compare)
	return ports
}

// Now is the time since the world began.
func (w *World) Now() time.Duration { return w.now }

// Wall is what a clock on the wall shows now.
func (w *World) Wall() time.Time { return w.config.Epoch.Add(w.now) }

// At calls f at a time, or now if that has passed.
func (w *World) At(t time.Duration, f func()) {
	timer := &timer{queue: &w.queue, fire: f}
	timer.reset(t - w.now)
}

// After calls f when d has passed.
func (w *World) After(d time.Duration, f func()) { w.At(w.now+d, f) }

// Next is the time of the next event; ok is false if nothing will ever happen by itself.
func (w *World) Next() (at time.Duration, ok bool) { return w.next() }

// Step lets the next event happen; it is false if there is none.
func (w *World) Step() bool {
	w.runPosted()
	if _, ok := w.next(); !ok {
		return false
	}
	w.turn()
	return true
}

// turn lets the first event happen, which next has found to be a real one.
func (w *World) turn() {
	e := w.pop()
	w.now = e.at
	if e.timer != nil {
		e.timer.expire()
		return
	}
	e.wire.arrive(e.frame)
}

// AdvanceTo lets happen all that happens until time t, included, and sets the clock to t.
// A t in the past changes nothing.
func (w *World) AdvanceTo(t time.Duration) {
	w.runPosted()
	for {
		at, ok := w.next()
		if !ok || at > t {
			break
		}
		w.turn()
	}
	w.now = max(w.now, t)
}

// Advance lets d pass.
func (w *World) Advance(d time.Duration) { w.AdvanceTo(w.now + d) }

// Until lets time pass, event by event, until done says so, and reports whether it did
// before limit had passed. It looks after every event.
func (w *World) Until(done func() bool, limit time.Duration) bool {
	w.runPosted()
	end := w.now + limit
	for !done() {
		at, ok := w.next()
		if !ok || at > end {
			w.now = max(w.now, end)
			return false
		}
		w.turn()
	}
	return true
}

// Output lets a frame leave the switch at a port: the hosts there receive a copy after the
// latency of their links.
func (w *World) Output(port uint32, frame []byte) {
	hosts := w.ports[port]
	if len(hosts) == 0 {
		return
	}
	frame = slices.Clone(frame)
	for _, h := range hosts {
		h.down.send(frame)
	}
}

// enter takes a frame that a host has sent, at the far end of its link.
func (w *World) enter(from *Host, frame []byte) {
	for _, h := range w.ports[from.config.Port] {
		if h != from {
			h.down.send(frame)
		}
	}
	if w.config.Switch != nil {
		w.config.Switch.Receive(w.now, from.config.Port, frame, w.emit)
		return
	}
	for _, h := range w.hosts {
		if h.config.Port != from.config.Port {
			h.down.send(frame)
		}
	}
}

// log tells the log.
func (w *World) log(h *Host, what Fate, frame []byte, why string) {
	if w.config.Log != nil {
		w.config.Log(Entry{At: w.now, Host: h, Fate: what, Frame: frame, Why: why})
	}
}
