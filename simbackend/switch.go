package simbackend

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend/conntrack"
	"hpnn/simbackend/flow"
)

// Switch is an OpenFlow switch in memory. See the package comment.
type Switch struct {
	mu     sync.Mutex
	now    time.Duration // virtual, since New
	swept  time.Duration // when timeouts were last looked at
	closed bool

	ports portIndex
	order []*datapath.Port // ascending, LOCAL last

	tables  tables
	cookies map[cookieKey]int
	count   int // rules in all tables
	peak    int // the most there were
	seq     uint64
	expires time.Duration // no rule times out before this

	cache *cache

	ct      *conntrack.Table
	ctSweep time.Duration

	events chan datapath.Event

	// Of the frame being executed.
	passes  []*pass  // by recirculation level
	frames  []*frame // copies, by level
	emit    func(datapath.Output)
	sink    func(datapath.Output) // of PacketOut
	fate    fate
	spot    spot // of the pass to come
	preview bool
	tracer  *tracer
	tracing *tracer // kept for the next that is asked for
}

// Config describes a Switch.
type Config struct {
	Ports []Port
	// Conntrack bounds the connection tracker; the zero value is OVS's default.
	Conntrack conntrack.Config
	// ConntrackSweep is how often connections that timed out are removed, in whole seconds; 0:
	// conntrack.SweepInterval, as a running ovs-vswitchd does. Until then they are not found, but hold
	// their translated tuple. Where virtual time is warped, OVS sweeps after each warp.
	ConntrackSweep time.Duration
}

// Port is a port of a Switch. The local port is always there.
type Port struct {
	Number openflow.PortNo // 1 to 0xfeff
	Name   string
}

// New makes a switch without flows, whose time is 0. As an OVS bridge with fail-mode=secure, it
// drops everything until it is given rules.
func New(c Config) (*Switch, error) {
	s := &Switch{
		cookies: map[cookieKey]int{},
		expires: never,
		cache:   newCache(),
		ct:      conntrack.New(c.Conntrack),
		ctSweep: cmp.Or(c.ConntrackSweep, conntrack.SweepInterval),
		events:  make(chan datapath.Event, eventQueue),
	}
	names := map[string]bool{}
	for _, p := range append(slices.Clone(c.Ports), Port{openflow.PortLocal, "LOCAL"}) {
		if s.ports.find(p.Number) != nil || names[p.Name] || p.Number == 0 || p.Number >= openflow.PortMax && p.Number != openflow.PortLocal {
			return nil, fmt.Errorf("add port %q: number %d or name is taken or out of range: use distinct numbers 1 to %d", p.Name, p.Number, openflow.PortMax-1)
		}
		names[p.Name] = true
		port := &datapath.Port{Number: p.Number, Name: p.Name}
		s.ports.add(port)
		s.order = append(s.order, port)
	}
	slices.SortFunc(s.order, func(a, b *datapath.Port) int { return cmp.Compare(a.Number, b.Number) })
	s.event(datapath.Event{Kind: datapath.Connected})
	return s, nil
}

// Verdict is what became of a frame, in brief.
type Verdict struct {
	Outputs   int // frames that left
	PacketIns int // frames that went to the controller
	// Table is where the last lookup took place, and Flow what it found; nothing if Matched is false.
	Table   openflow.TableID
	Matched bool
	Flow    openflow.Flow
	// Err is why the switch gave the frame up, such as too many resubmits; usually nil.
	Err error
}

// fate is what has become of a frame so far.
type fate struct {
	outputs, packetIns int
	last               lookup
	err                error
}

// Receive executes a frame that comes in on a port and hands each frame that leaves to emit, in
// order. A frame given to emit is valid during the call only. A frame from a port that does not
// exist, or shorter than an Ethernet header, is ignored.
func (s *Switch) Receive(in datapath.Injection, emit func(datapath.Output)) (v Verdict) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.receive(in, emit, &v)
	return v
}

// receive is Receive into v, which is zero.
func (s *Switch) receive(in datapath.Injection, emit func(datapath.Output), v *Verdict) {
	port := s.ports.find(in.InPort)
	if s.closed || port == nil || len(in.Frame) < minFrame {
		return
	}
	s.fate, s.emit = fate{}, emit
	port.RxFrames++
	port.RxBytes += uint64(len(in.Frame))
	if !s.recall(in) {
		s.walk(s.arrive(in), 0, nil, 0)
	}
	s.emit = nil
	v.Outputs, v.PacketIns, v.Table, v.Err = s.fate.outputs, s.fate.packetIns, s.fate.last.table, s.fate.err
	if r := s.fate.last.rule; r != nil {
		v.Matched, v.Flow = true, r.flow
	}
}

// recall does what the cache remembers of a frame, if it does.
func (s *Switch) recall(in datapath.Injection) bool {
	if s.tracer != nil || !s.ct.Idle() {
		return false
	}
	at := &s.spot
	layout, ok := at.view.Read(in.Frame, uint16(in.InPort))
	if !ok {
		return false
	}
	key, hash, wanted := at.view.Microflow(), uint64(0), false
	if !s.cache.resting() {
		hash = key.Hash()
		m := s.cache.find(hash, key)
		if m != nil && !m.dead {
			s.cache.found++
			s.replay(s.frame(in, layout), m.outcome, &m.sequel, 0)
			return true
		}
		wanted = m != nil || s.cache.again(hash)
	}
	if m := s.cache.start.find(&at.view, &s.cache.work); m != nil {
		var next *sequel
		if wanted && s.cache.admits() {
			next = s.cache.remember(hash, key, m.outcome)
		}
		s.cache.earn()
		s.replay(s.frame(in, layout), m.outcome, next, 0)
		return true
	}
	if wanted || s.cache.affords() {
		at.place, at.microflow, at.hash, at.sequel = &s.cache.start, wanted, hash, nil
	}
	return false
}

// packetOut executes actions on a frame as if it came in on a port.
func (s *Switch) packetOut(in datapath.Injection, c *code) {
	if s.ports.find(in.InPort) == nil {
		return
	}
	s.fate, s.emit = fate{}, s.sink
	f := s.arrive(in)
	if f == nil {
		return
	}
	p := s.pass(0)
	p.begin(s, len(in.Frame))
	p.perform(c, 0)
	s.settle(p.learned)
	s.execute(f, p, p.steps, 0)
	s.emit = nil
}

// Aborts counts the frames so far at which ovs-vswitchd 3.1.0 would have ended. See
// conntrack.Table.Aborts.
func (s *Switch) Aborts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ct.Aborts()
}

// WaitingBehind is the number of fragments held behind a recirculation. See conntrack.Table.WaitingBehind.
func (s *Switch) WaitingBehind() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ct.WaitingBehind()
}

// OnOutput sets who gets the frames that leave because of a PacketOut. A frame is valid during
// the call only.
func (s *Switch) OnOutput(sink func(datapath.Output)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sink = sink
}

// arrive makes a frame of the bytes that a port has delivered and gives its fields to the first pass. It returns nil if
// they are shorter than an Ethernet header.
func (s *Switch) arrive(in datapath.Injection) *frame {
	k := &s.pass(0).key
	layout, ok := flow.Extract(in.Frame, uint16(in.InPort), k)
	if !ok {
		return nil
	}
	f := s.frame(in, layout)
	f.key.CopyFrame(k)
	return f
}

// frame is the buffer of frames that arrive, with this one in it.
func (s *Switch) frame(in datapath.Injection, layout flow.Layout) *frame {
	if len(s.frames) == 0 {
		s.frames = append(s.frames, &frame{})
	}
	f := s.frames[0]
	f.ct.Meta, f.frozen, f.recirc = conntrack.Meta{}, nil, 0
	f.Packet.Load(in.Frame, layout)
	return f
}

// minFrame is an Ethernet header: no port delivers less.
const minFrame = 14

const eventQueue = 1024

// event queues an event; when the queue is nearly full, packet-ins are lost.
func (s *Switch) event(e datapath.Event) {
	if s.closed || e.Kind == datapath.PacketIn && len(s.events) >= eventQueue*3/4 {
		return
	}
	select {
	case s.events <- e:
	default:
	}
}
