package simhost_test

import (
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
	"hpnn/testbed/simhost"
)

func TestAddRefusesWhatCannotWork(t *testing.T) {
	via := netip.MustParseAddr("10.9.0.1")
	for _, c := range []struct {
		want   string
		change func(*simhost.HostConfig)
	}{
		{"it has no name", func(c *simhost.HostConfig) { c.Name = "" }},
		{"there is one of this name", func(c *simhost.HostConfig) { c.Name = "taken" }},
		{"give an IPv4 address", func(c *simhost.HostConfig) { c.Address = netip.MustParsePrefix("fd00::1/64") }},
		{"give an IPv4 address", func(c *simhost.HostConfig) { c.Address = netip.Prefix{} }},
		{"give a unicast address", func(c *simhost.HostConfig) { c.MAC = packet.Broadcast }},
		{"give a unicast address", func(c *simhost.HostConfig) { c.MAC = packet.MAC{} }},
		{"gateway 10.9.0.1 is not in 10.0.0.0/24", func(c *simhost.HostConfig) { c.Gateway = via }},
		{"route 10.8.0.0/16 via 10.9.0.1", func(c *simhost.HostConfig) {
			c.Routes = []simhost.Route{{Prefix: netip.MustParsePrefix("10.8.0.0/16"), Via: via}}
		}},
		{"neighbour fd00::1", func(c *simhost.HostConfig) {
			c.Neighbours = []simhost.Neighbour{{Address: netip.MustParseAddr("fd00::1")}}
		}},
		{"latency -1ns", func(c *simhost.HostConfig) { c.Latency = -1 }},
	} {
		b := newBed(t, simhost.Config{})
		b.host("taken", 1)
		config := hostConfig("new", 2)
		c.change(&config)
		_, err := b.Add(config)
		require.ErrorContains(t, err, c.want)
	}
}

func TestWorldListsItsHosts(t *testing.T) {
	b := newBed(t, simhost.Config{})
	z, a := b.host("z", 7), b.host("a", 3)
	require.Equal(t, []*simhost.Host{z, a}, b.Hosts())
	require.Equal(t, []uint32{3, 7}, b.Ports())
	require.Same(t, a, b.Host("a"))
	require.Nil(t, b.Host("nobody"))
	require.Same(t, b.World, a.World())
}

// TestGetResults: each way a request can end, and what is known then.
func TestGetResults(t *testing.T) {
	b := newBed(t, simhost.Config{})
	b.known = []byte{2, 3}
	server, client := b.host("server", 2), b.host("client", 3)
	web, err := server.ServeWeb(80)
	require.NoError(t, err)
	web.Handle("/silent", func(*simhost.Exchange) {})
	web.Handle("/echo", func(x *simhost.Exchange) { x.Reply(201, x.Request.Method+" "+string(x.Body)) })
	speaks := func(port uint16, text string, end func(*simhost.Conn)) {
		require.NoError(t, server.Serve(port, func(c *simhost.Conn) {
			c.Handle(func(c *simhost.Conn) {
				if data, _ := c.Take(); len(data) > 0 {
					c.Write([]byte(text))
					if end != nil {
						end(c)
					}
				}
			})
		}))
	}
	speaks(81, "", (*simhost.Conn).Close)
	speaks(82, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", (*simhost.Conn).Close)
	speaks(83, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", (*simhost.Conn).Abort)
	speaks(84, "HTTP/1.1 200 OK\r\n\r\nto the end", (*simhost.Conn).Close)
	speaks(85, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", nil)
	speaks(86, "SSH-2.0-OpenSSH\r\n\r\n", nil)

	for _, c := range []struct {
		url     string
		options simhost.GetOptions
		status  int
		body    string
		err     error  // in the chain
		text    string // of the error
	}{
		{url: "http://10.0.0.2/healthz", status: 200, body: "ok\n"},
		{url: "http://10.0.0.2:80/echo", options: simhost.GetOptions{Method: "PUT", Body: []byte("this")}, status: 201, body: "PUT this"},
		{url: "http://10.0.0.2/echo", options: simhost.GetOptions{Method: "HEAD"}, status: 201},
		{url: "http://10.0.0.2/nothing", status: 404, body: "404 page not found\n"},
		{url: "http://10.0.0.2/slow?seconds=x", status: 400, body: "seconds: give a number from 1 to 86400\n"},
		{url: "http://10.0.0.2/silent", options: simhost.GetOptions{Timeout: time.Second}, err: simhost.ErrTimeout},
		{url: "http://10.0.0.2/silent", err: simhost.ErrTimeout, text: "GET http://10.0.0.2/silent: timed out"},
		{url: "http://10.0.0.2:81/", err: io.EOF},
		{url: "http://10.0.0.2:82/", status: 200, body: "half", err: io.ErrUnexpectedEOF},
		{url: "http://10.0.0.2:83/", status: 200, body: "half", err: simhost.ErrReset},
		{url: "http://10.0.0.2:84/", status: 200, body: "to the end"},
		{url: "http://10.0.0.2:85/", status: 204},
		{url: "http://10.0.0.2:86/", text: "parse response"},
		{url: "http://10.0.0.2:99/", err: simhost.ErrRefused},
		{url: "http://10.0.1.2/", err: simhost.ErrNoRoute},
		{url: "http://example.com/", text: "give http://, an IPv4 address"},
		{url: "https://10.0.0.2/", text: "give http://, an IPv4 address"},
		{url: "http://10.0.0.2:99999/", text: "give http://, an IPv4 address"},
		{url: ":", text: "missing protocol scheme"},
		{url: "http://10.0.0.2/healthz", options: simhost.GetOptions{Dial: simhost.DialOptions{LocalPort: 7}}, status: 200, body: "ok\n"},
	} {
		t.Run(c.url, func(t *testing.T) {
			calls := 0
			r := client.Get(c.url, c.options, func(simhost.Result) { calls++ })
			require.True(t, b.Until(r.Done, time.Minute), b.text())
			got := r.Result()
			require.Equal(t, 1, calls)
			require.Equal(t, c.status, got.Status)
			require.Equal(t, c.body, string(got.Body))
			require.Equal(t, c.err == nil && c.text == "", got.Err == nil, got.Err)
			if c.err != nil {
				require.ErrorIs(t, got.Err, c.err)
			}
			if c.text != "" {
				require.ErrorContains(t, got.Err, c.text)
			}
		})
	}
	require.Equal(t, 2, web.Requests("/silent"))
	b.Advance(time.Hour)
	require.Empty(t, client.Conns())
}

// TestDeadHostsAskNothing: the processes of a killed host are no more, so nothing of theirs
// begins, and who asks is told later, not within the call.
func TestDeadHostsAskNothing(t *testing.T) {
	b := newBed(t, simhost.Config{})
	h := b.host("h", 2)
	h.Kill()
	var got []error
	h.Ping(netip.MustParseAddr("10.0.0.9"), simhost.PingOptions{}, func(r simhost.PingResult) { got = append(got, r.Err) })
	h.Get("http://10.0.0.9/", simhost.GetOptions{}, func(r simhost.Result) { got = append(got, r.Err) })
	_, err := h.Dial(netip.MustParseAddrPort("10.0.0.9:80"), simhost.DialOptions{})
	require.ErrorIs(t, err, simhost.ErrKilled)
	_, err = h.Listen(80, nil)
	require.ErrorIs(t, err, simhost.ErrKilled)
	require.Empty(t, got)
	b.Advance(0)
	require.Len(t, got, 2)
	require.ErrorIs(t, got[0], simhost.ErrKilled)
	require.ErrorIs(t, got[1], simhost.ErrKilled)
	require.Empty(t, b.log)
}

func TestGetKnowsTimesAndPlaces(t *testing.T) {
	b := newBed(t, simhost.Config{Latency: time.Millisecond})
	b.known = []byte{2, 3}
	server, client := b.host("server", 2), b.host("client", 3)
	_, err := server.ServeWeb(80)
	require.NoError(t, err)
	r := client.Get("http://10.0.0.2/slow?seconds=2", simhost.GetOptions{Dial: simhost.DialOptions{LocalPort: 1234}}, nil)
	b.Advance(1500 * time.Millisecond)
	require.Contains(t, r.String(), "GET http://10.0.0.2/slow?seconds=2: under way for 1.5s")
	require.Equal(t, "tick 1/2 backend=server\ntick 2/2 backend=server\n", string(r.Result().Body), "what has come so far")
	require.Equal(t, simhost.Established, r.Conn().State())
	b.Advance(time.Second)
	got := r.Result()
	require.Equal(t, 4*time.Millisecond, got.Connected)
	require.Equal(t, 8*time.Millisecond, got.FirstByte)
	require.Equal(t, 2008*time.Millisecond, got.Total)
	require.Equal(t, "server", got.Backend)
	require.Equal(t, "10.0.0.3:1234", got.Local.String())

	r = client.Get("http://10.0.0.2/slow", simhost.GetOptions{}, func(simhost.Result) { t.Error("cancelled") })
	b.Advance(time.Second)
	r.Cancel()
	b.Advance(time.Minute)
	require.True(t, r.Done())
}

// TestKeptConnectionIsGone: a connection that the server has closed meanwhile is not used.
func TestKeptConnectionIsGone(t *testing.T) {
	b := newBed(t, simhost.Config{})
	server, client := b.host("server", 2), b.host("client", 3)
	_, err := server.ServeWeb(80)
	require.NoError(t, err)
	get := func() simhost.Result {
		r := client.Get("http://10.0.0.2/", simhost.GetOptions{KeepAlive: simhost.Reusable}, nil)
		require.True(t, b.Until(r.Done, time.Minute))
		require.NoError(t, r.Result().Err)
		return r.Result()
	}
	require.False(t, get().Reused)
	require.True(t, get().Reused)
	server.Kill()
	b.Advance(time.Second)
	require.NoError(t, server.Revive())
	require.False(t, get().Reused)
}

// TestPipelinedRequests are answered one after the other, a slow one before the next.
func TestPipelinedRequests(t *testing.T) {
	b := newBed(t, simhost.Config{})
	server, client := b.host("server", 2), b.host("client", 3)
	_, err := server.ServeWeb(80)
	require.NoError(t, err)
	c, err := client.Dial(addrPort(server, 80), simhost.DialOptions{})
	require.NoError(t, err)
	got := &sink{}
	c.Handle(got.handle)
	_, err = c.Write([]byte("GET /slow?seconds=2 HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n"))
	require.NoError(t, err)
	b.Advance(time.Second)
	require.NotContains(t, string(got.got), "ok")
	b.Advance(2 * time.Second)
	text := string(got.got)
	require.Equal(t, 2, strings.Count(text, "200 OK"))
	require.Equal(t, 1, strings.Count(text, "400 Bad Request"))
	require.Less(t, strings.Index(text, "tick 2/2"), strings.Index(text, "\r\n\r\nok"))
	require.Equal(t, io.EOF, got.end)
}

// TestOldClients get answers whose end is that of the connection.
func TestOldClients(t *testing.T) {
	b := newBed(t, simhost.Config{})
	server, client := b.host("server", 2), b.host("client", 3)
	_, err := server.ServeWeb(80)
	require.NoError(t, err)
	c, err := client.Dial(addrPort(server, 80), simhost.DialOptions{})
	require.NoError(t, err)
	got := &sink{}
	c.Handle(got.handle)
	_, err = c.Write([]byte("GET /slow?seconds=2 HTTP/1.0\r\n\r\n"))
	require.NoError(t, err)
	b.Advance(3 * time.Second)
	require.Equal(t, io.EOF, got.end)
	_, body, _ := strings.Cut(string(got.got), "\r\n\r\n")
	require.Equal(t, "tick 1/2 backend=server\ntick 2/2 backend=server\n", body)
	require.NotContains(t, string(got.got), "chunked")
}

func TestFaultsAreCheckedAndCounted(t *testing.T) {
	b := newBed(t, simhost.Config{Seed: 3})
	server, client := b.host("server", 2), b.host("client", 3)
	require.ErrorContains(t, server.SetFaults(simhost.Faults{Loss: 1.5}), "give 0 to 1")
	require.ErrorContains(t, server.SetFaults(simhost.Faults{HoldBack: -1}), "hold back -1ns")
	ping := func(n int) (answered int) {
		for range n {
			client.Ping(server.Address(), simhost.PingOptions{}, func(r simhost.PingResult) {
				if r.Err == nil {
					answered++
				}
			})
			b.Advance(10 * time.Millisecond)
		}
		b.Advance(2 * time.Second)
		return answered
	}
	require.Equal(t, 1, ping(1))
	require.NoError(t, server.SetFaults(simhost.Faults{Loss: 0.5}))
	got := ping(400)
	require.InDelta(t, 100, got, 30, "half of the requests, half of the answers")
	require.InDelta(t, 300, server.Counters().Lost, 40)
	require.NoError(t, server.SetFaults(simhost.Faults{Duplicate: 1}))
	before := server.Counters().In.ICMP
	require.Equal(t, 10, ping(10))
	require.EqualValues(t, 20, server.Counters().In.ICMP-before)
}

// TestHoldBackLetsOthersOvertake: reordering changes the order and loses nothing.
func TestHoldBackLetsOthersOvertake(t *testing.T) {
	b := newBed(t, simhost.Config{Seed: 3})
	b.known = []byte{2, 3}
	server, client := b.host("server", 2), b.host("client", 3)
	var order []byte
	_, err := server.OpenUDP(9, simhost.SocketHandler{Datagram: func(_ *simhost.Socket, _ netip.AddrPort, data []byte) {
		order = append(order, data[0])
	}})
	require.NoError(t, err)
	require.NoError(t, server.SetFaults(simhost.Faults{Reorder: 0.3}))
	s, err := client.OpenUDP(0, simhost.SocketHandler{})
	require.NoError(t, err)
	require.EqualValues(t, 32768, s.Local().Port())
	for i := range byte(100) {
		require.NoError(t, s.Send(addrPort(server, 9), []byte{i}))
		b.Advance(50 * time.Microsecond)
	}
	b.Advance(time.Second)
	require.Len(t, order, 100)
	require.NotEqual(t, byte(99), order[99])
	s.Close()
	require.ErrorContains(t, s.Send(addrPort(server, 9), make([]byte, 1473)), "at most 1472")
}

// TestPortsShareASegment: hosts on one port hear each other and the switch; the switch hears
// them all and decides what goes where.
func TestPortsShareASegment(t *testing.T) {
	var heard []string
	b := newBed(t, simhost.Config{Switch: simhost.SwitchFunc(func(now time.Duration, port uint32, frame []byte, emit func(uint32, []byte)) {
		heard = append(heard, fmt.Sprintf("%s port %d: %s", now, port, packet.Summary(frame)))
		if port == 1 {
			emit(2, frame)
			emit(9, frame) // nobody is there
		}
	})})
	for name, port := range map[string]uint32{"a": 1, "b": 1, "c": 2} {
		c := hostConfig(name, name[0])
		c.Port = port
		_, err := b.Add(c)
		require.NoError(t, err)
	}
	b.Host("a").Announce()
	b.Advance(time.Second)
	require.Equal(t, []string{"100µs port 1: ARP who-has 10.0.0.97 tell 10.0.0.97 (02:00:00:00:00:61)"}, heard)
	require.EqualValues(t, 1, b.Host("b").Counters().In.ARP)
	require.EqualValues(t, 1, b.Host("c").Counters().In.ARP)
	require.Zero(t, b.Host("a").Counters().In.Total())
	b.Host("c").Announce()
	b.Advance(time.Second)
	require.Len(t, heard, 2)
	require.Zero(t, b.Host("a").Counters().In.Total())
}

// TestFramesForOthers are not taken, whatever they are.
func TestFramesForOthers(t *testing.T) {
	b := newBed(t, simhost.Config{})
	h := b.host("host", 2)
	to := packet.Ether{Src: packet.MAC{2, 0, 0, 0, 0, 9}, Dst: h.MAC()}
	from := netip.MustParseAddr("10.0.0.9")
	ping := func(eth packet.Ether, ip packet.IP) []byte {
		return packet.ICMP{Eth: eth, IP: ip, Type: packet.EchoRequest}.Bytes()
	}
	broken := ping(to, packet.IP{Src: from, Dst: h.Address()})
	broken[24]++
	for _, c := range []struct {
		frame []byte
		want  string
	}{
		{ping(packet.Ether{Dst: packet.MAC{2, 7, 7, 7, 7, 7}}, packet.IP{Src: from, Dst: h.Address()}), "in icmp 1, out 0, foreign 1"},
		{ping(to, packet.IP{Src: from, Dst: from}), "in icmp 1, out 0, foreign 1"},
		{ping(to, packet.IP{Src: h.Address(), Dst: h.Address()}), "in icmp 1, out 0, martian 1"},
		{packet.ARPRequest(to.Src, h.Address(), from).Bytes(), "in arp 1, out 0, martian 1"},
		{ping(to, packet.IP{Src: from, Dst: h.Address(), Offset: 8}), "in icmp 1, out 0, malformed 1"},
		{ping(packet.Ether{Dst: h.MAC(), Tags: []packet.Tag{{ID: 5}}}, packet.IP{Src: from, Dst: h.Address()}), "in other 1, out 0, malformed 1"},
		{broken, "in icmp 1, out 0, bad-checksum 1"},
		{[]byte("short"), "in other 1, out 0, malformed 1"},
		{to.Frame(packet.TypeIPv4, []byte("short")), "in other 1, out 0, malformed 1"},
		{to.Frame(packet.TypeARP, []byte("short")), "in arp 1, out 0, malformed 1"},
		{to.Frame(packet.TypeIPv6, make([]byte, 40)), "in other 1, out 0"},
		{packet.Datagram{Eth: to, IP: packet.IP{Src: from, Dst: h.Address()}, Proto: 132}.Bytes(), "in other 1, out arp 1"},
	} {
		h := newBed(t, simhost.Config{}).host("host", 2)
		h.Receive(c.frame)
		require.Equal(t, c.want, h.Counters().String(), packet.Summary(c.frame))
	}
}

// TestLinkLatency: each link has its own.
func TestLinkLatency(t *testing.T) {
	b := newBed(t, simhost.Config{})
	b.known = []byte{2, 3}
	far := hostConfig("far", 2)
	far.Latency = 20 * time.Millisecond
	_, err := b.Add(far)
	require.NoError(t, err)
	client := b.host("client", 3)
	p := client.Ping(b.Host("far").Address(), simhost.PingOptions{}, nil)
	b.Advance(time.Second)
	r, _ := p.Result()
	require.NoError(t, r.Err)
	there := 20*time.Millisecond + 100*time.Microsecond
	require.Equal(t, 4*there, r.RTT, "the far host asks for the client first")
}
