package model

import (
	"fmt"
	"strings"
)

// A SegmentKind tells a segment of clients beyond the node from a segment the node switches itself.
type SegmentKind uint8

// Kinds of segments. The zero value is none of them: a segment says what it is.
const (
	Public  SegmentKind = 1 // routed only: clients, and the rest of the world, behind the uplink
	Private SegmentKind = 2 // hosts have ports of their own and the node switches between them
)

// A Hash says which fields of a packet choose its slot.
type Hash uint8

// The hashes. Tuple is the default.
const (
	Tuple       Hash = iota // addresses and ports, nothing else: the same on every node and behind every router
	Source                  // the client's address: all its connections reach one member
	SymmetricL4             // Open vSwitch's symmetric_l4 as it is: MAC addresses count, UDP ports do not
)

// An Algorithm lays the slots of a pool out over its members.
type Algorithm uint8

// The algorithms. MaglevStable is the default.
const (
	MaglevStable Algorithm = iota // version 2: a member that leaves or returns moves no slot of the others
	Maglev                        // version 1: the table of the Maglev paper over the live members
)

// A Policy says what a pool does with a connection while no member lives.
type Policy uint8

// The policies. Drop is the default.
const (
	Drop      Policy = iota // drop and count
	Reject                  // answer with a reset
	LastKnown               // keep the last layout that had live members
)

// An AdminState is what the operator wants of a member.
type AdminState uint8

// The states. Enabled is the default.
const (
	Enabled AdminState = iota // takes new connections while it lives
	Drained                   // takes none; its connections live on and it is still probed
)

// A Protocol is the transport protocol of a listener.
type Protocol uint8

// The protocols. TCP is the default; validation refuses UDP until the pipeline balances it.
const (
	TCP Protocol = iota
	UDP
)

// A MonitorType is the kind of a health probe.
type MonitorType uint8

// The kinds of probes. MonitorHTTP is the default.
const (
	MonitorHTTP  MonitorType = iota // a GET whose status lies in the expected range
	MonitorHTTPS                    // the same over TLS; the certificate is not checked
	MonitorTCP                      // a connection that is accepted
	MonitorUDP                      // a datagram that is answered
	MonitorICMP                     // an echo request that is answered
	MonitorNone                     // no probes: every member counts as live
)

// An InitialState is what a member counts as before its first verdict.
type InitialState uint8

// The initial states. InitialDown is the default.
const (
	InitialDown InitialState = iota // dead; the first probe that succeeds makes it live
	InitialUp                       // live until fall probes in a row fail
	InitialRise                     // dead until rise probes in a row succeed
)

// An enum lists the texts of a type's values, by value; an empty text is no value.
type enum[E ~uint8] struct {
	what  string
	texts []string
}

var (
	segmentKinds  = enum[SegmentKind]{"segment kind", []string{"", "public", "private"}}
	hashes        = enum[Hash]{"hash", []string{"tuple", "source", "symmetric_l4"}}
	algorithms    = enum[Algorithm]{"algorithm", []string{"maglev-stable", "maglev"}}
	policies      = enum[Policy]{"policy", []string{"drop", "reject", "last-known"}}
	adminStates   = enum[AdminState]{"admin state", []string{"enabled", "drained"}}
	protocols     = enum[Protocol]{"protocol", []string{"tcp", "udp"}}
	monitorTypes  = enum[MonitorType]{"health monitor type", []string{"http", "https", "tcp", "udp", "icmp", "none"}}
	initialStates = enum[InitialState]{"initial state", []string{"down", "up", "rise"}}
)

func (e enum[E]) names() []string {
	var names []string
	for _, text := range e.texts {
		if text != "" {
			names = append(names, text)
		}
	}
	return names
}

func (e enum[E]) known(v E) bool {
	return int(v) < len(e.texts) && e.texts[v] != ""
}

func (e enum[E]) text(v E) string {
	if e.known(v) {
		return e.texts[v]
	}
	return fmt.Sprintf("%s(%d)", e.what, uint8(v))
}

func (e enum[E]) marshal(v E) ([]byte, error) {
	if !e.known(v) {
		return nil, fmt.Errorf("marshal %s: %d is no %s", e.what, uint8(v), e.what)
	}
	return []byte(e.texts[v]), nil
}

func (e enum[E]) parse(text string) (E, error) {
	for i, t := range e.texts {
		if t == text && t != "" {
			return E(i), nil
		}
	}
	return 0, fmt.Errorf("parse %s %q: use %s", e.what, text, strings.Join(e.names(), ", "))
}

func (e enum[E]) unmarshal(v *E, text []byte) (err error) {
	*v, err = e.parse(string(text))
	return err
}

// Version is the number of the layout's definition, which the layout's digest includes.
func (a Algorithm) Version() int {
	if a == Maglev {
		return 1
	}
	return 2
}
