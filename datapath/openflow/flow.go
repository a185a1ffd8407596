package openflow

import (
	"cmp"
	"time"
)

// DefaultPriority is the priority of a flow that names none.
const DefaultPriority = 32768

// Flags are the options of a flow.
type Flags uint8

// Possible Flags, in print order (ovs-ofctl(8), "Flow Syntax").
const (
	SendFlowRem Flags = 1 << iota
	CheckOverlap
	ResetCounts
	NoPacketCounts
	NoByteCounts
)

// Flow is one rule of a table.
type Flow struct {
	Table       TableID
	Priority    uint16
	Match       Match
	Actions     []Action // empty: drop
	Cookie      uint64
	IdleTimeout uint16 // seconds; 0: none
	HardTimeout uint16 // seconds; 0: none
	Importance  uint16
	Flags       Flags
}

// Key is what makes a flow unique in a switch: table, priority and match. It is made for
// comparing and sorting; use it as "the same flow" in the sense of strict modification.
type Key struct {
	Table    TableID
	Priority uint16
	Match    Match
}

// Key is the flow's identity.
func (f Flow) Key() Key { return Key{f.Table, f.Priority, f.Match} }

// Compare orders keys by table, then the higher priority, then match.
func (k Key) Compare(o Key) int {
	if c := cmp.Compare(k.Table, o.Table); c != 0 {
		return c
	}
	if c := cmp.Compare(o.Priority, k.Priority); c != 0 {
		return c
	}
	return k.Match.Compare(o.Match)
}

// Stats are a flow's counters and ages as a dump shows them.
type Stats struct {
	Packets  uint64
	Bytes    uint64
	Duration time.Duration // since it was added
	IdleAge  time.Duration // since it was last hit
	HardAge  time.Duration // since it was last modified
}

// FlowEntry is a flow in a switch, with its counters.
type FlowEntry struct {
	Flow
	Stats
}

// Command is what a FlowMod does.
type Command uint8

// Possible Command values (OpenFlow 1.5, 7.3.4.2).
const (
	Add Command = iota
	Modify
	ModifyStrict
	Delete
	DeleteStrict
)

// FlowMod is a change to a switch's flow tables, with the meaning it has in an OVS bundle:
// an Add replaces a flow with the same key and keeps its counters; a Modify replaces actions
// only, keeps counters, cookie and timeouts, and adds nothing if it selects nothing.
type FlowMod struct {
	Command Command
	Flow    Flow
	// OutPort, in a delete, restricts it to flows that output there; 0: any.
	OutPort PortNo
	// CookieMask, in a modify or delete, restricts it to flows whose cookie equals
	// Flow.Cookie under the mask; 0: any.
	CookieMask uint64
}

// Bundle is a list of changes that take effect together or not at all.
type Bundle []FlowMod
