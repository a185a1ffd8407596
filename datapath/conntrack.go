package datapath

import (
	"context"
	"net/netip"
	"time"

	"hpnn/datapath/openflow"
)

// Conntrack is a switch's connection tracker.
type Conntrack interface {
	// Connections lists the tracked connections that f selects, ordered by zone and original tuple.
	Connections(ctx context.Context, f ConnFilter) ([]Conn, error)

	// Flush forgets the connections that f selects, and no other.
	Flush(ctx context.Context, f ConnFilter) error
}

// Tuple is one direction of a connection. For ICMP, the ports are zero and ID, Type and Code
// are set; for other protocols without ports, all of them are zero.
type Tuple struct {
	Proto   uint8      `json:"proto"`
	Src     netip.Addr `json:"src"`
	Dst     netip.Addr `json:"dst"`
	SrcPort uint16     `json:"src_port,omitempty"`
	DstPort uint16     `json:"dst_port,omitempty"`
	ID      uint16     `json:"id,omitempty"`
	Type    uint8      `json:"type,omitempty"`
	Code    uint8      `json:"code,omitempty"`
}

// Conn is a tracked connection. Reply is the tuple that answers carry, which tells the
// translation: a member that serves a VIP is the source of Reply.
type Conn struct {
	Zone    uint16         `json:"zone"`
	Orig    Tuple          `json:"orig"`
	Reply   Tuple          `json:"reply"`
	State   string         `json:"state,omitempty"` // of TCP, as dpctl/dump-conntrack names it; else ""
	Timeout time.Duration  `json:"timeout_ns"`      // until it is forgotten, if nothing more is seen
	Mark    uint32         `json:"mark,omitempty"`
	Label   openflow.Value `json:"label"`
}

// ConnFilter selects connections. The zero ConnFilter selects all; every field that is set
// must agree.
type ConnFilter struct {
	Zone        uint16 // 0: any zone, and also zone 0
	Orig, Reply TupleFilter
}

// TupleFilter selects tuples: a zero field agrees with anything.
type TupleFilter struct {
	Proto            uint8
	Src, Dst         netip.Addr
	SrcPort, DstPort uint16
}

// Match reports whether the filter selects c.
func (f ConnFilter) Match(c Conn) bool {
	return (f.Zone == 0 || f.Zone == c.Zone) && f.Orig.Match(c.Orig) && f.Reply.Match(c.Reply)
}

// Match reports whether the filter selects t.
func (f TupleFilter) Match(t Tuple) bool {
	return (f.Proto == 0 || f.Proto == t.Proto) &&
		(!f.Src.IsValid() || f.Src == t.Src) && (!f.Dst.IsValid() || f.Dst == t.Dst) &&
		(f.SrcPort == 0 || f.SrcPort == t.SrcPort) && (f.DstPort == 0 || f.DstPort == t.DstPort)
}
