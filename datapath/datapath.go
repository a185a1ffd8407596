// Package datapath says what a switch can do: the one interface that both Open vSwitch and
// the in-memory simulator implement, and the values that pass through it.
//
// The promises are in the comments of Bridge. Each is one subtest of package datapathtest,
// which both implementations run.
package datapath

import (
	"context"
	"errors"
	"fmt"

	"hpnn/datapath/openflow"
)

// Bridge is one OpenFlow switch.
//
// Methods may be called from several goroutines. Each honours its context and returns an error
// that wraps ErrClosed after Close. A Bridge never changes its flows on its own, except that it learns,
// and that timeouts expire.
type Bridge interface {
	// Commit applies all of b or none of it: no frame sees a part. The error is a *CommitError that
	// names the modification at fault. An empty bundle succeeds and changes nothing. Flows that b
	// does not touch keep their counters and ages; a flow that is modified keeps its counters.
	Commit(ctx context.Context, b openflow.Bundle) error

	// Flows lists every flow, learned ones too, with its counters, in the order of a Program.
	Flows(ctx context.Context) ([]openflow.FlowEntry, error)

	// Ports lists the ports in ascending order of number, the local port last.
	Ports(ctx context.Context) ([]Port, error)

	// Trace says what would happen to a frame now. It changes nothing: no counter, no learned flow,
	// no connection.
	Trace(ctx context.Context, in Injection) (Trace, error)

	// PacketOut executes actions on a frame as if it had come from in.InPort.
	PacketOut(ctx context.Context, in Injection, actions []openflow.Action) error

	// Conntrack is the switch's connection tracker.
	Conntrack() Conntrack

	// Events delivers what happened at the switch. The channel is closed by Close. A reader that
	// falls behind loses PacketIn events first, and never a Connected or Disconnected.
	Events() <-chan Event

	// Close releases the bridge. The switch keeps its flows. Closing twice is harmless.
	Close() error
}

// Injection is a frame and the port it comes from.
type Injection struct {
	InPort openflow.PortNo
	Frame  []byte
}

// Port is a switch's port.
type Port struct {
	Number openflow.PortNo `json:"number"`
	Name   string          `json:"name"`
	// Counters since the port was added: frames and bytes received by the switch and sent by it.
	RxFrames uint64 `json:"rx_frames"`
	RxBytes  uint64 `json:"rx_bytes"`
	TxFrames uint64 `json:"tx_frames"`
	TxBytes  uint64 `json:"tx_bytes"`
}

// EventKind says what an Event is about.
type EventKind uint8

// Possible EventKind values.
const (
	// Connected: the switch is there, perhaps without our flows; compare and repair.
	Connected EventKind = iota + 1
	// Disconnected: the switch does not answer.
	Disconnected
	// PortStatus: a port was added, removed or changed.
	PortStatus
	// PacketIn: a flow sent a frame to the controller.
	PacketIn
)

// String is the kind's name.
func (k EventKind) String() string {
	switch k {
	case Connected:
		return "connected"
	case Disconnected:
		return "disconnected"
	case PortStatus:
		return "port status"
	case PacketIn:
		return "packet in"
	}
	return fmt.Sprintf("event %d", uint8(k))
}

// Event is something that happened at a switch.
type Event struct {
	Kind   EventKind
	Port   Port                    // of a PortStatus
	Packet Injection               // of a PacketIn
	Reason openflow.PacketInReason // of a PacketIn
}

// Errors that callers branch on.
var (
	// ErrClosed: the Bridge was closed.
	ErrClosed = errors.New("bridge is closed")
	// ErrNotSupported: the switch cannot do this. It wraps the name of what it cannot do.
	ErrNotSupported = errors.New("not supported")
	// ErrUnavailable: the switch does not answer now; the same call may succeed later.
	ErrUnavailable = errors.New("switch is unavailable")
)

// CommitError says which modification of a bundle was refused.
type CommitError struct {
	Index int // in the bundle; -1 if the switch did not say
	Mod   openflow.FlowMod
	Err   error
}

// Error names the modification and the reason.
func (e *CommitError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("commit bundle: %v", e.Err)
	}
	return fmt.Sprintf("commit bundle: modification %d (%v): %v", e.Index+1, e.Mod, e.Err)
}

// Unwrap is the reason.
func (e *CommitError) Unwrap() error { return e.Err }
