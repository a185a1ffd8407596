// Package datapathtest is the contract of datapath.Bridge as a test suite: each promise in
// the interface's comments is one subtest here. Every implementation runs all of them.
//
// It also has Faulty, a Bridge that fails on purpose, so that those who use a Bridge can
// be tested against one that does not keep still.
package datapathtest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// Bed is a switch under test: the Bridge, and what the world around it can do.
type Bed struct {
	datapath.Bridge
	// Receive lets a frame come in on a port and returns once it has been dealt with.
	Receive func(in datapath.Injection)
	// Sent returns the frames that left since it was last called, in order for each port.
	Sent func() []datapath.Output
	// Advance moves the switch's time on.
	Advance func(time.Duration)
}

// Ports are the ports that a Bed's switch must have, besides LOCAL.
var Ports = map[openflow.PortNo]string{1: "p1", 2: "p2", 3: "p3"}

// Run runs the suite. open returns a Bed with an empty switch; it registers its own cleanup.
func Run(t *testing.T, open func(t *testing.T) Bed) {
	groups := []struct {
		name  string
		tests []promise
	}{
		{"commit", commitPromises}, {"flows", flowsPromises}, {"ports", portsPromises}, {"trace", tracePromises},
		{"packet out", packetOutPromises}, {"conntrack", conntrackPromises}, {"events and close", lifePromises},
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			for _, p := range g.tests {
				t.Run(p.name, func(t *testing.T) { p.test(&suite{t: t, bed: open(t)}) })
			}
		})
	}
}

// promise is a sentence of the contract and its proof.
type promise struct {
	name string
	test func(*suite)
}

// suite is one subtest at work.
type suite struct {
	t   *testing.T
	bed Bed
}

func (s *suite) ctx() context.Context { return s.t.Context() }

// mods reads bundle lines.
func (s *suite) mods(text string) openflow.Bundle {
	s.t.Helper()
	b, err := openflow.ParseBundle("bundle", strings.NewReader(text))
	require.NoError(s.t, err)
	return b
}

func (s *suite) commit(text string) {
	s.t.Helper()
	require.NoError(s.t, s.bed.Commit(s.ctx(), s.mods(text)))
}

func (s *suite) flows() []openflow.FlowEntry {
	s.t.Helper()
	flows, err := s.bed.Flows(s.ctx())
	require.NoError(s.t, err)
	return flows
}

// text is the flows without their counters, a line each.
func (s *suite) text() (lines []string) {
	s.t.Helper()
	for _, f := range s.flows() {
		lines = append(lines, f.Flow.String())
	}
	return lines
}

// packets is the packet counter of the only flow with this priority.
func (s *suite) packets(priority uint16) uint64 {
	s.t.Helper()
	for _, f := range s.flows() {
		if f.Priority == priority {
			return f.Packets
		}
	}
	require.Failf(s.t, "no such flow", "priority %d", priority)
	return 0
}

func (s *suite) receive(port openflow.PortNo, frames ...[]byte) {
	for _, f := range frames {
		s.bed.Receive(datapath.Injection{InPort: port, Frame: f})
	}
}
