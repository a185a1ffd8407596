package pipeline

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
	"hpnn/model"
)

// The example two-pools has a router in each segment: isp for everywhere else, and inner for 10.2.0.0/16.
func TestRoutes(t *testing.T) {
	inWorlds(t, small(load(t, "two-pools")), []behaviour{
		{"clients beyond a router are answered", clientsBeyond},
		{"a member beyond a router is reached", memberBeyond},
		{"a neighbour is served by a member beyond a router", neighbourOfRouter},
		{"a member behind two VIPs tells their sessions apart", twoVIPs},
		{"all connections of a client reach one member", affinity},
		{"a router may speak for what it routes only", routersSources},
		{"a pool that rejects tracks nothing", rejecting},
	})
}

var (
	webVIP     = netip.MustParseAddrPort("198.51.100.10:80")
	chatVIP    = netip.MustParseAddrPort("198.51.100.11:5222")
	chatLanVIP = netip.MustParseAddrPort("10.1.0.100:5222")
	remote     = netip.MustParseAddrPort("10.2.0.20:5222")
)

// beyond is a station behind a router: its frames carry the router's MAC.
func beyond(router party, ip string) party {
	router.ip = netip.MustParseAddr(ip)
	return router
}

func clientsBeyond(t *testing.T, w *world) {
	client := beyond(w.host("isp"), "203.0.113.9")
	for port := uint16(40000); port < 40008; port++ {
		syn, member := w.open(client, port, webVIP, 1000)
		require.NotZero(t, syn)
		answer := member.tcp(web, client.at(port), packet.SYN|packet.ACK, 5000, 1001)
		w.expect(member, answer.Bytes(), client.gets(arrives(from(answer, webVIP), client).Bytes()))
	}
	require.Zero(t, w.Learned(tableAdjacency))
	// The node is no router between hosts beyond one uplink.
	require.Empty(t, w.send(client, client.tcp(40000, netip.MustParseAddrPort("203.0.113.10:80"), packet.SYN, 1, 0).Bytes()))
}

// chat opens a connection to a listener of pool chat whose member is the one beyond the router, from one of many clients.
func (w *world) chat(vip netip.AddrPort, client func(i byte) party) (party, packet.TCP, party) {
	w.t.Helper()
	inner := beyond(w.host("inner"), remote.Addr().String())
	for i := byte(20); i < 120; i++ {
		c := client(i)
		if syn, m := w.open(c, 40000, vip, 1000); m.port == inner.port {
			return c, syn, inner
		}
	}
	w.t.Fatal("no client was balanced to the member beyond the router")
	return party{}, packet.TCP{}, party{}
}

func memberBeyond(t *testing.T, w *world) {
	client, syn, member := w.chat(chatVIP, w.outsider)
	w.expect(client, syn.Bytes(), member.gets(arrives(to(syn, remote), member).Bytes()))
	answer := member.tcp(remote.Port(), client.at(40000), packet.SYN|packet.ACK, 5000, 1001)
	w.expect(member, answer.Bytes(), client.gets(arrives(from(answer, chatVIP), client).Bytes()))
}

// neighbourOfRouter is served by a member whose router hands the answers to it without the gateway.
func neighbourOfRouter(t *testing.T, w *world) {
	client, inner := w.host("small"), beyond(w.host("inner"), remote.Addr().String())
	for port := uint16(40000); port < 40100; port++ { // one client may be bound to the other member: then its answer is a neighbour's
		syn, member := w.open(client, port, chatLanVIP, 1000)
		if member.port != inner.port {
			answer := neighbourly(member.tcp(5222, client.at(port), packet.SYN|packet.ACK, 5000, 1001), client)
			w.expect(member, answer.Bytes(), client.gets(from(answer, chatLanVIP).Bytes()))
			client = w.host("medium")
			continue
		}
		w.expect(client, syn.Bytes(), inner.gets(arrives(to(syn, remote), inner).Bytes()))
		answer := neighbourly(inner.tcp(5222, client.at(port), packet.SYN|packet.ACK, 5000, 1001), client)
		answer.IP.TTL = 63
		w.expect(inner, answer.Bytes(), client.gets(from(answer, chatLanVIP).Bytes()))
		return
	}
}

func twoVIPs(t *testing.T, w *world) {
	large := w.host("large")
	for i := byte(20); i < 60; i++ {
		client := w.outsider(i)
		if _, m := w.open(client, 40000, chatVIP, 1000); m != large {
			continue
		}
		for port := uint16(40001); ; port++ {
			if _, m := w.open(client, port, webVIP, 1000); m == large {
				chat := large.tcp(5222, client.at(40000), packet.SYN|packet.ACK, 5000, 1001)
				w.expect(large, chat.Bytes(), client.gets(arrives(from(chat, chatVIP), client).Bytes()))
				page := large.tcp(web, client.at(port), packet.SYN|packet.ACK, 5000, 1001)
				w.expect(large, page.Bytes(), client.gets(arrives(from(page, webVIP), client).Bytes()))
				return
			}
		}
	}
	t.Fatal("no client was balanced to large by both VIPs")
}

func affinity(t *testing.T, w *world) {
	members := map[string]bool{}
	for i := byte(20); i < 36; i++ {
		client := w.outsider(i)
		_, first := w.open(client, 40000, chatVIP, 1000)
		members[first.port] = true
		for port := uint16(40001); port < 40004; port++ {
			_, again := w.open(client, port, chatVIP, 1000)
			require.Equal(t, first.port, again.port)
		}
	}
	require.Len(t, members, 2)
}

func routersSources(t *testing.T, w *world) {
	inner, isp := w.host("inner"), w.host("isp")
	ping := func(p party, source string) []byte {
		return beyond(p, source).ping(w.host("small").ip).Bytes()
	}
	require.Len(t, w.send(isp, ping(isp, "203.0.113.9")), 1)
	require.Len(t, w.send(inner, beyond(inner, "10.2.7.7").ping(netip.MustParseAddr("203.0.113.9")).Bytes()), 1)
	w.expectDrop(tableIngress, ingressImpostor, inner, ping(inner, "203.0.113.9"))
	w.expectDrop(tableIngress, ingressImpostor, inner, ping(inner, "10.1.0.11"))
	w.expectDrop(tableSource, sourceReach+2*16, isp, ping(isp, "10.2.7.7"))
	w.expectDrop(tableSource, sourceReach+2*16, isp, ping(isp, "10.1.0.12"))
	w.expectDrop(tableSource, sourceMartian, isp, ping(isp, "127.0.0.1"))
}

func rejecting(t *testing.T, w *world) {
	down := State{Down: map[MemberName]bool{{"chat", "large"}: true, {"chat", "remote"}: true}}
	w.Install(Render(w.topology, Layout(w.topology, down)))
	syn := w.outsider(13).tcp(40000, chatVIP, packet.SYN, 1, 0)
	require.Empty(t, w.send(w.outsider(13), syn.Bytes()))
	require.Empty(t, w.Drops(), "the daemon has it")
	require.Zero(t, w.Connections())
}

// publicMember is a topology whose pool has a member in the public segment, for clients of the private one.
func publicMember(t *testing.T) model.Topology {
	topology, err := model.Parse("public-member.yaml", []byte(`
segments:
  - {name: pub, kind: public, prefix: 192.0.2.0/24, gateway: 192.0.2.1, uplink: {name: eth0, number: 1}, probe: {address: 192.0.2.253, port: {name: hc0, number: 2}}}
  - {name: lan, kind: private, prefix: 10.0.0.0/24, gateway: 10.0.0.1}
hosts:
  - {name: far, segment: pub, address: 192.0.2.10, mac: 02:00:00:00:00:10, port: {name: eth0, number: 1}}
  - {name: cli, segment: lan, address: 10.0.0.10, mac: 02:00:00:00:01:10, port: {name: cli, number: 10}}
pools:
  - {name: web, members: [{host: far, port: 8080}]}
listeners:
  - {name: web, vip: 10.0.0.100, port: 80, segments: [lan], pool: web}
`))
	require.NoError(t, err)
	return topology
}

func TestMemberInThePublicSegment(t *testing.T) {
	inWorlds(t, small(publicMember(t)), []behaviour{
		{"it is balanced to", func(t *testing.T, w *world) {
			client, member, vip := w.host("cli"), w.host("far"), netip.MustParseAddrPort("10.0.0.100:80")
			syn := client.tcp(40000, vip, packet.SYN, 1000, 0)
			w.expect(client, syn.Bytes(), member.gets(arrives(to(syn, member.at(web)), member).Bytes()))
			answer := member.tcp(web, client.at(40000), packet.SYN|packet.ACK, 5000, 1001)
			w.expect(member, answer.Bytes(), client.gets(arrives(from(answer, vip), client).Bytes()))
		}},
		{"it is probed", func(t *testing.T, w *world) {
			kernel, member := w.prober("pub"), w.host("far")
			who := packet.ARPRequest(kernel.mac, kernel.ip, member.ip)
			w.expect(kernel, who.Bytes(), member.gets(who.Bytes()))
			w.expect(member, who.Reply(member.mac).Bytes(), kernel.gets(who.Reply(member.mac).Bytes()))
			syn := neighbourly(kernel.tcp(40000, member.at(web), packet.SYN, 1000, 0), member)
			w.expect(kernel, syn.Bytes(), member.gets(syn.Bytes()))
			answer := neighbourly(member.tcp(web, kernel.at(40000), packet.SYN|packet.ACK, 5000, 1001), kernel)
			w.expect(member, answer.Bytes(), kernel.gets(answer.Bytes()))
			require.Zero(t, w.Connections())
		}},
		{"nothing else is switched there", func(t *testing.T, w *world) {
			kernel, stranger := w.prober("pub"), w.outsider(77)
			who := packet.ARPRequest(stranger.mac, stranger.ip, w.host("far").ip)
			w.expectDrop(tableARP, 0, stranger, who.Bytes())
			lie := packet.ARPRequest(stranger.mac, stranger.ip, kernel.ip).Reply(stranger.mac)
			lie.Eth = packet.Ether{Src: stranger.mac, Dst: w.host("far").mac}
			w.expectDrop(tableIngress, ingressOurs, stranger, lie.Bytes())
			w.expectDrop(tableClassify, classifyToProbe, stranger, neighbourly(stranger.tcp(1, kernel.at(22), packet.SYN, 1, 0), kernel).Bytes())
		}},
	})
}

// twins is a topology in which one client may call one member by two VIPs.
func twins(t *testing.T) model.Topology {
	topology, err := model.Parse("twins.yaml", []byte(`
segments:
  - {name: pub, kind: public, prefix: 192.0.2.0/24, gateway: 192.0.2.1, uplink: {name: eth0, number: 1}}
  - {name: lan, kind: private, prefix: 10.0.0.0/24, gateway: 10.0.0.1}
hosts:
  - {name: web, segment: lan, address: 10.0.0.10, mac: 02:00:00:00:00:10, port: {name: web, number: 10}}
  - {name: cli, segment: lan, address: 10.0.0.20, mac: 02:00:00:00:00:20, port: {name: cli, number: 20}}
pools:
  - {name: one, health: {type: none}, members: [{host: web, port: 8080}]}
  - {name: two, health: {type: none}, members: [{host: web, port: 8080}]}
listeners:
  - {name: one, vip: 192.0.2.10, port: 80, segments: [pub, lan], pool: one}
  - {name: two, vip: 192.0.2.10, port: 81, segments: [pub, lan], pool: two}
`))
	require.NoError(t, err)
	return topology
}

func TestOneMemberBehindTwoListeners(t *testing.T) {
	one, two := netip.MustParseAddrPort("192.0.2.10:80"), netip.MustParseAddrPort("192.0.2.10:81")
	inWorlds(t, small(twins(t)), []behaviour{
		{"one client port reaches it by both", func(t *testing.T, w *world) {
			client, member := w.outsider(13), w.host("web")
			first, _ := w.open(client, 40000, one, 1000)
			got := w.send(client, client.tcp(40000, two, packet.SYN, 2000, 0).Bytes())
			require.Len(t, got, 1)
			second := uint16(got[0].frame[34])<<8 | uint16(got[0].frame[35])
			require.NotEqual(t, first.SrcPort, second, "the answers to one port could not be told apart")
			for port, vip := range map[uint16]netip.AddrPort{40000: one, second: two} {
				answer := member.tcp(web, client.at(port), packet.SYN|packet.ACK, 5000, map[netip.AddrPort]uint32{one: 1001, two: 2001}[vip])
				w.expect(member, answer.Bytes(), client.gets(arrives(to(from(answer, vip), client.at(40000)), client).Bytes()))
			}
		}},
		{"a public VIP serves a private segment", func(t *testing.T, w *world) {
			client, member := w.host("cli"), w.host("web")
			syn := client.tcp(40000, one, packet.SYN, 1000, 0)
			w.expect(client, syn.Bytes(), member.gets(neighbourly(to(syn, member.at(web)), member).Bytes()))
			answer := neighbourly(member.tcp(web, client.at(40000), packet.SYN|packet.ACK, 5000, 1001), client)
			w.expect(member, answer.Bytes(), client.gets(from(answer, one).Bytes()))
			by := member.tcp(41000, one, packet.SYN, 1000, 0)
			home := from(to(by, member.at(web)), netip.MustParseAddrPort("10.0.0.1:41000"))
			home.Eth = packet.Ether{Src: member.gateway, Dst: member.mac}
			w.expect(member, by.Bytes(), member.gets(home.Bytes()))
		}},
	})
}
