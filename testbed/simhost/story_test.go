package simhost_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
	"hpnn/testbed/simhost"
)

var update = flag.Bool("update", false, "write the answers in the stories anew, as -rewrite does")

// TestStories runs testdata/*.txt: commands, and what came of them. The commands:
//
//	world [seed=N] [latency=D]
//	host NAME ADDRESS/BITS [port=N] [gateway=A] [route=PREFIX/VIA] [neighbour=A] [time-wait=D] [queue=N] [backlog=N]
//	web HOST PORT                       an HTTP server
//	udp-echo HOST PORT                  a UDP server
//	get HOST URL [times=N] [timeout=D] [from=PORT] [reuse] [keep-alive] [ttl=N]
//	ping HOST ADDRESS [ttl=N]
//	udp HOST FROM-PORT TO TEXT
//	connect HOST TO [from=PORT] [reuse] [deaf] names the connection HOST; a deaf one reads nothing
//	write|close-write|close|abort HOST [TEXT]  on the connection named so
//	segment TO-HOST FROM TO FLAGS seq=N [ack=N] [win=N] [data=TEXT] [mss=N]   as made by nobody here
//	pause HOST processes|machine, resume|kill|revive|cut|mend|announce HOST, slow HOST D, health HOST up|down
//	unreachable HOST FROM CODE          an ICMP error about the frame that HOST sent last
//	advance D [quiet]                   what was sent or lost until then, and what ended
//	conns|arp|counters|show HOST
//
// Sequence numbers are shown and given relative to the first of the connection. In what is
// sent underscores are blanks and bars end lines.
func TestStories(t *testing.T) {
	if *update {
		require.NoError(t, flag.Set("rewrite", "true"))
	}
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := newStory(t, simhost.Config{})
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.d = d
			return s.run()
		})
		require.Empty(t, s.bad, "checksums")
	})
}

// story is a world and what a story needs to remember.
type story struct {
	*simhost.World
	t     *testing.T
	d     *datadriven.TestData
	lines []string // since the last advance
	bad   []string
	isn   map[string]uint32
	webs  map[string]*simhost.Web
	conns map[string]*simhost.Conn
	last  map[string][]byte // frame sent, by host
}

func newStory(t *testing.T, c simhost.Config) *story {
	s := &story{t: t, isn: map[string]uint32{}, webs: map[string]*simhost.Web{}, conns: map[string]*simhost.Conn{}, last: map[string][]byte{}}
	c.Log = s.note
	s.World = simhost.New(c)
	return s
}

func (s *story) note(e simhost.Entry) {
	if err := packet.Verify(e.Frame); err != nil && e.Fate == simhost.Sent {
		s.bad = append(s.bad, fmt.Sprintf("%s: %v", e, err))
	}
	if e.Fate == simhost.Sent {
		s.last[e.Host.Name()] = e.Frame
	}
	if e.Fate == simhost.Sent || e.Fate == simhost.Lost {
		e.Frame = s.relative(e.Frame)
		s.lines = append(s.lines, e.String())
	}
}

// say adds a line of its own to what the next advance prints.
func (s *story) say(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf("%.6f ", s.Now().Seconds())+fmt.Sprintf(format, args...))
}

// relative gives a copy of a TCP frame with sequence numbers counted from the SYNs.
func (s *story) relative(frame []byte) []byte {
	if len(frame) < 54 || packet.Word(frame, 12) != packet.TypeIPv4 || frame[23] != packet.ProtoTCP {
		return frame
	}
	frame = append([]byte(nil), frame...)
	there := string(frame[26:38])
	back := string(frame[30:34]) + string(frame[26:30]) + string(frame[36:38]) + string(frame[34:36])
	flags := packet.Flags(packet.Word(frame, 46))
	seq, ack := binary.BigEndian.Uint32(frame[38:]), binary.BigEndian.Uint32(frame[42:])
	if flags&packet.SYN != 0 {
		s.isn[there] = seq
	}
	binary.BigEndian.PutUint32(frame[38:], seq-s.isn[there])
	binary.BigEndian.PutUint32(frame[42:], ack-s.isn[back])
	return frame
}

// word is the nth argument that is no option.
func (s *story) word(n int) string {
	for _, a := range s.d.CmdArgs {
		if url := strings.Contains(a.Key, "://"); url || len(a.Vals) == 0 {
			if n == 0 {
				return strings.Join(append([]string{a.Key}, a.Vals...), "=")
			}
			n--
		}
	}
	s.d.Fatalf(s.t, "too few arguments")
	return ""
}

func (s *story) has(key string) bool {
	for _, a := range s.d.CmdArgs {
		if a.Key == key {
			return true
		}
	}
	return false
}

func (s *story) value(key string) string {
	for _, a := range s.d.CmdArgs {
		if a.Key == key && len(a.Vals) > 0 {
			return strings.Join(a.Vals, ",")
		}
	}
	return ""
}

func (s *story) number(key string) int {
	n := 0
	if s.value(key) != "" {
		_, err := fmt.Sscan(s.value(key), &n)
		require.NoError(s.t, err, s.d.Pos)
	}
	return n
}

func (s *story) duration(text string) time.Duration {
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	require.NoError(s.t, err, s.d.Pos)
	return d
}

func (s *story) host() *simhost.Host {
	h := s.Host(s.word(0))
	require.NotNil(s.t, h, s.d.Pos)
	return h
}

func (s *story) run() string {
	commands := map[string]func() string{
		"world": s.world, "host": s.add, "web": s.web, "udp-echo": s.echo,
		"get": s.get, "ping": s.ping, "udp": s.udp, "connect": s.connect,
		"write": s.onConn, "close-write": s.onConn, "close": s.onConn, "abort": s.onConn,
		"segment": s.segment, "unreachable": s.unreachable, "advance": s.advance,
		"pause": s.life, "resume": s.life, "kill": s.life, "revive": s.life,
		"cut": s.life, "mend": s.life, "announce": s.life, "slow": s.life, "health": s.life,
		"conns": s.show, "arp": s.show, "counters": s.show, "show": s.show,
	}
	f := commands[s.d.Cmd]
	if f == nil {
		s.d.Fatalf(s.t, "unknown command %s", s.d.Cmd)
	}
	return f()
}

func (s *story) world() string {
	s.World = simhost.New(simhost.Config{Seed: uint64(s.number("seed")), Latency: s.duration(s.value("latency")), Log: s.note})
	clear(s.isn)
	clear(s.webs)
	clear(s.conns)
	return ""
}

func macOf(a netip.Addr) packet.MAC {
	b := a.As4()
	return packet.MAC{2, 0x42, b[0], b[1], b[2], b[3]}
}

func (s *story) add() string {
	p := netip.MustParsePrefix(s.word(1))
	c := simhost.HostConfig{
		Name: s.word(0), Port: uint32(s.number("port")), Address: p, MAC: macOf(p.Addr()), Queue: s.number("queue"),
		TCP: simhost.TCP{TimeWait: s.duration(s.value("time-wait")), Backlog: s.number("backlog")},
	}
	if c.Port == 0 {
		c.Port = uint32(p.Addr().As4()[3])
	}
	if g := s.value("gateway"); g != "" {
		c.Gateway = netip.MustParseAddr(g)
	}
	if r := s.value("route"); r != "" {
		i := strings.LastIndex(r, "/")
		c.Routes = append(c.Routes, simhost.Route{Prefix: netip.MustParsePrefix(r[:i]), Via: netip.MustParseAddr(r[i+1:])})
	}
	if n := s.value("neighbour"); n != "" {
		a := netip.MustParseAddr(n)
		c.Neighbours = append(c.Neighbours, simhost.Neighbour{Address: a, MAC: macOf(a)})
	}
	_, err := s.Add(c)
	return result(err)
}

func result(err error) string {
	if err != nil {
		return err.Error() + "\n"
	}
	return ""
}

func (s *story) web() string {
	w, err := s.host().ServeWeb(s.port(1))
	s.webs[s.host().Name()] = w
	return result(err)
}

func (s *story) port(n int) uint16 {
	var p uint16
	_, err := fmt.Sscan(s.word(n), &p)
	require.NoError(s.t, err, s.d.Pos)
	return p
}

func (s *story) echo() string { return result(s.host().EchoUDP(s.port(1))) }

func (s *story) dialOptions() simhost.DialOptions {
	o := simhost.DialOptions{LocalPort: uint16(s.number("from")), TTL: uint8(s.number("ttl"))}
	if s.has("reuse") {
		o.Reuse = simhost.ReuseLocal
	}
	return o
}

func (s *story) get() string {
	o := simhost.GetOptions{Timeout: s.duration(s.value("timeout")), Dial: s.dialOptions()}
	if s.has("keep-alive") {
		o.KeepAlive = simhost.Reusable
	}
	h, url := s.host(), s.word(1)
	for range max(s.number("times"), 1) {
		h.Get(url, o, func(r simhost.Result) {
			reused := ""
			if r.Reused {
				reused = " (connection reused)"
			}
			s.say("%s got %s in %s%s", h.Name(), strings.TrimSpace(r.String()), r.Total, reused)
		})
	}
	return ""
}

func (s *story) ping() string {
	h, to := s.host(), netip.MustParseAddr(s.word(1))
	h.Ping(to, simhost.PingOptions{TTL: uint8(s.number("ttl"))}, func(r simhost.PingResult) {
		s.say("%s pinged %s: %s", h.Name(), to, r)
	})
	return ""
}

func (s *story) udp() string {
	h := s.host()
	socket, err := h.OpenUDP(s.port(1), simhost.SocketHandler{
		Datagram: func(_ *simhost.Socket, from netip.AddrPort, data []byte) {
			s.say("%s received %q from %s", h.Name(), data, from)
		},
		Error: func(_ *simhost.Socket, to netip.AddrPort, err error) {
			s.say("%s failed to reach %s: %v", h.Name(), to, err)
		},
	})
	require.NoError(s.t, err, s.d.Pos)
	return result(socket.Send(netip.MustParseAddrPort(s.word(2)), []byte(s.word(3))))
}

func (s *story) connect() string {
	h := s.host()
	c, err := h.Dial(netip.MustParseAddrPort(s.word(1)), s.dialOptions())
	if err != nil {
		return result(err)
	}
	s.conns[h.Name()] = c
	if s.has("deaf") {
		return ""
	}
	c.Handle(func(c *simhost.Conn) {
		data, err := c.Take()
		s.say("%s: %s, %d bytes, %v", h.Name(), c.State(), len(data), err)
	})
	return ""
}

func (s *story) onConn() string {
	c := s.conns[s.word(0)]
	require.NotNil(s.t, c, s.d.Pos)
	switch s.d.Cmd {
	case "write":
		_, err := c.Write([]byte(text(s.word(1))))
		return result(err)
	case "close-write":
		c.CloseWrite()
	case "close":
		c.Close()
	case "abort":
		c.Abort()
	}
	return ""
}

// text is what a word stands for: underscores are blanks, bars end lines.
func text(word string) string { return strings.NewReplacer("_", " ", "|", "\r\n").Replace(word) }

var flagLetters = map[rune]packet.Flags{'S': packet.SYN, 'F': packet.FIN, 'R': packet.RST, 'P': packet.PSH, '.': packet.ACK}

func (s *story) segment() string {
	from, to := netip.MustParseAddrPort(s.word(1)), netip.MustParseAddrPort(s.word(2))
	t := packet.TCP{
		Eth: packet.Ether{Src: macOf(from.Addr()), Dst: s.host().MAC()},
		IP:  packet.IP{Src: from.Addr(), Dst: to.Addr()}, SrcPort: from.Port(), DstPort: to.Port(),
		Window: 64240, Payload: []byte(text(s.value("data"))),
	}
	for _, f := range s.word(3) {
		t.Flags |= flagLetters[f]
	}
	there, back := key(from, to), key(to, from)
	t.Seq = s.isn[there] + uint32(s.number("seq"))
	if s.has("ack") {
		t.Ack = s.isn[back] + uint32(s.number("ack"))
	}
	if s.has("win") {
		t.Window = uint16(s.number("win"))
	}
	if s.has("mss") {
		t.Options = packet.MSS(uint16(s.number("mss")))
	}
	if _, known := s.isn[there]; t.Flags&packet.SYN != 0 && !known {
		s.isn[there] = t.Seq
	}
	s.Output(s.host().Port(), t.Bytes())
	return ""
}

func (s *story) unreachable() string {
	h, from := s.host(), netip.MustParseAddr(s.word(1))
	last := s.last[h.Name()]
	s.Output(h.Port(), packet.ICMP{
		Eth: packet.Ether{Src: macOf(from), Dst: h.MAC()}, IP: packet.IP{Src: from, Dst: h.Address()},
		Type: packet.Unreachable, Code: uint8(s.port(2)), Payload: last[14:42],
	}.Bytes())
	return ""
}

// key is that of isn for one direction.
func key(from, to netip.AddrPort) string {
	a, b := from.Addr().As4(), to.Addr().As4()
	ports := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, from.Port()), to.Port())
	return string(a[:]) + string(b[:]) + string(ports)
}

func (s *story) advance() string {
	s.Advance(s.duration(s.word(0)))
	lines := s.lines
	s.lines = nil
	if s.has("quiet") {
		lines = withoutFrames(lines)
	}
	if len(lines) == 0 {
		return "nothing\n"
	}
	return strings.Join(lines, "\n") + "\n"
}

func withoutFrames(lines []string) (kept []string) {
	for _, l := range lines {
		if f := strings.Fields(l); f[2] != ">" && f[2] != "x" {
			kept = append(kept, l)
		}
	}
	return kept
}

func (s *story) life() string {
	h := s.host()
	switch s.d.Cmd {
	case "pause":
		h.Pause(map[string]simhost.Scope{"processes": simhost.Processes, "machine": simhost.Machine}[s.word(1)])
	case "resume":
		h.Resume()
	case "kill":
		h.Kill()
	case "revive":
		return result(h.Revive())
	case "cut":
		h.Cut()
	case "mend":
		h.Mend()
	case "announce":
		h.Announce()
	case "slow":
		h.Slow(s.duration(s.word(1)))
	case "health":
		s.webs[h.Name()].SetHealth(map[string]simhost.Health{"up": simhost.Healthy, "down": simhost.Unhealthy}[s.word(1)])
	}
	return ""
}

func (s *story) show() string {
	h := s.host()
	var b strings.Builder
	switch s.d.Cmd {
	case "conns":
		for _, c := range h.Conns() {
			fmt.Fprintln(&b, c)
		}
	case "arp":
		for _, n := range h.NeighbourCache() {
			fmt.Fprintln(&b, n)
		}
	case "counters":
		fmt.Fprintln(&b, h.Counters())
	case "show":
		fmt.Fprintln(&b, h)
		if w := s.webs[h.Name()]; w != nil {
			fmt.Fprintln(&b, w)
		}
	}
	if b.Len() == 0 {
		return "none\n"
	}
	return b.String()
}
