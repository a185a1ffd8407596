package simbackend

import (
	"time"

	"hpnn/datapath/openflow"
)

// rule is a flow in a table: what it matches, what it does, and what it has seen. What a frame meets
// comes first.
type rule struct {
	value    []uint64 // words of the key, as home compares them
	code     *code
	priority uint16
	line     uint32 // what traces call it (tracer.lookups), or 0
	seq      uint64 // order of insertion

	packets, bytes uint64
	used           time.Duration // idle_timeout counts from here
	modified       time.Duration // hard_timeout counts from here
	added          time.Duration // duration counts from here

	next  *rule   // same value, lower priority
	paths []*path // that it is on
	home  *subtable
	flow  openflow.Flow
}

// entry is the rule as a dump shows it.
func (r *rule) entry(now time.Duration) openflow.FlowEntry {
	return openflow.FlowEntry{Flow: r.flow, Stats: openflow.Stats{
		Packets: r.packets, Bytes: r.bytes,
		Duration: now - r.added, IdleAge: now - r.used, HardAge: now - r.modified,
	}}
}

// expiry is when the first of the rule's timeouts strikes, or never.
func (r *rule) expiry() (time.Duration, bool) {
	const second = time.Second
	hard, idle := time.Duration(r.flow.HardTimeout)*second, time.Duration(r.flow.IdleTimeout)*second
	switch {
	case hard == 0 && idle == 0:
		return 0, false
	case hard == 0:
		return r.used + idle, true
	case idle == 0:
		return r.modified + hard, true
	}
	return min(r.used+idle, r.modified+hard), true
}
