package conformance

import (
	"encoding/binary"
	"net/netip"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
)

// The hosts of a case: few, so that frames, matches and actions meet.
var (
	macs = []packet.MAC{{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}, {2, 0, 0, 0, 0, 3}, {2, 0, 0, 0, 0, 0xaa}, {0x0a, 0, 0x27, 0xff, 0xff, 1}}
	ipv4 = addrs("10.0.0.1", "10.0.0.2", "10.0.0.100", "10.1.0.9", "192.168.5.13")
	ipv6 = addrs("fd00::1", "fd00::2", "fd00::100", "2001:db8::ffff:9")
	// ports that servers listen on, and those of clients.
	serverPorts = []uint16{80, 8080, 53, 443, 1}
	clientPorts = []uint16{40000, 40001, 1024, 65535, 550, 53}
	// what nat translates to: addresses of hosts and one that no host has.
	natTargets = addrs("10.1.0.9", "10.0.0.2", "10.0.0.200")
	natPorts   = []uint16{8080, 80, 5000}
	tags       = []packet.Tag{{ID: 5}, {ID: 5, Priority: 3}, {ID: 0}, {ID: 4095, Priority: 7}, {ID: 7, Type: packet.TypeQinQ}}
)

func addrs(list ...string) (out []netip.Addr) {
	for _, s := range list {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}

func (m *maker) mac() packet.MAC {
	if m.chance(4) {
		return pick(m, packet.Broadcast, packet.MAC{1, 0, 0x5e, 0, 0, 5}, packet.MAC{1, 0x80, 0xc2, 0, 0, 0}, packet.MAC{})
	}
	return pick(m, macs...)
}

func (m *maker) ether() packet.Ether {
	e := packet.Ether{Src: m.mac(), Dst: m.mac()}
	for m.traits.vlan && len(e.Tags) < 3 && m.chance(50) {
		e.Tags = append(e.Tags, pick(m, tags...))
	}
	return e
}

// ip is the header of a packet between two hosts.
func (m *maker) ip() packet.IP {
	h := packet.IP{TTL: pick[uint8](m, 64, 64, 64, 64, 255, 2, 1), Dont: m.chance(50)}
	hosts := ipv4
	if m.traits.ipv6 && m.chance(50) {
		hosts = ipv6
	}
	h.Src, h.Dst = pick(m, hosts...), pick(m, hosts...)
	if m.chance(15) {
		h.TOS = pick[uint8](m, 0xb8, 1, 2, 0xff)
	}
	if m.chance(5) {
		h.Options = pick(m, []byte{1, 1, 1, 0}, []byte{0x94, 4, 0, 0}, []byte{7, 7, 4, 0, 0, 0, 0, 0})
	}
	return h
}

func (m *maker) payload() []byte {
	b := make([]byte, pick(m, 0, 0, 1, 4, 5, 13, 26, 100))
	for i := range b {
		b[i] = byte(m.Uint32())
	}
	return b
}

func (m *maker) port() uint16 {
	if m.chance(50) {
		return pick(m, serverPorts...)
	}
	return pick(m, clientPorts...)
}

func mac(v openflow.Value) (a packet.MAC) {
	for i := range a {
		a[i] = byte(v.Lo >> (40 - 8*i))
	}
	return a
}

// addrOf is an IPv4 address, addr16 an IPv6 one.
func addrOf(v openflow.Value) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(v.Lo >> 24), byte(v.Lo >> 16), byte(v.Lo >> 8), byte(v.Lo)})
}

func addr16(v openflow.Value) netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], v.Hi)
	binary.BigEndian.PutUint64(b[8:], v.Lo)
	return netip.AddrFrom16(b)
}
