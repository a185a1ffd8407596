package ovsbackend_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/ovsbackend"
	"hpnn/testbed/dummy"
)

// tracking commits what comes in on each port in a zone of its own, and translates some of it.
const tracking = `
table=0,priority=9,udp,in_port=1,tp_dst=53 actions=ct(commit,zone=1,nat(dst=10.0.0.3:5353),exec(set_field:0x5->ct_mark,set_field:0x123456789abcdef0fedcba9876543210->ct_label))
table=0,priority=8,tcp,in_port=1,tp_dst=80 actions=ct(commit,zone=1,nat(src=10.0.0.200))
table=0,priority=1,ip,in_port=1 actions=ct(commit,zone=1)
table=0,priority=1,ipv6,in_port=1 actions=ct(commit,zone=1)
table=0,priority=1,ip,in_port=2 actions=ct(commit,zone=2)
table=0,priority=1,ipv6,in_port=2 actions=ct(commit,zone=2)
table=0,priority=1,ip,in_port=3 actions=ct(commit)
table=0,priority=1,ipv6,in_port=3 actions=ct(commit)`

// conversations are the first frames of connections that share addresses and ports in many ways.
func conversations() (frames [][]byte) {
	v6 := func(s station) station { return station{s.mac, netip.AddrFrom16([16]byte{0xfd, 15: s.mac[5]})} }
	for _, pair := range [][2]station{{client, vip}, {vip, client}, {client, member}, {v6(client), v6(vip)}} {
		a, b := pair[0], pair[1]
		for _, port := range []uint16{53, 80, 1000} {
			frames = append(frames, udp(a, 1000, b, port), tcp(a, 1000, b, port, packet.SYN), udp(a, port, b, 53))
		}
		kind := uint8(packet.EchoRequest)
		if a.ip.Is6() {
			kind = packet.EchoRequest6
		}
		frames = append(frames, ping(a, b, kind, 7), ping(a, b, kind, 8))
		for _, proto := range []uint8{47, 132} {
			frames = append(frames, packet.Datagram{Eth: ether(a, b), IP: packet.IP{Src: a.ip, Dst: b.ip}, Proto: proto, Payload: make([]byte, 20)}.Bytes())
		}
	}
	return frames
}

// track makes the connections and returns them as they are listed.
func track(t testing.TB, sw *dummy.Switch, b *ovsbackend.Bridge) []datapath.Conn {
	t.Helper()
	require.NoError(t, sw.FlushConnections(t.Context()))
	for _, port := range []string{"p1", "p2", "p3"} {
		require.NoError(t, sw.Receive(t.Context(), port, conversations()...))
	}
	return connections(t, b)
}

func connections(t testing.TB, b *ovsbackend.Bridge) []datapath.Conn {
	t.Helper()
	conns, err := b.Conntrack().Connections(t.Context(), datapath.ConnFilter{})
	require.NoError(t, err)
	return conns
}

// filters are selections that hit something and some that do not, made of what connections have.
func filters(r *rand.Rand, conns []datapath.Conn, n int) (all []datapath.ConnFilter) {
	for range n {
		c, other := conns[r.IntN(len(conns))], conns[r.IntN(len(conns))]
		f := datapath.ConnFilter{Orig: part(r, c.Orig), Reply: part(r, c.Reply)}
		switch r.IntN(6) {
		case 0:
			f.Zone = other.Zone
		case 1:
			f.Orig = part(r, other.Orig)
		case 2, 3:
			f.Zone = c.Zone
		}
		if r.IntN(3) == 0 {
			f.Orig = datapath.TupleFilter{}
		}
		if r.IntN(3) == 0 {
			f.Reply = datapath.TupleFilter{}
		}
		all = append(all, f)
	}
	return all
}

// part is some of what a tuple has.
func part(r *rand.Rand, t datapath.Tuple) (f datapath.TupleFilter) {
	few := r.IntN(3) > 0
	take := func() bool { return !few || r.IntN(2) == 0 }
	if take() {
		f.Proto = t.Proto
	}
	if take() {
		f.Src = t.Src
	}
	if take() {
		f.Dst = t.Dst
	}
	if take() {
		f.SrcPort = t.SrcPort
	}
	if take() {
		f.DstPort = t.DstPort
	}
	return f
}

// Flush takes away what the filter's own Match selects, whatever the switch understands by itself.
func TestFlushIsExact(t *testing.T) {
	sw := startSwitch(t)
	b := open(t, config(sw))
	require.NoError(t, b.Commit(t.Context(), program(t, tracking).Bundle()))
	all := track(t, sw, b)
	require.Greater(t, len(all), 100)
	selected := 0
	for i, f := range filters(rand.New(rand.NewPCG(1, 0)), all, 60) {
		kept := func(c datapath.Conn) bool { return !f.Match(c) || unflushable(f, c) }
		want := slices.DeleteFunc(slices.Clone(all), func(c datapath.Conn) bool { return !kept(c) })
		err := b.Conntrack().Flush(t.Context(), f)
		if slices.ContainsFunc(all, func(c datapath.Conn) bool { return f.Match(c) && kept(c) }) {
			require.ErrorIs(t, err, datapath.ErrNotSupported)
		} else {
			require.NoError(t, err)
		}
		left := connections(t, b)
		require.Empty(t, difference(tuples(want), tuples(left)), "filter %d: %+v", i, f)
		if selected += len(all) - len(left); len(left) < len(all) {
			track(t, sw, b)
		}
	}
	require.Greater(t, selected, 200)
	all = track(t, sw, b)
	require.NoError(t, b.Conntrack().Flush(t.Context(), datapath.ConnFilter{Zone: 1}))
	other := slices.DeleteFunc(slices.Clone(all), func(c datapath.Conn) bool { return c.Zone == 1 })
	require.Empty(t, difference(tuples(other), tuples(connections(t, b))))
	require.NoError(t, b.Conntrack().Flush(t.Context(), datapath.ConnFilter{}))
	require.Empty(t, connections(t, b))
}

// unflushable are connections that the switch must not be asked to forget singly: it would abort.
func unflushable(f datapath.ConnFilter, c datapath.Conn) bool {
	whole := f == datapath.ConnFilter{Zone: f.Zone}
	return c.Orig.Proto == openflow.ProtoICMPv6 && !whole
}

// difference lists the lines that are in one of two lists only.
func difference(want, got []string) (different []string) {
	for _, w := range want {
		if !slices.Contains(got, w) {
			different = append(different, "missing: "+w)
		}
	}
	for _, g := range got {
		if !slices.Contains(want, g) {
			different = append(different, "surplus: "+g)
		}
	}
	return different
}

func tuples(conns []datapath.Conn) (lines []string) {
	for _, c := range conns {
		lines = append(lines, fmt.Sprint(c.Zone, c.Orig, c.Reply))
	}
	return lines
}

// A list with a filter is the part of the whole list that the filter matches.
func TestConnectionsAreFilteredAndOrdered(t *testing.T) {
	sw := startSwitch(t)
	b := open(t, config(sw))
	require.NoError(t, b.Commit(t.Context(), program(t, tracking).Bundle()))
	all := track(t, sw, b)
	for _, f := range filters(rand.New(rand.NewPCG(2, 0)), all, 50) {
		want := slices.DeleteFunc(slices.Clone(all), func(c datapath.Conn) bool { return !f.Match(c) })
		got, err := b.Conntrack().Connections(t.Context(), f)
		require.NoError(t, err)
		require.Equal(t, tuples(want), tuples(got))
	}
	require.True(t, slices.IsSortedFunc(all, func(a, b datapath.Conn) int { return int(a.Zone) - int(b.Zone) }))
	require.Equal(t, datapath.Conn{
		Zone: 1, Mark: 5, Label: openflow.Value{Hi: 0x123456789abcdef0, Lo: 0xfedcba9876543210}, Timeout: time.Minute,
		Orig:  datapath.Tuple{Proto: 17, Src: client.ip, Dst: vip.ip, SrcPort: 1000, DstPort: 53},
		Reply: datapath.Tuple{Proto: 17, Src: member.ip, Dst: client.ip, SrcPort: 5353, DstPort: 1000},
	}, all[slices.IndexFunc(all, func(c datapath.Conn) bool { return c.Mark == 5 && c.Orig.Dst == vip.ip && c.Orig.SrcPort == 1000 })])
}

func TestConnectionsAreRead(t *testing.T) {
	conns, err := ovsbackend.ParseConns(`tcp,orig=(src=10.0.0.1,dst=10.0.0.2,sport=40000,dport=80,packets=3,bytes=4),reply=(src=10.0.0.2,dst=10.0.0.1,sport=80,dport=40000),id=7,zone=4,status=SEEN_REPLY|CONFIRMED,timeout=86399,mark=5,labels=0x7,protoinfo=(state=ESTABLISHED)
icmpv6,orig=(src=fd00::1,dst=fd00::2,id=5,type=128,code=0),reply=(src=fd00::2,dst=fd00::1,id=5,type=129,code=0)

47,orig=(src=10.0.0.1,dst=10.0.0.2,sport=0,dport=0),reply=(src=10.0.0.2,dst=10.0.0.1,sport=0,dport=0),parent=(src=1.1.1.1,dst=2.2.2.2,sport=1,dport=2)
`)
	require.NoError(t, err)
	a, z := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	require.Equal(t, []datapath.Conn{
		{Zone: 4, State: "ESTABLISHED", Timeout: 86399 * time.Second, Mark: 5, Label: openflow.U64(7),
			Orig:  datapath.Tuple{Proto: 6, Src: a, Dst: z, SrcPort: 40000, DstPort: 80},
			Reply: datapath.Tuple{Proto: 6, Src: z, Dst: a, SrcPort: 80, DstPort: 40000}},
		{Orig: datapath.Tuple{Proto: 58, Src: netip.MustParseAddr("fd00::1"), Dst: netip.MustParseAddr("fd00::2"), ID: 5, Type: 128},
			Reply: datapath.Tuple{Proto: 58, Src: netip.MustParseAddr("fd00::2"), Dst: netip.MustParseAddr("fd00::1"), ID: 5, Type: 129}},
		{Orig: datapath.Tuple{Proto: 47, Src: a, Dst: z}, Reply: datapath.Tuple{Proto: 47, Src: z, Dst: a}},
	}, conns)
}

func TestConnectionsThatCannotBeReadAreNamed(t *testing.T) {
	for line, words := range map[string]string{
		"nonsense":                                 `unknown protocol "nonsense"`,
		"300,orig=()":                              "unknown protocol",
		"tcp,colour=blue":                          "colour=blue: unknown field",
		"tcp,orig=(src=10.0.0.1,x=1)":              "x=1: unknown field",
		"tcp,orig=(src=10.0.0)":                    "src=10.0.0",
		"tcp,orig=(sport=70000)":                   "a number that fits",
		"tcp,zone=70000":                           "zone=70000",
		"tcp,labels=7":                             "label",
		"tcp,labels=0x1" + fmt.Sprintf("%032x", 0): "label",
		"tcp,orig=(src=10.0.0.1":                   "parentheses",
		"tcp,orig=src=10.0.0.1)":                   "parentheses",
	} {
		_, err := ovsbackend.ParseConns("udp,zone=1\n" + line)
		require.ErrorContains(t, err, "line 2")
		require.ErrorContains(t, err, words)
	}
}
