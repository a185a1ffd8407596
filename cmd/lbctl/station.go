package main

import (
	"encoding/binary"
	"net/netip"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/model"
)

// Addresses of stations that nobody declared. The MAC addresses are locally administered, the IP
// addresses for documentation (RFC 5737, RFC 3849).
var (
	madeUpMAC    = packet.MAC{2, 0, 0, 0, 0, 1}
	madeUpPeer   = packet.MAC{2, 0, 0, 0, 0, 2}
	madeUpAddr   = netip.MustParseAddr("192.0.2.1")
	madeUpAddrV6 = netip.MustParseAddr("2001:db8::1")
)

// station is whoever sends a frame into a port. Without a topology everything about it is made up.
type station struct {
	site
	port openflow.PortNo
}

// at reports whether a port of the topology is the one.
func (s station) at(p model.Port) bool { return openflow.PortNo(p.Number) == s.port }

// segment is the one that the port belongs to.
func (s station) segment() (model.Segment, bool) {
	if s.topology == nil {
		return model.Segment{}, false
	}
	for _, seg := range s.topology.Segments {
		if seg.Uplink != nil && s.at(*seg.Uplink) || seg.Probe != nil && s.at(seg.Probe.Port) {
			return seg, true
		}
	}
	for _, h := range s.topology.Hosts {
		if s.at(h.Port) {
			return s.topology.Segment(h.Segment)
		}
	}
	return model.Segment{}, false
}

// addr is the station's address: the host's or the node's own if it is one of theirs, else a free
// one of the segment.
func (s station) addr() netip.Addr {
	seg, ok := s.segment()
	switch {
	case !ok:
		return madeUpAddr
	case seg.Probe != nil && s.at(seg.Probe.Port):
		return seg.Probe.Address
	case seg.Uplink == nil || !s.at(*seg.Uplink):
		for _, h := range s.topology.Hosts {
			if s.at(h.Port) {
				return h.Address
			}
		}
	}
	return s.free(seg)
}

// free is the last address of a segment that nobody has. Where all are taken it is one beyond.
func (s station) free(seg model.Segment) netip.Addr {
	taken := map[netip.Addr]bool{seg.Gateway.Address: true}
	for _, l := range s.topology.Listeners {
		taken[l.VIP] = true
	}
	for _, h := range s.topology.Hosts {
		taken[h.Address] = true
	}
	if seg.Probe != nil {
		taken[seg.Probe.Address] = true
	}
	a := broadcast(seg.Prefix).Prev()
	for taken[a] {
		a = a.Prev()
	}
	return a
}

// broadcast is the last address of an IPv4 prefix.
func broadcast(p netip.Prefix) netip.Addr {
	b := p.Addr().As4()
	n := binary.BigEndian.Uint32(b[:]) | (1<<(32-p.Bits()) - 1)
	binary.BigEndian.PutUint32(b[:], n)
	return netip.AddrFrom4(b)
}

// mac is the MAC address of whoever has an address behind the port.
func (s station) mac(a netip.Addr) packet.MAC {
	seg, ok := s.segment()
	if !ok {
		return madeUpMAC
	}
	if seg.Probe != nil && s.at(seg.Probe.Port) {
		return packet.MAC(seg.Probe.MAC)
	}
	for _, h := range s.topology.Hosts {
		private := seg.Uplink == nil || !s.at(*seg.Uplink)
		if s.at(h.Port) && (h.Address == a || private) {
			return packet.MAC(h.MAC)
		}
	}
	return madeUpMAC
}

// toward is the MAC address that the station sends to if it wants to reach an address: that of its
// neighbour, or of the gateway.
func (s station) toward(a netip.Addr) packet.MAC {
	seg, ok := s.segment()
	if !ok {
		return madeUpPeer
	}
	if h, declared := s.topology.HostAt(a); declared && h.Segment == seg.Name {
		return packet.MAC(h.MAC)
	}
	if seg.Probe != nil && seg.Probe.Address == a {
		return packet.MAC(seg.Probe.MAC)
	}
	return packet.MAC(seg.Gateway.MAC)
}
