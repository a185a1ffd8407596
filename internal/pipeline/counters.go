package pipeline

import (
	"net/netip"
	"time"

	of "hpnn/datapath/openflow"
	"hpnn/model"
)

// Hits are what a flow, or several, counted.
type Hits struct{ Packets, Bytes uint64 }

// MemberHits tells how many packets of balanced connections the slots of each member received. A connection whose slot
// has moved on counts for the slot's new owner, though the packets go where the connection began.
func MemberHits(t model.Topology, entries []of.FlowEntry) map[MemberName]Hits {
	hits := map[MemberName]Hits{}
	for _, e := range entries {
		pool, ok := e.Match.Exact(regPool)
		member, ok2 := e.Match.Exact(regMember)
		if e.Table != tableMember || !ok || !ok2 {
			continue
		}
		for _, p := range t.Pools {
			for _, m := range p.Members {
				if uint64(p.ID) == pool.Lo && uint64(m.ID) == member.Lo {
					hits[MemberName{p.Name, m.Name}] = Hits{e.Packets, e.Bytes}
				}
			}
		}
	}
	return hits
}

// PoolDrops tells how many packets each pool dropped, or rejected, for want of a live member, by the pool's name.
func PoolDrops(t model.Topology, entries []of.FlowEntry) map[string]Hits {
	drops := map[string]Hits{}
	for _, e := range entries {
		pool, ok := e.Match.Exact(regPool)
		if e.Table != tableSlots || e.Priority != slotUnowned || !ok {
			continue
		}
		for _, p := range t.Pools {
			if uint64(p.ID) == pool.Lo {
				drops[p.Name] = Hits{e.Packets, e.Bytes}
			}
		}
	}
	return drops
}

// A Neighbour is an address that the switch has learned, and where.
type Neighbour struct {
	Segment string        `json:"segment"`
	MAC     string        `json:"mac"`
	Address string        `json:"address,omitempty"` // IPv4; of a client heard in a public segment
	Port    uint32        `json:"port"`
	Age     time.Duration `json:"age_ns"`  // since it was last heard
	Left    time.Duration `json:"left_ns"` // until it is forgotten
	Packets uint64        `json:"packets"` // sent to it
}

// Learned lists what the switch has learned, in the order of the flows.
func Learned(t model.Topology, entries []of.FlowEntry) []Neighbour {
	var all []Neighbour
	for _, e := range entries {
		kind := e.Cookie & CookieKind
		if kind != CookieFDB && kind != CookieAdjacency {
			continue
		}
		n := Neighbour{Age: e.HardAge, Left: time.Duration(e.HardTimeout)*time.Second - e.HardAge, Packets: e.Packets}
		for _, s := range t.Segments {
			if uint64(s.ID) == e.Cookie&^CookieKind {
				n.Segment = s.Name
			}
		}
		if mac, ok := e.Match.Exact(of.EthDst); ok {
			n.MAC = of.EthDst.Format(mac)
		}
		if ip, ok := e.Match.Exact(of.IPDst); ok {
			n.Address = netip.AddrFrom4([4]byte{byte(ip.Lo >> 24), byte(ip.Lo >> 16), byte(ip.Lo >> 8), byte(ip.Lo)}).String()
		}
		for _, a := range e.Actions {
			switch a := a.(type) {
			case of.Output:
				n.Port = uint32(a.Port)
			case of.SetField:
				if a.Field == of.EthDst {
					n.MAC = of.EthDst.Format(a.Value)
				}
			}
		}
		all = append(all, n)
	}
	return all
}
