package pipeline

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
)

func TestNode(t *testing.T) {
	inWorlds(t, small(load(t, "hpnn")), []behaviour{
		{"ARP is answered in its own segment only", answersARP},
		{"ping is answered in its own segment only", answersPing},
		{"frames that are not admitted are dropped", admission},
		{"hosts speak for themselves", portSecurity},
		{"sources belong to their segment", sourceCheck},
		{"a hop is taken off and the last is not forwarded", hops},
		{"direct sessions pass untranslated", directSessions},
		{"segments are switched", switching},
		{"probes bypass the connection tracker", probing},
		{"nobody else reaches the kernel of the node", kernelGuard},
		{"the noise of the public segment costs nothing", publicNoise},
		{"what is learned is bounded", learnedIsBounded},
	})
}

func answersARP(t *testing.T, w *world) {
	public, inside := w.outsider(13), w.host("cli2")
	all := []struct {
		asker party
		for_  string
		mac   packet.MAC // zero: not answered
	}{
		{public, "192.168.5.20", public.gateway},
		{public, "192.168.5.21", public.gateway},
		{public, "10.20.0.1", packet.MAC{}},
		{public, "10.20.0.100", packet.MAC{}},
		{public, "192.168.5.99", packet.MAC{}},
		{inside, "10.20.0.1", inside.gateway},
		{inside, "10.20.0.100", inside.gateway},
		{inside, "10.20.0.253", w.prober("p2").mac},
		{stranger(w.segment("p2"), 77), "10.20.0.1", inside.gateway},
	}
	for _, each := range all {
		request := packet.ARPRequest(each.asker.mac, each.asker.ip, netip.MustParseAddr(each.for_))
		if each.mac == (packet.MAC{}) {
			w.expectDrop(tableARP, 0, each.asker, request.Bytes())
			continue
		}
		w.expect(each.asker, request.Bytes(), each.asker.gets(request.Reply(each.mac).Bytes()))
	}
	// Whatever the node does not answer is for the neighbours.
	for _, other := range []string{"10.20.0.2", "10.30.0.1", "192.168.5.21"} {
		request := packet.ARPRequest(inside.mac, inside.ip, netip.MustParseAddr(other)).Bytes()
		w.expect(inside, request, sent{"p2", request}, sent{"be1", request}, sent{"be3", request})
	}
}

func answersPing(t *testing.T, w *world) {
	public, inside := w.outsider(13), w.host("cli2")
	for _, each := range []struct {
		from party
		to   string
	}{{public, "192.168.5.20"}, {public, "192.168.5.21"}, {inside, "10.20.0.1"}, {inside, "10.20.0.100"}} {
		request := each.from.ping(netip.MustParseAddr(each.to))
		request.IP.TTL = 1
		reply := request
		reply.Eth = packet.Ether{Src: each.from.gateway, Dst: each.from.mac}
		reply.IP.Src, reply.IP.Dst, reply.IP.TTL = request.IP.Dst, request.IP.Src, 64
		reply.Type = packet.EchoReply
		w.expect(each.from, request.Bytes(), each.from.gets(reply.Bytes()))
	}
	w.expectDrop(tableClassify, classifyGateway, inside, inside.ping(netip.MustParseAddr("10.30.0.1")).Bytes())
	w.expectDrop(tableListener, listenerOther, inside, inside.ping(publicVIP.Addr()).Bytes())
	w.expectDrop(tableClassify, classifyGateway, public, public.ping(netip.MustParseAddr("10.20.0.1")).Bytes())
	overheard := public.ping(netip.MustParseAddr("192.168.5.20"))
	overheard.Eth.Dst = packet.Broadcast
	w.expectDrop(tableClassify, classifyGateway, public, overheard.Bytes())
}

func admission(t *testing.T, w *world) {
	public, inside := w.outsider(13), w.host("cli2")
	syn := func(p party) packet.TCP { return p.tcp(40000, publicVIP, packet.SYN, 1, 0) }
	spoof := func(p party, change func(*packet.TCP)) []byte {
		f := syn(p)
		change(&f)
		return f.Bytes()
	}
	for _, p := range []party{public, inside} {
		w.expectDrop(tableIngress, ingressTagged, p, spoof(p, func(f *packet.TCP) { f.Eth.Tags = []packet.Tag{{ID: 5}} }))
		w.expectDrop(tableIngress, ingressTagged, p, spoof(p, func(f *packet.TCP) { f.Eth.Tags = []packet.Tag{{ID: 0, Priority: 3}} }))
		w.expectDrop(tableIngress, ingressMulticast, p, spoof(p, func(f *packet.TCP) { f.Eth.Src[0] |= 1 }))
		w.expectDrop(tableIngress, ingressOurMAC, p, spoof(p, func(f *packet.TCP) { f.Eth.Src = p.gateway }))
		w.expectDrop(tableIngress, ingressOurMAC, p, spoof(p, func(f *packet.TCP) { f.Eth.Src = w.prober("p3").mac }))
		for _, ours := range []string{"192.168.5.20", "192.168.5.21", "10.20.0.1", "10.30.0.100", "10.20.0.253"} {
			ip := netip.MustParseAddr(ours)
			w.expectDrop(tableIngress, ingressOurs, p, spoof(p, func(f *packet.TCP) { f.IP.Src = ip }))
			w.expectDrop(tableIngress, ingressOurs, p, packet.ARPRequest(p.mac, ip, p.ip).Bytes())
		}
	}
	foreign := w.prober("p2")
	foreign.mac, foreign.ip = packet.MAC{2, 9, 9, 9, 9, 9}, netip.MustParseAddr("10.20.0.77")
	w.expectDrop(tableIngress, 0, foreign, syn(foreign).Bytes())
}

func portSecurity(t *testing.T, w *world) {
	host, other := w.host("cli2"), w.host("be1")
	far := w.host("be2").at(web)
	as := func(p party, change func(*packet.TCP)) []byte {
		f := p.tcp(40000, far, packet.SYN, 1, 0)
		change(&f)
		return f.Bytes()
	}
	w.expectDrop(tableIngress, ingressImpostor, host, as(host, func(f *packet.TCP) { f.IP.Src = other.ip }))
	w.expectDrop(tableIngress, ingressStolenMAC, host, as(host, func(f *packet.TCP) { f.Eth.Src = other.mac }))
	w.expectDrop(tableIngress, ingressStranger, host, as(host, func(f *packet.TCP) { f.Eth.Src = packet.MAC{2, 9, 9, 9, 9, 9} }))
	w.expectDrop(tableIngress, ingressImpostor, host, packet.ARPRequest(host.mac, other.ip, host.ip).Bytes())
	lie := packet.ARPRequest(other.mac, host.ip, other.ip)
	lie.Eth.Src = host.mac
	w.expectDrop(tableIngress, ingressImpostor, host, lie.Bytes())

	uplink := stranger(w.segment("p2"), 77)
	w.expectDrop(tableIngress, ingressStolenIP, uplink, as(uplink, func(f *packet.TCP) { f.IP.Src = other.ip }))
	w.expectDrop(tableIngress, ingressStolenIP, uplink, packet.ARPRequest(uplink.mac, other.ip, host.ip).Bytes())
	w.expectDrop(tableIngress, ingressStolenMAC, uplink, as(uplink, func(f *packet.TCP) { f.Eth.Src = other.mac }))

	// A host asks whether its address is free, and for a lease, before it has one.
	everyone := func(frame []byte) []sent { return []sent{{"p2", frame}, {"be1", frame}, {"be3", frame}} }
	free := packet.ARPRequest(host.mac, netip.IPv4Unspecified(), host.ip).Bytes()
	w.expect(host, free, everyone(free)...)
	lease := packet.UDP{Eth: packet.Ether{Src: host.mac, Dst: packet.Broadcast},
		IP: packet.IP{Src: netip.IPv4Unspecified(), Dst: netip.MustParseAddr("255.255.255.255")}, SrcPort: 68, DstPort: 67}.Bytes()
	w.expect(host, lease, everyone(lease)...)
	v6 := packet.Ether{Src: host.mac, Dst: packet.MAC{0x33, 0x33, 0, 0, 0, 1}}.Frame(packet.TypeIPv6, make([]byte, 60))
	w.expect(host, v6, everyone(v6)...)
}

func sourceCheck(t *testing.T, w *world) {
	public, uplink := w.outsider(13), stranger(w.segment("p2"), 77)
	for _, source := range []string{"10.20.0.2", "10.30.0.77", "127.0.0.1", "224.0.0.5", "0.0.0.0", "240.0.0.1", "203.0.113.7"} {
		spoofed := public
		spoofed.ip = netip.MustParseAddr(source)
		require.Empty(t, w.send(public, spoofed.tcp(40000, publicVIP, packet.SYN, 1, 0).Bytes()), source)
		require.Empty(t, w.send(public, spoofed.tcp(40000, w.host("be1").at(web), packet.SYN, 1, 0).Bytes()), source)
	}
	uplink.ip = netip.MustParseAddr("10.30.0.77")
	require.Empty(t, w.send(uplink, uplink.tcp(40000, privateVIP, packet.SYN, 1, 0).Bytes()))
	drops := w.Drops()
	require.Equal(t, map[level]int{{tableSource, 148}: 5, {tableSource, sourceMartian}: 8, {tableSource, 0}: 2}, drops)
	require.Zero(t, w.Connections())
	require.Zero(t, w.Learned(tableAdjacency))
}

func hops(t *testing.T, w *world) {
	near, far := w.host("cli2"), w.host("cli3")
	ping := near.ping(far.ip)
	passed := ping
	passed.Eth = packet.Ether{Src: far.gateway, Dst: far.mac}
	passed.IP.TTL = 63
	w.expect(near, ping.Bytes(), far.gets(passed.Bytes()))
	ping.IP.TTL, passed.IP.TTL = 2, 1
	w.expect(near, ping.Bytes(), far.gets(passed.Bytes()))
	for _, p := range []struct {
		from party
		to   netip.AddrPort
	}{{near, far.at(22)}, {w.outsider(13), publicVIP}, {w.outsider(13), far.at(22)}} {
		last := p.from.tcp(40000, p.to, packet.SYN, 1, 0)
		last.IP.TTL = 1
		w.expectDrop(tableRoute, routeSpent, p.from, last.Bytes())
	}
	w.expectDrop(tableRoute, 0, near, near.tcp(40000, netip.MustParseAddrPort("203.0.113.7:80"), packet.SYN, 1, 0).Bytes())
	w.expectDrop(tableAdjacency, 0, near, near.tcp(40000, netip.MustParseAddrPort("10.30.0.99:80"), packet.SYN, 1, 0).Bytes())
}

func directSessions(t *testing.T, w *world) {
	public, inside, member := w.outsider(13), w.host("cli2"), w.host("be1")
	w.again(public, member, 40000, member.at(web))
	require.Equal(t, 1, w.Learned(tableAdjacency))
	w.again(w.host("cli3"), member, 40000, member.at(web))

	syn := neighbourly(inside.tcp(40000, member.at(web), packet.SYN, 1000, 0), member)
	w.expect(inside, syn.Bytes(), member.gets(syn.Bytes()))
	answer := neighbourly(member.tcp(web, inside.at(40000), packet.SYN|packet.ACK, 5000, 1001), inside)
	w.expect(member, answer.Bytes(), inside.gets(answer.Bytes()))

	// A session that began before the tracker was there goes on.
	ack := public.tcp(40001, member.at(web), packet.ACK, 1001, 5001)
	w.expect(public, ack.Bytes(), member.gets(arrives(ack, member).Bytes()))
	ack = member.tcp(web, public.at(40001), packet.ACK, 5001, 1001)
	w.expect(member, ack.Bytes(), public.gets(arrives(ack, public).Bytes()))

	// A member may call others from its service port.
	call := member.tcp(web, w.host("cli3").at(25), packet.SYN, 1000, 0)
	w.expect(member, call.Bytes(), w.host("cli3").gets(arrives(call, w.host("cli3")).Bytes()))
	taken := w.host("cli3").tcp(25, member.at(web), packet.SYN|packet.ACK, 5000, 1001)
	w.expect(w.host("cli3"), taken.Bytes(), member.gets(arrives(taken, member).Bytes()))
	ack = member.tcp(web, w.host("cli3").at(25), packet.ACK, 1001, 5001)
	w.expect(member, ack.Bytes(), w.host("cli3").gets(arrives(ack, w.host("cli3")).Bytes()))

	// Between two members, from service port to service port.
	w.again(w.host("be3"), w.host("be2"), web, w.host("be2").at(web))
}

func switching(t *testing.T, w *world) {
	host, peer, uplink := w.host("cli2"), w.host("be1"), stranger(w.segment("p2"), 77)
	frame := func(from party, to packet.MAC) []byte {
		return packet.Ether{Src: from.mac, Dst: to}.Frame(0x88b5, make([]byte, 46)) // a local experiment (IEEE 802)
	}
	w.expect(host, frame(host, peer.mac), peer.gets(frame(host, peer.mac)))
	for _, dst := range []packet.MAC{packet.Broadcast, {0x01, 0x00, 0x5e, 0, 0, 5}, uplink.mac} {
		f := frame(host, dst)
		w.expect(host, f, sent{"p2", f}, sent{"be1", f}, sent{"be3", f})
	}
	w.expect(uplink, frame(uplink, peer.mac), peer.gets(frame(uplink, peer.mac)))
	require.Equal(t, 1, w.Learned(tableSwitch))
	w.expect(host, frame(host, uplink.mac), uplink.gets(frame(host, uplink.mac)))
	w.expectDrop(tableSwitch, bridgeReserved, host, frame(host, packet.MAC{0x01, 0x80, 0xc2, 0, 0, 0}))
	w.expectDrop(tableSwitch, bridgeGateway, host, frame(host, host.gateway))
	foreign := frame(host, w.host("be2").mac)
	w.expect(host, foreign, sent{"p2", foreign}, sent{"be1", foreign}, sent{"be3", foreign}) // not across segments
}

func probing(t *testing.T, w *world) {
	kernel, member := w.prober("p2"), w.host("be1")
	who := packet.ARPRequest(kernel.mac, kernel.ip, member.ip)
	w.expect(kernel, who.Bytes(), sent{"p2", who.Bytes()}, sent{"be1", who.Bytes()}, sent{"be3", who.Bytes()}, sent{"cli2", who.Bytes()})
	w.expect(member, who.Reply(member.mac).Bytes(), kernel.gets(who.Reply(member.mac).Bytes()))
	free := packet.ARPRequest(kernel.mac, netip.IPv4Unspecified(), kernel.ip).Bytes()
	w.expect(kernel, free, sent{"p2", free}, sent{"be1", free}, sent{"be3", free}, sent{"cli2", free})

	syn := neighbourly(kernel.tcp(40000, member.at(web), packet.SYN, 1000, 0), member)
	w.expect(kernel, syn.Bytes(), member.gets(syn.Bytes()))
	answer := neighbourly(member.tcp(web, kernel.at(40000), packet.SYN|packet.ACK, 5000, 1001), kernel)
	w.expect(member, answer.Bytes(), kernel.gets(answer.Bytes()))
	// A member without neighbours answers by its gateway.
	gateway := member.tcp(web, kernel.at(40000), packet.SYN|packet.ACK, 5000, 1001)
	home := gateway
	home.Eth = packet.Ether{Src: member.gateway, Dst: kernel.mac}
	w.expect(member, gateway.Bytes(), kernel.gets(home.Bytes()))
	require.Zero(t, w.Connections())
}

func kernelGuard(t *testing.T, w *world) {
	kernel := w.prober("p2")
	inside, far, public := w.host("cli2"), w.host("be2"), w.outsider(13)
	w.expectDrop(tableClassify, classifyToProbe, inside, neighbourly(inside.tcp(40000, kernel.at(22), packet.SYN, 1, 0), kernel).Bytes())
	w.expectDrop(tableClassify, classifyToProber, inside, inside.tcp(40000, kernel.at(22), packet.SYN, 1, 0).Bytes())
	w.expectDrop(tableClassify, classifyToProber, far, far.tcp(40000, kernel.at(22), packet.SYN, 1, 0).Bytes())
	w.expectDrop(tableClassify, classifyToProber, public, public.tcp(40000, kernel.at(22), packet.SYN, 1, 0).Bytes())
	v6 := packet.Ether{Src: inside.mac, Dst: kernel.mac}.Frame(packet.TypeIPv6, make([]byte, 60))
	w.expectDrop(tableClassify, classifyToProbe, inside, v6)
}

func publicNoise(t *testing.T, w *world) {
	public := w.outsider(13)
	overheard := public.tcp(40000, w.host("be1").at(web), packet.SYN, 1, 0)
	overheard.Eth.Dst = packet.MAC{2, 9, 9, 9, 9, 9}
	w.expectDrop(tableClassify, classifyPublic, public, overheard.Bytes())
	w.expectDrop(tableClassify, classifyPublic, public, public.tcp(40000, netip.MustParseAddrPort("192.168.5.99:80"), packet.SYN, 1, 0).Bytes())
	w.expectDrop(tableClassify, classifyPublic, public, packet.Ether{Src: public.mac, Dst: packet.Broadcast}.Frame(packet.TypeIPv6, make([]byte, 60)))
	w.expectDrop(tableClassify, classifyGateway, public, public.tcp(40000, netip.MustParseAddrPort("192.168.5.20:22"), packet.SYN, 1, 0).Bytes())
	require.Zero(t, w.Learned(tableSwitch)+w.Learned(tableAdjacency)+w.Connections())
}

func learnedIsBounded(t *testing.T, w *world) {
	if _, real := w.bed.(*ovs); real && testing.Short() {
		t.Skip("a real switch takes seconds for thousands of frames")
	}
	uplink := stranger(w.segment("p2"), 77)
	var frames [][]byte
	for i := range learnedLimit + 50 {
		p := uplink
		p.mac = packet.MAC{2, 0x77, 0, 0, byte(i >> 8), byte(i)}
		p.ip = netip.AddrFrom4([4]byte{10, 20, 0, byte(20 + i%80)}) // of one segment, and of no host
		frames = append(frames, p.tcp(40000, w.host("be2").at(22), packet.SYN, 1, 0).Bytes())
	}
	w.Receive(uplink.port, frames...)
	w.Outputs()
	require.Equal(t, learnedLimit, w.Learned(tableSwitch))
	require.Equal(t, 80, w.Learned(tableAdjacency))

	// Another segment still learns, and a client that is not learned is still served by a VIP.
	other := stranger(w.segment("p3"), 78)
	w.Receive(other.port, other.ping(w.host("be1").ip).Bytes())
	w.Outputs()
	require.Equal(t, learnedLimit+1, w.Learned(tableSwitch))
	require.Equal(t, 81, w.Learned(tableAdjacency))
	for port := uint16(43000); ; port++ {
		if _, member := w.open(uplink, port, privateVIP, 1000); member.gateway != uplink.gateway {
			answer := member.tcp(web, uplink.at(port), packet.SYN|packet.ACK, 5000, 1001)
			w.expect(member, answer.Bytes(), uplink.gets(arrives(from(answer, privateVIP), uplink).Bytes()))
			return
		}
	}
}
