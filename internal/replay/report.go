package replay

import (
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// Report says what became of the frames of a replay.
type Report struct {
	Start    time.Time     `json:"start"` // the first frame's
	Duration time.Duration `json:"duration_ns"`

	In  Count `json:"in"`  // frames of the captures
	Out Count `json:"out"` // frames that left

	// Every frame that came in is counted in exactly one of these, by what left because of it.
	Fates Fates `json:"fates"`

	// Own counts dropped frames that carry a MAC address of the node as their source: a capture that
	// holds both directions of a port has them, and what the node sent is no input.
	Own uint64 `json:"own"`
	// Snapped counts frames of which the captures kept only the beginning. They were executed as they
	// are, and a switch takes such a frame for malformed.
	Snapped uint64 `json:"snapped"`

	Ports       []PortReport   `json:"ports"`       // of the switch, in ascending order
	Members     []MemberReport `json:"members"`     // in the order of the node
	Drops       []Drop         `json:"drops"`       // most frames first
	Connections []Connections  `json:"connections"` // tracked at the end, by zone, protocol and state
	Learned     []Learned      `json:"learned"`     // flows at the end that are not of the program, by table
	Faults      Faults         `json:"faults"`

	// Shards is how many switches executed the frames, and Together why it was one although more cores
	// could be used. Nothing else in a report depends on them.
	Shards   int    `json:"-"`
	Together string `json:"-"`

	// Flows are all flows at the end with their counters, and Tracked all connections.
	Flows   []openflow.FlowEntry `json:"-"`
	Tracked []datapath.Conn      `json:"-"`
}

// Count is a number of frames and their bytes from the first of the Ethernet header on.
type Count struct {
	Frames uint64 `json:"frames"`
	Bytes  uint64 `json:"bytes"`
}

func (c *Count) add(bytes int) {
	c.Frames++
	c.Bytes += uint64(bytes)
}

// PortReport is what passed a port.
type PortReport struct {
	Name   string          `json:"name"`
	Number openflow.PortNo `json:"number"`
	In     Count           `json:"in"`
	Out    Count           `json:"out"`
}

// MemberReport is what a member got and sent.
type MemberReport struct {
	Member
	// Sessions counts the TCP SYNs that were translated to the member, retransmissions once.
	Sessions uint64 `json:"sessions"`
	To       Count  `json:"to"`   // frames translated to it
	From     Count  `json:"from"` // its answers, translated back
}

// Drop is a reason for that frames did not leave, and how many it met.
type Drop struct {
	Reason  Reason           `json:"reason"`
	Table   openflow.TableID `json:"table"`             // of the last lookup
	Name    string           `json:"name,omitempty"`    // the table's, if the rules were rendered
	Purpose string           `json:"purpose,omitempty"` // likewise
	// Rule is the flow found there, in canonical form. Learned flows that differ in what they
	// learned are counted together, and this is the first.
	Rule    string `json:"rule,omitempty"`
	Error   string `json:"error,omitempty"` // of a frame that was given up
	Count          // of frames
	Example Place  `json:"example"` // the first
}

// Place is where a frame is: a port, a file and the frame's number in it, from 1.
type Place struct {
	Port  string    `json:"port"`
	File  string    `json:"file"`
	Frame int       `json:"frame"`
	Time  time.Time `json:"time"`
}

// Connections counts tracked connections that are alike.
type Connections struct {
	Zone     uint16 `json:"zone"`
	ZoneName string `json:"zone_name,omitempty"`
	Protocol string `json:"protocol"`
	State    string `json:"state,omitempty"` // of TCP
	Count    int    `json:"count"`
}

// Learned are the flows of one table that frames made.
type Learned struct {
	Table openflow.TableID `json:"table"`
	Name  string           `json:"name,omitempty"`
	Flows []string         `json:"flows"` // in canonical form
}
