package replay

import (
	"slices"

	"hpnn/datapath/openflow"
	"hpnn/simbackend"
)

// Fate is what became of a frame.
type Fate string

// Possible Fate values.
const (
	Forwarded    Fate = "forwarded"     // it left by one port
	Flooded      Fate = "flooded"       // it left by several
	AnsweredARP  Fate = "answered arp"  // a reply went back to its sender
	AnsweredPing Fate = "answered ping" // likewise
	Dropped      Fate = "dropped"       // nothing left
	Punted       Fate = "punted"        // nothing left, but the controller got it
	Held         Fate = "held"          // a fragment that waits for the rest of its datagram
)

// Fates counts frames that came in by what became of them.
type Fates struct {
	Forwarded    uint64 `json:"forwarded"`
	Flooded      uint64 `json:"flooded"`
	AnsweredARP  uint64 `json:"answered_arp"`
	AnsweredPing uint64 `json:"answered_ping"`
	Dropped      uint64 `json:"dropped"`
	Punted       uint64 `json:"punted"`
	Held         uint64 `json:"held"`
}

func (f *Fates) add(fate Fate) {
	switch fate {
	case Forwarded:
		f.Forwarded++
	case Flooded:
		f.Flooded++
	case AnsweredARP:
		f.AnsweredARP++
	case AnsweredPing:
		f.AnsweredPing++
	case Punted:
		f.Punted++
	case Held:
		f.Held++
	default:
		f.Dropped++
	}
}

// Reason is why nothing left.
type Reason string

// Possible Reason values.
const (
	ByRule  Reason = "rule"       // the rule drops, or what it does left nothing
	ByMiss  Reason = "miss"       // no rule matched
	GivenUp Reason = "error"      // a limit of the switch was exceeded
	Runt    Reason = "runt"       // shorter than an Ethernet header: no port delivers it
	ToAbove Reason = "controller" // the controller got it instead
)

// reason is why nothing left of a frame of the given size.
func reason(v *simbackend.Verdict, size int) Reason {
	switch {
	case size < ethernetHeader:
		return Runt
	case v.Err != nil:
		return GivenUp
	case v.PacketIns > 0:
		return ToAbove
	case !v.Matched:
		return ByMiss
	}
	return ByRule
}

// waits reports whether the connection tracker kept the frame: its last rule sent it there to be
// continued in a table, but no lookup followed.
func waits(v *simbackend.Verdict) bool {
	return v.Matched && v.Err == nil && v.PacketIns == 0 && slices.ContainsFunc(v.Flow.Actions, func(a openflow.Action) bool {
		ct, ok := a.(openflow.CT)
		return ok && ct.Recirc
	})
}
