package testbed

import (
	"context"
	"fmt"
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/model"
	"hpnn/simbackend"
)

// VirtualSwitch is a switch whose clock stands still until it is told to move, and which has done all
// that is to be done about a frame when Receive returns. It is used by one goroutine.
type VirtualSwitch interface {
	datapath.Bridge
	// Advance sets the clock to a time since the switch was made; never back.
	Advance(now time.Duration)
	// Receive executes a frame and hands each that leaves to emit, which may keep it during the call only.
	Receive(in datapath.Injection, emit func(datapath.Output))
	// Examine does the same, and finds out what became of the frame, which may take longer.
	Examine(in datapath.Injection, emit func(datapath.Output)) simbackend.Verdict
	// OnOutput sets who gets what leaves because of a PacketOut.
	OnOutput(sink func(datapath.Output))
	// Restart makes it lose flows and connections, as a restart of ovs-vswitchd does. Its clock goes on.
	Restart(ctx context.Context) error
}

// simulated is the simulator as a VirtualSwitch.
type simulated struct{ *simbackend.Switch }

func newSimulated(t model.Topology) (VirtualSwitch, error) {
	sw, err := simbackend.New(simbackend.Config{Ports: Ports(t)})
	return simulated{sw}, err
}

// Receive implements VirtualSwitch.
func (s simulated) Receive(in datapath.Injection, emit func(datapath.Output)) {
	s.Switch.Receive(in, emit)
}

// Examine implements VirtualSwitch: it costs nothing.
func (s simulated) Examine(in datapath.Injection, emit func(datapath.Output)) simbackend.Verdict {
	return s.Switch.Receive(in, emit)
}

// Restart implements VirtualSwitch.
func (s simulated) Restart(ctx context.Context) error {
	if err := s.Commit(ctx, openflow.Bundle{{Command: openflow.Delete, Flow: openflow.Flow{Table: openflow.CurrentTable}}}); err != nil {
		return fmt.Errorf("restart switch: %w", err)
	}
	if err := s.Flush(ctx, datapath.ConnFilter{}); err != nil {
		return fmt.Errorf("restart switch: %w", err)
	}
	return nil
}
