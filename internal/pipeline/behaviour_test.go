package pipeline

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
)

var (
	publicVIP  = netip.MustParseAddrPort("192.168.5.21:80")
	privateVIP = netip.MustParseAddrPort("10.20.0.100:80")
)

const web = 8080

func TestBalancing(t *testing.T) {
	inWorlds(t, small(load(t, "hpnn")), []behaviour{
		{"a public session is translated there and back", publicSession},
		{"neighbours stay neighbours", neighbours},
		{"a member reaches itself by its VIP", hairpinSession},
		{"a client port is used for the VIP and then directly", balancedThenDirect},
		{"a client port is used directly and then for the VIP", directThenBalanced},
		{"a moved slot keeps its sessions", movedSlot},
		{"an unknown neighbour is answered", unknownNeighbour},
		{"a pool without members drops", failClose},
		{"a port without a listener drops", noListener},
		{"what is invalid is dropped", invalidPackets},
		{"an answer without a session is dropped", strayAnswers},
		{"fragments of answers are dropped", fragmentedAnswers},
		{"errors about balanced sessions stay inside", balancedErrors},
	})
}

// open sends a SYN to a VIP and returns the member that got it.
func (w *world) open(client party, port uint16, vip netip.AddrPort, seq uint32) (packet.TCP, party) {
	w.t.Helper()
	syn := client.tcp(port, vip, packet.SYN, seq, 0)
	got := w.send(client, syn.Bytes())
	require.Len(w.t, got, 1, "drops %v", w.Drops())
	return syn, w.by(got[0].port)
}

func publicSession(t *testing.T, w *world) {
	client := w.outsider(13)
	members := map[string]int{}
	for port := uint16(40000); port < 40032; port++ {
		syn := client.tcp(port, publicVIP, packet.SYN, 1000, 0)
		got := w.send(client, syn.Bytes())
		require.Len(t, got, 1)
		member := w.by(got[0].port)
		members[member.port]++
		require.Empty(t, packet.Diff(arrives(to(syn, member.at(web)), member).Bytes(), got[0].frame))

		answer := member.tcp(web, client.at(port), packet.SYN|packet.ACK, 5000, 1001)
		w.expect(member, answer.Bytes(), client.gets(arrives(from(answer, publicVIP), client).Bytes()))
		ack := client.tcp(port, publicVIP, packet.ACK, 1001, 5001)
		w.expect(client, ack.Bytes(), member.gets(arrives(to(ack, member.at(web)), member).Bytes()))
	}
	require.Len(t, members, 4, "sessions spread over all members: %v", members)
	require.Zero(t, w.Learned(tableAdjacency), "no state but the connections is kept for clients of a VIP")
}

func neighbours(t *testing.T, w *world) {
	client := w.host("cli2")
	near, far := 0, 0
	for port := uint16(40000); port < 40016; port++ {
		syn, member := w.open(client, port, privateVIP, 1000)
		answer := member.tcp(web, client.at(port), packet.SYN|packet.ACK, 5000, 1001)
		if member.gateway != client.gateway {
			far++
			w.expect(member, answer.Bytes(), client.gets(arrives(from(answer, privateVIP), client).Bytes()))
			continue
		}
		near++
		w.expect(client, syn.Bytes(), member.gets(neighbourly(to(syn, member.at(web)), member).Bytes()))
		direct := neighbourly(answer, client)
		w.expect(member, direct.Bytes(), client.gets(from(direct, privateVIP).Bytes()))
	}
	require.NotZero(t, near)
	require.NotZero(t, far)
}

// hairpin finds a client port of a member whose connection to the VIP is balanced to itself.
func (w *world) hairpin(member party, vip netip.AddrPort) (uint16, []sent) {
	w.t.Helper()
	for port := uint16(50000); port < 50100; port++ {
		got := w.send(member, member.tcp(port, vip, packet.SYN, 1000, 0).Bytes())
		require.Len(w.t, got, 1)
		if got[0].port == member.port {
			return port, got
		}
	}
	w.t.Fatal("no connection was balanced to its client")
	return 0, nil
}

func hairpinSession(t *testing.T, w *world) {
	member := w.host("be1")
	gateway := w.segment("p2").Gateway.Address
	back := packet.Ether{Src: member.gateway, Dst: member.mac}
	port, got := w.hairpin(member, privateVIP)

	syn := from(to(member.tcp(port, privateVIP, packet.SYN, 1000, 0), member.at(web)), netip.AddrPortFrom(gateway, port))
	syn.Eth = back
	require.Empty(t, packet.Diff(syn.Bytes(), got[0].frame))

	answer := member.tcp(web, netip.AddrPortFrom(gateway, port), packet.SYN|packet.ACK, 5000, 1001)
	home := to(from(answer, privateVIP), member.at(port))
	home.Eth = back
	w.expect(member, answer.Bytes(), member.gets(home.Bytes()))

	ack := member.tcp(port, privateVIP, packet.ACK, 1001, 5001)
	there := from(to(ack, member.at(web)), netip.AddrPortFrom(gateway, port))
	there.Eth = back
	w.expect(member, ack.Bytes(), member.gets(there.Bytes()))
}

// converse opens a connection to an address, answers and ends it, with the segments as the client and the member send them.
func (w *world) converse(client, member party, port uint16, to netip.AddrPort) {
	w.t.Helper()
	steps := []struct {
		from  party
		frame packet.TCP
	}{
		{client, client.tcp(port, to, packet.SYN, 1000, 0)},
		{member, member.tcp(web, client.at(port), packet.SYN|packet.ACK, 5000, 1001)},
		{client, client.tcp(port, to, packet.ACK, 1001, 5001)},
		{client, client.tcp(port, to, packet.FIN|packet.ACK, 1001, 5001)},
		{member, member.tcp(web, client.at(port), packet.FIN|packet.ACK, 5001, 1002)},
		{client, client.tcp(port, to, packet.ACK, 1002, 5002)},
	}
	for i, s := range steps {
		require.Len(w.t, w.send(s.from, s.frame.Bytes()), 1, "step %d, drops %v", i, w.Drops())
	}
}

// again opens a connection from a port that was used before, with other sequence numbers.
func (w *world) again(client, member party, port uint16, at netip.AddrPort) {
	w.t.Helper()
	syn := client.tcp(port, at, packet.SYN, 900_000_000, 0)
	w.expect(client, syn.Bytes(), member.gets(arrives(to(syn, member.at(web)), member).Bytes()))
	answer := member.tcp(web, client.at(port), packet.SYN|packet.ACK, 1_800_000_000, 900_000_001)
	w.expect(member, answer.Bytes(), client.gets(arrives(from(answer, at), client).Bytes()))
	ack := client.tcp(port, at, packet.ACK, 900_000_001, 1_800_000_001)
	w.expect(client, ack.Bytes(), member.gets(arrives(to(ack, member.at(web)), member).Bytes()))
	data := member.tcp(web, client.at(port), packet.PSH|packet.ACK, 1_800_000_001, 900_000_001)
	data.Payload = []byte("hello")
	w.expect(member, data.Bytes(), client.gets(arrives(from(data, at), client).Bytes()))
}

func balancedThenDirect(t *testing.T, w *world) {
	client := w.outsider(13)
	_, member := w.open(client, 41000, publicVIP, 1000)
	w.converse(client, member, 41000, publicVIP)
	w.again(client, member, 41000, member.at(web))
}

func directThenBalanced(t *testing.T, w *world) {
	client, member := w.outsider(13), w.host("be1")
	for port := uint16(41001); ; port++ {
		w.converse(client, member, port, member.at(web))
		if _, m := w.open(client, port, publicVIP, 900_000_000); m == member {
			w.again(client, member, port, publicVIP)
			return
		}
	}
}

func movedSlot(t *testing.T, w *world) {
	client := w.outsider(13)
	_, member := w.open(client, 42000, publicVIP, 1000)
	name := member.port
	drained := State{Drained: map[MemberName]bool{{"web", name}: true}}
	w.Install(Render(w.topology, Layout(w.topology, drained)))

	answer := member.tcp(web, client.at(42000), packet.SYN|packet.ACK, 5000, 1001)
	w.expect(member, answer.Bytes(), client.gets(arrives(from(answer, publicVIP), client).Bytes()))
	ack := client.tcp(42000, publicVIP, packet.ACK, 1001, 5001)
	w.expect(client, ack.Bytes(), member.gets(arrives(to(ack, member.at(web)), member).Bytes()))
	for port := uint16(42001); port < 42016; port++ {
		_, other := w.open(client, port, publicVIP, 1000)
		require.NotEqual(t, name, other.port, "a drained member takes no new sessions")
	}
}

// unknownNeighbour is a client behind the uplink of a private segment whose member is in another segment.
func unknownNeighbour(t *testing.T, w *world) {
	client := stranger(w.segment("p2"), 77)
	for port := uint16(43000); port < 43012; port++ {
		_, member := w.open(client, port, privateVIP, 1000)
		answer := member.tcp(web, client.at(port), packet.SYN|packet.ACK, 5000, 1001)
		if member.gateway == client.gateway {
			direct := neighbourly(answer, client)
			w.expect(member, direct.Bytes(), client.gets(from(direct, privateVIP).Bytes()))
		} else {
			w.expect(member, answer.Bytes(), client.gets(arrives(from(answer, privateVIP), client).Bytes()))
		}
	}
	require.Zero(t, w.Learned(tableAdjacency))
}

func failClose(t *testing.T, w *world) {
	down := State{Down: map[MemberName]bool{}}
	for _, m := range w.topology.Pools[0].Members {
		down.Down[MemberName{"web", m.Name}] = true
	}
	w.Install(Render(w.topology, Layout(w.topology, down)))
	w.expectDrop(tableSlots, slotUnowned, w.outsider(13), w.outsider(13).tcp(44000, publicVIP, packet.SYN, 1, 0).Bytes())
	w.expectDrop(tableSlots, slotUnowned, w.host("cli2"), w.host("cli2").tcp(44000, privateVIP, packet.SYN, 1, 0).Bytes())
	require.Zero(t, w.Connections())
}

func noListener(t *testing.T, w *world) {
	client, inside := w.outsider(13), w.host("cli2")
	ssh := netip.AddrPortFrom(publicVIP.Addr(), 22)
	w.expectDrop(tableListener, listenerOther, client, client.tcp(44000, ssh, packet.SYN, 1, 0).Bytes())
	w.expectDrop(tableListener, listenerOther, inside, inside.tcp(44000, netip.AddrPortFrom(privateVIP.Addr(), 443), packet.SYN, 1, 0).Bytes())
	w.expectDrop(tableListener, listenerOther, inside, inside.tcp(44000, publicVIP, packet.SYN, 1, 0).Bytes()) // it serves others
	w.expectDrop(tableListener, listenerOther, client, client.tcp(44000, privateVIP, packet.SYN, 1, 0).Bytes())
	query := packet.UDP{Eth: packet.Ether{Src: client.mac, Dst: client.gateway}, IP: packet.IP{Src: client.ip, Dst: publicVIP.Addr()}, SrcPort: 1, DstPort: 80}
	w.expectDrop(tableListener, listenerOther, client, query.Bytes())
	byMember := neighbourly(inside.tcp(44000, privateVIP, packet.SYN, 1, 0), w.host("be1"))
	w.expectDrop(tableClassify, classifyStray, inside, byMember.Bytes())
	require.Zero(t, w.Connections())
}

func invalidPackets(t *testing.T, w *world) {
	client := w.outsider(13)
	broken := client.tcp(45000, publicVIP, packet.SYN, 1000, 0).Bytes()
	broken[len(broken)-3] ^= 0xff // in the checksum
	w.expectDrop(tableDelivery, deliveryInvalid, client, broken)
	w.expectDrop(tableDelivery, deliveryInvalid, client, client.tcp(45000, publicVIP, packet.SYN|packet.ACK, 1000, 1).Bytes())

	_, member := w.open(client, 45001, publicVIP, 1000)
	w.expect(member, member.tcp(web, client.at(45001), packet.SYN|packet.ACK, 5000, 1001).Bytes(),
		client.gets(arrives(from(member.tcp(web, client.at(45001), packet.SYN|packet.ACK, 5000, 1001), publicVIP), client).Bytes()))
	late := client.tcp(45001, publicVIP, packet.ACK, 3_000_000_000, 5001)
	late.Payload = []byte("out of window")
	w.expectDrop(tableDelivery, deliveryInvalid, client, late.Bytes())
	late = member.tcp(web, client.at(45001), packet.ACK, 3_000_000_000, 1001)
	late.Payload = []byte("out of window")
	w.expectDrop(tableRoutedVerdict, 0, member, late.Bytes())
}

func strayAnswers(t *testing.T, w *world) {
	client, member, inside := w.outsider(13), w.host("be1"), w.host("cli2")
	answer := member.tcp(web, client.at(46000), packet.SYN|packet.ACK, 5000, 1001)
	w.expectDrop(tableRoutedVerdict, verdictInvalid, member, answer.Bytes())
	data := member.tcp(web, client.at(46000), packet.ACK, 5000, 1001)
	w.expectDrop(tableRoutedVerdict, 0, member, data.Bytes())
	near := neighbourly(member.tcp(web, inside.at(46000), packet.RST|packet.ACK, 5000, 1001), inside)
	w.expectDrop(tableSwitchedVerdict, 0, member, near.Bytes())
}

func fragmentedAnswers(t *testing.T, w *world) {
	client, member := w.outsider(13), w.host("be1")
	payload := make([]byte, 64)
	for _, ip := range []packet.IP{
		{Src: member.ip, Dst: client.ip, ID: 9, More: true},
		{Src: member.ip, Dst: client.ip, ID: 9, Offset: 64},
	} {
		f := packet.Datagram{Eth: packet.Ether{Src: member.mac, Dst: member.gateway}, IP: ip, Proto: packet.ProtoTCP, Payload: payload}
		w.expectDrop(tableRouted, wayFragment, member, f.Bytes())
	}
	short := packet.Datagram{Eth: packet.Ether{Src: member.mac, Dst: member.gateway}, IP: packet.IP{Src: member.ip, Dst: client.ip},
		Proto: packet.ProtoTCP, Payload: []byte{web >> 8, web & 0xff, 0, 80}}
	w.expectDrop(tableRouted, wayBroken, member, short.Bytes())
}

// unreachable is the error that a member sends about a packet it got.
func unreachable(member party, about packet.TCP, bytes int) packet.ICMP {
	inner := about.Bytes()[14:]
	return packet.ICMP{
		Eth: packet.Ether{Src: member.mac, Dst: member.gateway}, IP: packet.IP{Src: member.ip, Dst: about.IP.Src, TTL: 64},
		Type: packet.Unreachable, Code: 3, Payload: inner[:bytes],
	}
}

func balancedErrors(t *testing.T, w *world) {
	client := w.outsider(13)
	syn, member := w.open(client, 47000, publicVIP, 1000)
	for _, bytes := range []int{40, 28} { // the whole header, and the eight bytes of it that RFC 792 demands
		about := arrives(to(syn, member.at(web)), member)
		w.expectDrop(tableRoutedUndone, undoneOurs, member, unreachable(member, about, bytes).Bytes())
	}
	direct := client.tcp(47001, member.at(web), packet.SYN, 1000, 0)
	w.expect(client, direct.Bytes(), member.gets(arrives(direct, member).Bytes()))
	fault := unreachable(member, arrives(direct, member), 40)
	passed := fault
	passed.Eth = packet.Ether{Src: client.gateway, Dst: client.mac}
	passed.IP.TTL--
	w.expect(member, fault.Bytes(), client.gets(passed.Bytes()))
}
