package dummybridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/ovsbackend"
	"hpnn/simbackend"
	"hpnn/testbed/dummy"
)

const (
	// eventQueue is how many events may wait.
	eventQueue = 1024
	// patience bounds calls: nothing takes so long unless the machine is very busy.
	patience = time.Minute
)

// Switch is a real switch in virtual time. It is made for one goroutine.
type Switch struct {
	sw      *dummy.Switch
	stop    func() error // ends sw
	bridge  *ovsbackend.Bridge
	names   map[openflow.PortNo]string
	numbers map[string]openflow.PortNo
	events  chan datapath.Event
	sink    func(datapath.Output)
	clock   clock
	drops   drops                    // as they were before any frame that was dropped since; may be nil
	found   map[string]openflow.Flow // by how a trace prints them
	lasting string                   // number of flows of which none times out; "" if not known
	failure error                    // what went wrong where nobody could be told
	closed  bool
}

var _ datapath.Bridge = (*Switch)(nil)

// Open starts a switch with the given ports. Close ends it.
func Open(ctx context.Context, ports []simbackend.Port) (*Switch, error) {
	var own []dummy.Port
	for _, p := range ports {
		own = append(own, dummy.Port{Name: p.Name, Number: uint32(p.Number)})
	}
	slices.SortFunc(own, func(a, b dummy.Port) int { return cmp.Compare(a.Number, b.Number) })
	sw, err := dummy.Start(ctx, dummy.Config{Ports: own})
	if err != nil {
		return nil, err
	}
	s, err := New(ctx, sw, own)
	if err != nil {
		return nil, errors.Join(err, sw.Close())
	}
	s.stop = sw.Close
	return s, nil
}

// New takes a running switch with the given ports, which nobody else may use until Close.
func New(ctx context.Context, sw *dummy.Switch, ports []dummy.Port) (*Switch, error) {
	s := &Switch{
		sw:      sw,
		stop:    func() error { return nil },
		names:   map[openflow.PortNo]string{openflow.PortLocal: dummy.Local},
		numbers: map[string]openflow.PortNo{dummy.Local: openflow.PortLocal},
		events:  make(chan datapath.Event, eventQueue),
		sink:    func(datapath.Output) {},
		found:   map[string]openflow.Flow{},
	}
	for _, p := range ports {
		number := openflow.PortNo(p.Number)
		s.names[number], s.numbers[p.Name] = p.Name, number
	}
	return s, s.connect(ctx)
}

// connect makes the connections to a switch that has just started.
func (s *Switch) connect(ctx context.Context) error {
	if err := s.openBridge(ctx); err != nil {
		return err
	}
	s.event(datapath.Event{Kind: datapath.Connected})
	return s.sw.Listen(ctx)
}

func (s *Switch) openBridge(ctx context.Context) error {
	b, err := ovsbackend.Open(ctx, ovsbackend.Config{
		RunDir: s.sw.Dir(), Control: filepath.Join(s.sw.Dir(), "vswitchd.ctl"), Bridge: dummy.Local, Timeout: patience,
	})
	if err == nil {
		s.bridge = b
	}
	return err
}

// Restart ends the switch and starts it anew, without flows and connections.
func (s *Switch) Restart(ctx context.Context) error {
	if err := s.bridge.Close(); err != nil {
		return fmt.Errorf("restart switch: %w", err)
	}
	s.event(datapath.Event{Kind: datapath.Disconnected})
	if err := s.sw.Restart(ctx); err != nil {
		return fmt.Errorf("restart switch: %w", err)
	}
	s.clock.synced = s.clock.now
	s.clock.skips = nil
	s.forget()
	if err := s.connect(ctx); err != nil {
		return fmt.Errorf("restart switch: %w", err)
	}
	return nil
}

// forget drops what was known of flows.
func (s *Switch) forget() {
	s.drops, s.lasting = nil, ""
	clear(s.found)
}

// fail remembers what went wrong where there is nobody to tell, for Close. A switch that has ended is
// started again.
func (s *Switch) fail(err error) {
	s.failure = errors.Join(s.failure, err)
	if errors.Is(err, dummy.ErrAborted) {
		s.failure = errors.Join(s.failure, s.Restart(context.Background()))
	}
}

// Close implements datapath.Bridge. Its error is all that went wrong while frames passed.
func (s *Switch) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	close(s.events)
	return errors.Join(s.failure, s.bridge.Close(), s.stop())
}

// event queues an event; when the queue is nearly full, packet-ins are lost.
func (s *Switch) event(e datapath.Event) {
	if e.Kind == datapath.PacketIn && len(s.events) >= eventQueue*3/4 {
		return
	}
	select {
	case s.events <- e:
	default:
	}
}
