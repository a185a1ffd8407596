package simhost

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Scope is how much of a host a pause stops.
type Scope uint8

// Possible scopes.
const (
	// Processes stand still, as after `docker pause`: nothing is accepted, read or written,
	// and no timer of theirs fires, but the kernel lives: it answers ARP and ping, completes
	// handshakes until the backlog is full, and acknowledges data.
	Processes Scope = 1 + iota
	// Machine stands still, as a virtual machine that is suspended: frames wait in the card's
	// queue, those that do not fit are lost, and no timer fires.
	Machine
)

// String is the scope's name.
func (s Scope) String() string {
	switch s {
	case Processes:
		return "processes"
	case Machine:
		return "machine"
	}
	return fmt.Sprintf("Scope(%d)", uint8(s))
}

// service is something a host's processes do that can be started again.
type service struct {
	name  string
	start func() error
}

// life is what is wrong with a host, and what waits because of it.
type life struct {
	paused  Scope // 0: none
	killed  bool
	deaths  int // how often it was
	cut     bool
	slow    time.Duration
	stalled []*timer // on hold
	card    [][]byte // frames received by a machine that is paused
	apps    timer    // runs the tasks
	tasks   []task   // what the processes have to do
}

// task is a turn of a process.
type task interface{ run() }

type taskFunc func()

func (f taskFunc) run() { f() }

// frozen reports whether something of this scope stands still.
func (l *life) frozen(s Scope) bool { return l.paused >= s }

func (h *Host) holdsMachine(t *timer) bool { return h.hold(Machine, t) }
func (h *Host) holdsApp(t *timer) bool     { return h.hold(Processes, t) }

// hold keeps a timer that expires during a pause.
func (h *Host) hold(s Scope, t *timer) bool {
	if !h.life.frozen(s) {
		return false
	}
	h.life.stalled = append(h.life.stalled, t)
	return true
}

// schedule gives the processes something to do.
func (h *Host) schedule(f func()) { h.enqueueTask(taskFunc(f)) }

func (h *Host) enqueueTask(t task) {
	h.life.tasks = append(h.life.tasks, t)
	if !h.life.apps.armed && !h.life.apps.onHold {
		h.life.apps.reset(0)
	}
}

// runApps gives every process that has something to do its turn.
func (h *Host) runApps() {
	tasks, deaths := h.life.tasks, h.life.deaths
	h.life.tasks = nil
	for _, t := range tasks {
		if h.life.deaths == deaths {
			t.run()
		}
	}
	if h.life.tasks == nil {
		clear(tasks)
		h.life.tasks = tasks[:0]
	}
}

// enqueue keeps a frame in the card of a machine that is paused.
func (h *Host) enqueue(frame []byte) {
	if len(h.life.card) >= h.config.Queue {
		h.down.lose(frame, "queue full")
		return
	}
	h.life.card = append(h.life.card, frame)
}

// Pause stops the host's processes, or the whole machine, until Resume. A wider pause
// replaces a narrower one, and the reverse.
func (h *Host) Pause(s Scope) {
	h.life.paused = s
	if s < Machine {
		h.thaw()
	}
}

// Resume lets a paused host go on: timers that expired meanwhile fire now, and frames that
// wait in the card are received.
func (h *Host) Resume() {
	h.life.paused = 0
	h.thaw()
	for c := range h.conns { // order does not matter: only waiting goroutines are woken
		h.conns[c].signal.broadcast()
	}
	for _, a := range h.acceptors {
		a.signal.broadcast()
	}
}

// thaw lets go what the present pause does not hold.
func (h *Host) thaw() {
	stalled := h.life.stalled
	h.life.stalled = nil
	for _, t := range stalled {
		t.release()
	}
	card := h.life.card
	h.life.card = nil
	for _, frame := range card {
		h.Receive(frame)
	}
}

// Kill ends the host's processes at once. The kernel lives and closes what they had open, as
// Linux does: connecting is answered with RST, and each connection ends with FIN, or with RST
// if the process had not read all, or had not accepted it.
func (h *Host) Kill() {
	h.life.killed = true
	h.life.deaths++
	h.life.tasks = nil
	if h.life.paused == Processes {
		h.Resume()
	}
	for _, port := range sortedKeys(h.acceptors) {
		h.acceptors[port].Close()
	}
	clear(h.sockets)
	for _, c := range h.byBirth() {
		if !c.orphan {
			h.abandon(c)
		}
	}
	clear(h.idle)
	h.endRequests()
}

// abandon hangs up a connection whose process is no more.
func (h *Host) abandon(c *Conn) {
	c.handler = nil
	c.Close()
	if c.state == Closed && c.err == nil {
		c.err = ErrKilled
	}
	c.signal.broadcast()
}

// endRequests lets requests and pings under way fail, in the order they began.
func (h *Host) endRequests() {
	requests := make([]*Request, 0, len(h.requests))
	for r := range h.requests {
		requests = append(requests, r)
	}
	slices.SortFunc(requests, func(a, b *Request) int { return cmp.Compare(a.serial, b.serial) })
	for _, r := range requests {
		r.fail(ErrKilled)
	}
	for _, id := range sortedKeys(h.pings) {
		h.pings[id].finish(PingResult{Err: ErrKilled})
	}
}

// Revive starts the services of a killed host again, as new processes.
func (h *Host) Revive() error {
	if !h.life.killed {
		return nil
	}
	h.life.killed = false
	for _, s := range h.services {
		if err := s.start(); err != nil {
			return fmt.Errorf("revive %s: start %s: %w", h.config.Name, s.name, err)
		}
	}
	return nil
}

// serve starts a service, now and at every Revive.
func (h *Host) serve(s service) error {
	if err := s.start(); err != nil {
		return err
	}
	h.services = append(h.services, s)
	return nil
}

// Cut unplugs the host: all frames are lost, also those on their way.
func (h *Host) Cut() { h.plug(true) }

// Mend plugs the host in again.
func (h *Host) Mend() { h.plug(false) }

func (h *Host) plug(cut bool) { h.life.cut, h.up.cut, h.down.cut = cut, cut, cut }

// Slow makes every frame from and to the host take d longer. 0 makes it fast again.
func (h *Host) Slow(d time.Duration) { h.life.slow, h.up.extra, h.down.extra = d, d, d }

// SetFaults sets what the host's link does to frames by chance.
func (h *Host) SetFaults(f Faults) error {
	if err := f.check(); err != nil {
		return err
	}
	h.up.faults, h.down.faults = f, f
	return nil
}

// Condition is "running", or what is wrong with the host: "paused (machine)", "killed, cut",
// "slow by 50ms".
func (h *Host) Condition() string {
	var parts []string
	if h.life.paused != 0 {
		parts = append(parts, fmt.Sprintf("paused (%s)", h.life.paused))
	}
	if h.life.killed {
		parts = append(parts, "killed")
	}
	if h.life.cut {
		parts = append(parts, "cut")
	}
	if h.life.slow != 0 {
		parts = append(parts, fmt.Sprintf("slow by %s", h.life.slow))
	}
	if parts == nil {
		return "running"
	}
	return strings.Join(parts, ", ")
}

// openPorts is ", listens tcp/8080 udp/9", or nothing.
func (h *Host) openPorts() string {
	var b strings.Builder
	for _, p := range sortedKeys(h.acceptors) {
		fmt.Fprintf(&b, " tcp/%d", p)
	}
	for _, p := range sortedKeys(h.sockets) {
		fmt.Fprintf(&b, " udp/%d", p)
	}
	if b.Len() == 0 {
		return ""
	}
	return ", listens" + b.String()
}

// sortedKeys is the keys of a map, ascending.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
