package simbackend

import (
	"time"

	"hpnn/datapath/openflow"
	"hpnn/simbackend/flow"
)

// rule is a flow in a table: what it matches, what it does, and what it has seen.
type rule struct {
	flow  openflow.Flow
	value flow.Key
	code  code

	packets, bytes uint64
	added          time.Duration // duration counts from here
	modified       time.Duration // hard_timeout counts from here
	used           time.Duration // idle_timeout counts from here
	seq            uint64        // order of insertion

	next *rule // same value, lower priority
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

// mask is the mask of the rule's subtable.
func (r *rule) mask() flow.Key {
	_, mask := flow.Compile(r.flow.Match)
	return mask
}
