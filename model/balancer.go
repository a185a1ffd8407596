package model

import (
	"net/netip"
	"time"
)

// A Listener is an address and port that clients connect to, and the pool that answers them.
type Listener struct {
	Name     string
	VIP      netip.Addr
	Protocol Protocol
	Port     uint16
	Segments []string // names of the segments whose clients are served; the VIP lies in the prefix of one of them
	Pool     string   // the name of the pool
}

// A Pool is a set of members, the way connections are spread over them, and the way their health is known.
type Pool struct {
	ID           uint16 // 1..65535, unique; the basis of the slot hash and a seed of the layout
	Name         string
	Slots        uint32 // 1..65536
	Hash         Hash
	Algorithm    Algorithm
	NoLiveMember Policy
	Health       HealthMonitor
	Members      []Member
}

// A Member is one service of a pool: an address and port that receives a share of the connections.
//
// In a loaded topology Name, Host and Address are always set.
type Member struct {
	ID      uint16 // 1..65535, unique in the pool
	Name    string // unique in the pool
	Host    string // the host its frames are handed to: the one with its address, or the next hop of the route to it
	Address netip.Addr
	Port    uint16
	Weight  int // 0..100, its share relative to the other members; 0 keeps it without slots
	Admin   AdminState
}

// A HealthMonitor says how the members of a pool are probed. Fields that its type does not use are zero.
type HealthMonitor struct {
	Type         MonitorType
	Interval     time.Duration // between the starts of two probes of one member
	Timeout      time.Duration // at most Interval
	Rise         int           // consecutive successes that make a member live
	Fall         int           // consecutive failures that make it dead
	Path         string        // http, https: the request target, from "/"
	HostHeader   string        // http, https: the Host header; empty stands for the member's address:port
	Expect       StatusRange   // http, https
	BodyLimit    int           // http, https: bytes of the answer's body read before the connection is closed
	Payload      string        // udp: what is sent
	Reply        string        // udp: what the answer must begin with; empty accepts any answer
	Initial      InitialState
	FastInterval time.Duration // while a member is between two states; 0 stands for Interval
	SlowInterval time.Duration // while a member is down; 0 stands for Interval
}

// A StatusRange is a range of HTTP status codes, both ends included.
type StatusRange struct {
	From, To int
}
