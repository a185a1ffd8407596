package pipeline

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
	"hpnn/model"
)

// A parcel is a frame that a station sends, in terms of which the reference forwarder thinks: the first of a connection, an
// echo request, a datagram, or an ARP request for To.
type parcel struct {
	segment model.Segment
	from    party
	kernel  bool // sent by the node's kernel, at the probe port
	ethDst  packet.MAC
	kind    string // "tcp", "answer" (a SYN-ACK), "udp", "echo", "arp"
	to      netip.Addr
	toPort  uint16
	ttl     uint8
}

const parcelPort = 33333 // its source port: that of no service

func (p parcel) String() string {
	return fmt.Sprintf("%s from %s (%s) to %s:%d by %s, TTL %d", p.kind, p.from.ip, p.from.port, p.to, p.toPort, p.ethDst, p.ttl)
}

// bytes is the frame.
func (p parcel) bytes() []byte {
	eth, ip := packet.Ether{Src: p.from.mac, Dst: p.ethDst}, packet.IP{Src: p.from.ip, Dst: p.to, TTL: p.ttl}
	switch p.kind {
	case "tcp":
		return packet.TCP{Eth: eth, IP: ip, SrcPort: parcelPort, DstPort: p.toPort, Seq: 1, Flags: packet.SYN, Window: 1000}.Bytes()
	case "answer":
		return packet.TCP{Eth: eth, IP: ip, SrcPort: parcelPort, DstPort: p.toPort, Seq: 1, Ack: 2, Flags: packet.SYN | packet.ACK, Window: 1000}.Bytes()
	case "udp":
		return packet.UDP{Eth: eth, IP: ip, SrcPort: parcelPort, DstPort: p.toPort}.Bytes()
	case "echo":
		return packet.ICMP{Eth: eth, IP: ip, Type: packet.EchoRequest, ID: 1}.Bytes()
	}
	request := packet.ARPRequest(p.from.mac, p.from.ip, p.to)
	request.Eth.Dst = p.ethDst
	return request.Bytes()
}

// A reference says what becomes of a parcel, from the topology alone. It knows nothing of tables and is as simple as can be.
type reference struct{ model.Topology }

// A fate is what leaves: nil for nothing. Where the slot decides, there are several fates.
type fate []sent

func (r reference) forward(p parcel) []fate {
	s := p.segment
	switch {
	case p.kind == "arp":
		return []fate{r.resolve(p)}
	case r.pings(p):
		return []fate{r.pong(p)}
	case p.kernel:
		return []fate{r.bridge(p)}
	case s.Probe != nil && p.ethDst == packet.MAC(s.Probe.MAC):
		if r.probes(p) {
			return []fate{r.bridge(p)}
		}
		return []fate{nil}
	case r.isProbe(p.to):
		if r.probes(p) && p.ethDst == packet.MAC(s.Gateway.MAC) {
			p.from.mac, p.ethDst = packet.MAC(s.Gateway.MAC), packet.MAC(s.Probe.MAC)
			return []fate{{{s.Probe.Port.Name, p.bytes()}}}
		}
		return []fate{nil}
	case p.ethDst == packet.MAC(s.Gateway.MAC):
		return r.router(p)
	case s.Kind == model.Private && !r.isOurs(p.to):
		return []fate{r.bridge(p)}
	}
	return []fate{nil}
}

// pings reports whether a packet is an echo request to an address of ours in its own segment.
func (r reference) pings(p parcel) bool {
	s := p.segment
	return p.kind == "echo" && p.ethDst == packet.MAC(s.Gateway.MAC) &&
		(p.to == s.Gateway.Address || r.isVIP(p.to) && s.Prefix.Contains(p.to))
}

func (r reference) pong(p parcel) fate {
	reply := packet.ICMP{
		Eth:  packet.Ether{Src: p.ethDst, Dst: p.from.mac},
		IP:   packet.IP{Src: p.to, Dst: p.from.ip, TTL: 64},
		Type: packet.EchoReply, ID: 1,
	}
	return fate{{p.from.port, reply.Bytes()}}
}

// router is what the gateway does with a packet.
func (r reference) router(p parcel) []fate {
	s := p.segment
	if owner, ok := r.owner(p.from.ip); r.isGateway(p.to) || !ok || owner.Name != s.Name {
		return []fate{nil}
	}
	if !r.isVIP(p.to) {
		return []fate{r.route(p, p)}
	}
	var fates []fate
	for _, l := range r.Listeners {
		if l.VIP != p.to || l.Port != p.toPort || p.kind != "tcp" || !slices.Contains(l.Segments, s.Name) {
			continue
		}
		pool, _ := r.Pool(l.Pool)
		for _, m := range pool.Members {
			if m.Weight > 0 && m.Admin == model.Enabled {
				fates = append(fates, r.deliver(p, m))
			}
		}
	}
	if fates == nil {
		return []fate{nil}
	}
	return fates
}

// deliver hands a packet to a member.
func (r reference) deliver(p parcel, m model.Member) fate {
	received := p
	received.to, received.toPort = m.Address, m.Port
	hop, _ := r.NextHop(m.Address)
	if p.from.ip == m.Address {
		received.from.ip = p.segment.Gateway.Address
		received.from.mac, received.ethDst = packet.MAC(p.segment.Gateway.MAC), packet.MAC(hop.MAC)
		return fate{{p.from.port, received.bytes()}}
	}
	if p.segment.Kind == model.Private && hop.Segment == p.segment.Name && hop.Address == m.Address {
		received.ethDst = packet.MAC(hop.MAC)
		return r.bridge(received)
	}
	return r.route(p, received)
}

// route sends what is left of a packet to its next hop.
func (r reference) route(p, left parcel) fate {
	hop, ok := r.NextHop(left.to)
	if !ok || p.ttl <= 1 || hop.Port.Name == p.from.port {
		return nil
	}
	s, _ := r.Segment(hop.Segment)
	left.from.mac, left.ethDst, left.ttl = packet.MAC(s.Gateway.MAC), packet.MAC(hop.MAC), p.ttl-1
	return fate{{hop.Port.Name, left.bytes()}}
}

// resolve answers an ARP request or asks the neighbours.
func (r reference) resolve(p parcel) fate {
	s := p.segment
	answer := func(m model.MAC) fate {
		reply := packet.ARPRequest(p.from.mac, p.from.ip, p.to).Reply(packet.MAC(m))
		return fate{{p.from.port, reply.Bytes()}}
	}
	switch {
	case p.to == s.Gateway.Address, r.isVIP(p.to) && s.Prefix.Contains(p.to):
		return answer(s.Gateway.MAC)
	case s.Probe != nil && p.to == s.Probe.Address && !p.kernel:
		return answer(s.Probe.MAC)
	case s.Kind == model.Private || p.kernel:
		return r.bridge(p)
	}
	return nil
}

// bridge switches a frame inside its segment.
func (r reference) bridge(p parcel) fate {
	s := p.segment
	ports := map[string]bool{}
	if s.Uplink != nil {
		ports[s.Uplink.Name] = true
	}
	for _, h := range r.Hosts {
		if h.Segment == s.Name {
			ports[h.Port.Name] = true
			if p.ethDst == packet.MAC(h.MAC) {
				ports = map[string]bool{h.Port.Name: true}
				break
			}
		}
	}
	switch {
	case p.ethDst == packet.MAC(s.Gateway.MAC):
		return nil
	case s.Probe != nil && p.ethDst == packet.MAC(s.Probe.MAC):
		ports = map[string]bool{s.Probe.Port.Name: true}
	}
	var out fate
	for port := range ports {
		if port != p.from.port {
			out = append(out, sent{port, p.bytes()})
		}
	}
	return out
}

// owner is the segment behind which an address lies: the longest prefix of segments and routes decides.
func (r reference) owner(a netip.Addr) (model.Segment, bool) {
	if s, ok := r.SegmentOf(a); ok {
		return s, true
	}
	route, ok := r.RouteTo(a)
	if !ok {
		return model.Segment{}, false
	}
	via, _ := r.HostAt(route.Via)
	return r.Segment(via.Segment)
}

// probes reports whether a packet can be a member's answer to a probe. A datagram can if the member is probed by such.
func (r reference) probes(p parcel) bool {
	if p.segment.Probe == nil || p.to != p.segment.Probe.Address {
		return false
	}
	for _, pool := range r.Pools {
		for _, m := range pool.Members {
			hop, _ := r.NextHop(m.Address)
			answers := p.kind == "answer" || p.kind == "udp" && pool.Health.Type == model.MonitorUDP
			if answers && m.Address == p.from.ip && hop.Segment == p.segment.Name {
				return true
			}
		}
	}
	return false
}

func (r reference) isVIP(a netip.Addr) bool {
	return slices.ContainsFunc(r.Listeners, func(l model.Listener) bool { return l.VIP == a })
}

func (r reference) isGateway(a netip.Addr) bool {
	return slices.ContainsFunc(r.Segments, func(s model.Segment) bool { return s.Gateway.Address == a })
}

func (r reference) isOurs(a netip.Addr) bool { return r.isVIP(a) || r.isGateway(a) }

func (r reference) isProbe(a netip.Addr) bool {
	return slices.ContainsFunc(r.Segments, func(s model.Segment) bool { return s.Probe != nil && s.Probe.Address == a })
}

// randomParcel is sent by some station to some address, often to a listener of its segment.
func randomParcel(r *rand.Rand, t model.Topology) parcel {
	p := parcel{
		segment: t.Segments[r.IntN(len(t.Segments))],
		kind:    []string{"tcp", "tcp", "udp", "echo", "arp"}[r.IntN(5)],
		ttl:     []uint8{1, 2, 64, 64}[r.IntN(4)],
	}
	p.to, p.toPort = randomDestination(r, t)
	if len(t.Listeners) > 0 && r.IntN(3) == 0 {
		l := t.Listeners[r.IntN(len(t.Listeners))]
		p.segment, _ = t.Segment(l.Segments[r.IntN(len(l.Segments))])
		p.from, p.kernel = randomStation(r, t, p.segment)
		p.kind, p.to, p.toPort, p.ethDst = "tcp", l.VIP, l.Port, p.from.gateway
		return p
	}
	p.from, p.kernel = randomStation(r, t, p.segment)
	p.ethDst = randomMAC(r, t, p)
	if far, _ := randomDestination(r, t); r.IntN(6) == 0 && !p.kernel && p.kind != "arp" && allowed(t, p.from, far) {
		p.from.ip = far // a source beyond its own
	}
	if p.kind == "tcp" && !p.kernel && (reference{t}).isProbe(p.to) && r.IntN(2) == 0 {
		p.kind = "answer" // as if the node's kernel had asked
	}
	return p
}

// randomStation is a host, an unknown station or the node's kernel.
func randomStation(r *rand.Rand, t model.Topology, s model.Segment) (p party, kernel bool) {
	gateway := packet.MAC(s.Gateway.MAC)
	var stations []party
	for _, h := range t.Hosts {
		if h.Segment == s.Name {
			stations = append(stations, party{h.Port.Name, packet.MAC(h.MAC), h.Address, gateway})
		}
	}
	if s.Uplink != nil {
		stations = append(stations, stranger(s, 77))
	}
	if r.IntN(8) == 0 || len(stations) == 0 {
		return party{s.Probe.Port.Name, packet.MAC(s.Probe.MAC), s.Probe.Address, gateway}, true
	}
	return stations[r.IntN(len(stations))], false
}

func randomMAC(r *rand.Rand, t model.Topology, p parcel) packet.MAC {
	if p.kind == "arp" {
		return packet.Broadcast
	}
	macs := []packet.MAC{p.from.gateway, p.from.gateway, p.from.gateway, p.from.gateway,
		packet.Broadcast, packet.MAC(p.segment.Probe.MAC), {2, 9, 9, 9, 9, 9}}
	for _, h := range t.Hosts {
		macs = append(macs, packet.MAC(h.MAC))
	}
	return macs[r.IntN(min(len(macs), 12))]
}

// allowed reports whether the ingress table admits a source, which the reference does not judge.
func allowed(t model.Topology, from party, source netip.Addr) bool {
	ref := reference{t}
	_, declared := t.HostAt(source)
	if ref.isOurs(source) || ref.isProbe(source) || declared {
		return false
	}
	h, ok := t.HostAt(from.ip)
	return !ok || slices.ContainsFunc(t.Routes, func(r model.Route) bool { return r.Via == h.Address && r.Prefix.Contains(source) })
}

func randomDestination(r *rand.Rand, t model.Topology) (netip.Addr, uint16) {
	addresses := []string{"203.0.113.5", "172.16.5.3", "172.16.9.9", "8.8.8.8", "10.0.0.99", "10.10.0.99", "10.200.0.1"}
	a, port := netip.MustParseAddr(addresses[r.IntN(len(addresses))]), uint16(80+r.IntN(3))
	some := func(n int) bool { return n > 0 && r.IntN(4) > 0 }
	switch pick := r.IntN(8); {
	case pick < 3 && some(len(t.Listeners)):
		l := t.Listeners[r.IntN(len(t.Listeners))]
		a = l.VIP
		if r.IntN(4) > 0 {
			port = l.Port
		}
	case pick < 6 && some(len(t.Hosts)):
		a = t.Hosts[r.IntN(len(t.Hosts))].Address
	case pick == 6:
		a = t.Segments[r.IntN(len(t.Segments))].Gateway.Address
	case pick == 7:
		a = t.Segments[r.IntN(len(t.Segments))].Probe.Address
	}
	return a, port
}

// canonical is a fate as text, in the order of ports.
func canonical(f []sent) string {
	var lines []string
	for _, s := range f {
		lines = append(lines, s.String())
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// The rules do what the reference says, on random topologies and parcels, each on a switch without history.
func TestRulesAgreeWithTheReference(t *testing.T) {
	topologies, parcels := map[string]int{"sim": 50, "ovs": 2}, map[string]int{"sim": 40, "ovs": 15} // a real switch takes its time
	for _, b := range beds {
		t.Run(b.name, func(t *testing.T) {
			seen := map[string]int{}
			someTopologies(t, topologies[b.name], func(seed uint64, topology model.Topology) {
				compare(t, seed, topology, b.open(t, topology), parcels[b.name], seen)
			})
			if b.name != "sim" {
				return
			}
			require.NotZero(t, seen["balanced"], "%v", seen)
			for _, kind := range []string{"tcp", "udp", "echo", "arp"} {
				require.NotZero(t, min(seen[kind+" passed"], seen[kind+" dropped"]), "%v", seen)
			}
		})
	}
}

// compare sends random parcels to a bed and counts their kinds.
func compare(t *testing.T, seed uint64, topology model.Topology, b bed, parcels int, seen map[string]int) {
	r, ref := rand.New(rand.NewPCG(seed, 4)), reference{topology}
	program := allUp(topology)
	for range parcels {
		b.Reset()
		b.Install(program)
		p := randomParcel(r, topology)
		b.Receive(p.from.port, p.bytes())
		got := b.Outputs()
		fates := ref.forward(p)
		require.True(t, slices.ContainsFunc(fates, func(f fate) bool { return canonical(f) == canonical(got) }),
			"seed %d: %v\ngot  %v\nwant %v\ndrops %v", seed, p, canonical(got), fates, b.Drops())
		if len(fates) > 1 {
			seen["balanced"]++
		}
		if len(got) > 0 {
			seen[p.kind+" passed"]++
		} else {
			seen[p.kind+" dropped"]++
		}
	}
}
