package dummybridge

import (
	"context"
	"errors"
	"fmt"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// attempts is how often a call is made whose connection breaks.
const attempts = 5

// at does something at the right time. A switch that lives answers: on a machine that is too busy to keep a connection
// alive, or where it was idle for too long by the switch's clock, there is another one.
func (s *Switch) at(what string, do func() error) error {
	if s.closed {
		return fmt.Errorf("%s: %w", what, datapath.ErrClosed)
	}
	if err := s.sync(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	for n := 1; ; n++ {
		err := do()
		if !errors.Is(err, datapath.ErrUnavailable) || n == attempts {
			return err
		}
		if lost := s.reopen(); lost != nil {
			return errors.Join(err, lost)
		}
	}
}

// reopen replaces the connections of the bridge, or the switch itself if it has ended.
func (s *Switch) reopen() error {
	ctx := context.Background()
	if _, err := s.sw.Version(ctx); err != nil {
		s.fail(err)
		return err
	}
	return errors.Join(s.bridge.Close(), s.openBridge(ctx))
}

// Commit implements datapath.Bridge.
func (s *Switch) Commit(ctx context.Context, b openflow.Bundle) error {
	s.forget()
	return s.at("commit", func() error {
		if err := s.apart(); err != nil {
			return err
		}
		return s.bridge.Commit(ctx, b)
	})
}

// Flows implements datapath.Bridge.
func (s *Switch) Flows(ctx context.Context) (flows []openflow.FlowEntry, err error) {
	err = s.at("list flows", func() (err error) {
		flows, err = s.bridge.Flows(ctx)
		s.clock.correct(flows)
		return err
	})
	return flows, err
}

// Ports implements datapath.Bridge.
func (s *Switch) Ports(ctx context.Context) (ports []datapath.Port, err error) {
	err = s.at("list ports", func() (err error) {
		ports, err = s.bridge.Ports(ctx)
		return err
	})
	return ports, err
}

// Trace implements datapath.Bridge.
func (s *Switch) Trace(ctx context.Context, in datapath.Injection) (t datapath.Trace, err error) {
	err = s.at("trace frame", func() (err error) {
		t, err = s.bridge.Trace(ctx, in)
		return err
	})
	return t, err
}

// PacketOut implements datapath.Bridge. Frames that leave go where OnOutput says.
func (s *Switch) PacketOut(ctx context.Context, in datapath.Injection, actions []openflow.Action) error {
	return s.at("send frame", func() error {
		if err := s.bridge.PacketOut(ctx, in, actions); err != nil {
			return err
		}
		outputs, err := s.sw.Outputs()
		s.emit(outputs, s.sink)
		return err
	})
}

// Events implements datapath.Bridge.
func (s *Switch) Events() <-chan datapath.Event { return s.events }

// Conntrack implements datapath.Bridge.
func (s *Switch) Conntrack() datapath.Conntrack { return (*conntrack)(s) }

type conntrack Switch

// Connections implements datapath.Conntrack.
func (c *conntrack) Connections(ctx context.Context, f datapath.ConnFilter) (conns []datapath.Conn, err error) {
	err = (*Switch)(c).at("list connections", func() (err error) {
		conns, err = c.bridge.Conntrack().Connections(ctx, f)
		return err
	})
	return conns, err
}

// Flush implements datapath.Conntrack.
func (c *conntrack) Flush(ctx context.Context, f datapath.ConnFilter) error {
	return (*Switch)(c).at("flush connections", func() error { return c.bridge.Conntrack().Flush(ctx, f) })
}
