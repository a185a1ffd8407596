package conntrack_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/simbackend/conntrack"
)

// flushStory has connections of two clients to two members of a VIP, one plain one in
// another zone and a ping.
func flushStory(t *testing.T) story {
	s := newStory(t, through(dnat(1, "10.0.1.1", 8080)), through(dnat(1, "10.0.1.2", 8080)), through(commit(2)))
	for i, c := range []addr{client, ip("10.0.0.2")} {
		s.expect("new|trk|dnat", 0, udp{flow: flow{c, vip, 1000, 80}})
		s.expect("new|trk|dnat", 1, udp{flow: flow{c, vip, uint16(2000 + i), 80}})
	}
	s.expect("new|trk", 2, udpUp(1))
	s.expect("new|trk", 2, echo(client, server, 8, 7, 1))
	s.settle()
	return s
}

// flush does it on both sides; args are those of dpctl/flush-conntrack.
func (s story) flush(want int, f conntrack.Filter, args ...string) {
	s.t.Helper()
	before := s.table.Len()
	require.Equal(s.t, want, s.table.Flush(s.now, f))
	require.Equal(s.t, before-want, s.table.Len())
	if s.real == nil {
		return
	}
	_, err := s.real.Appctl(context.Background(), "dpctl/flush-conntrack", args...)
	if err != nil {
		require.ErrorContains(s.t, err, "No such file", "which is how OVS says there is none")
	}
}

func TestFlush(t *testing.T) {
	ping := conntrack.Tuple{Src: client, Dst: server, ID: 7, SrcPort: 8}
	for name, c := range map[string]struct {
		want   int
		filter conntrack.Filter
		args   []string
		slow   bool // OVS says "not found", which looks like its death: the bed takes seconds to be sure
	}{
		"everything": {6, conntrack.Filter{AnyZone: true}, nil, false},
		"a zone":     {4, conntrack.Filter{Zone: 1}, []string{"zone=1"}, false},
		"a member's port": {2, conntrack.Filter{AnyZone: true, Proto: protoUDP, Reply: conntrack.Tuple{Src: server, SrcPort: 8080}},
			[]string{"", "ct_nw_src=10.0.1.1,ct_nw_proto=17,ct_tp_src=8080"}, false},
		"a member in another zone": {0, conntrack.Filter{Zone: 2, Proto: protoUDP, Reply: conntrack.Tuple{Src: server, SrcPort: 8080}},
			[]string{"zone=2", "", "ct_nw_src=10.0.1.1,ct_nw_proto=17,ct_tp_src=8080"}, false},
		"a client": {3, conntrack.Filter{AnyZone: true, Proto: protoUDP, Orig: conntrack.Tuple{Src: client}},
			[]string{"ct_nw_src=10.0.0.1,ct_nw_proto=17"}, false},
		"a client, any protocol": {4, conntrack.Filter{AnyZone: true, Orig: conntrack.Tuple{Src: client}},
			[]string{"ct_nw_src=10.0.0.1"}, false},
		"one connection": {1, conntrack.Filter{Zone: 1, Proto: protoUDP, Orig: conntrack.Tuple{Src: client, Dst: vip, SrcPort: 1000, DstPort: 80}},
			[]string{"zone=1", "ct_nw_src=10.0.0.1,ct_nw_dst=10.0.9.9,ct_nw_proto=17,ct_tp_src=1000,ct_tp_dst=80"}, false},
		"one connection, zone forgotten": {0, conntrack.Filter{AnyZone: true, Proto: protoUDP, Orig: conntrack.Tuple{Src: client, Dst: vip, SrcPort: 1000, DstPort: 80}},
			[]string{"ct_nw_src=10.0.0.1,ct_nw_dst=10.0.9.9,ct_nw_proto=17,ct_tp_src=1000,ct_tp_dst=80"}, true},
		"one connection by its answer": {1, conntrack.Filter{Zone: 2, Proto: protoUDP, Orig: conntrack.Tuple{Src: server, Dst: client, SrcPort: 80, DstPort: 1000}},
			[]string{"zone=2", "ct_nw_src=10.0.1.1,ct_nw_dst=10.0.0.1,ct_nw_proto=17,ct_tp_src=80,ct_tp_dst=1000"}, false},
		"a translated one by its answer": {0, conntrack.Filter{Zone: 1, Proto: protoUDP, Orig: conntrack.Tuple{Src: server, Dst: client, SrcPort: 8080, DstPort: 1000}},
			[]string{"zone=1", "ct_nw_src=10.0.1.1,ct_nw_dst=10.0.0.1,ct_nw_proto=17,ct_tp_src=8080,ct_tp_dst=1000"}, true},
		"a ping": {1, conntrack.Filter{Zone: 2, Proto: protoICMP, Orig: ping},
			[]string{"zone=2", "ct_nw_src=10.0.0.1,ct_nw_dst=10.0.1.1,ct_nw_proto=1,icmp_id=7,icmp_type=8,icmp_code=0"}, false},
		"pings to a host": {0, conntrack.Filter{AnyZone: true, Proto: protoICMP, Reply: conntrack.Tuple{Src: server}},
			[]string{"", "ct_nw_src=10.0.1.1,ct_nw_proto=1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := flushStory(t)
			if c.slow && os.Getenv(diffVariable) == "" {
				s.finish()
				s.real = nil
			}
			s.flush(c.want, c.filter, c.args...)
		})
	}
}

func TestFlushFunc(t *testing.T) {
	s := story{newRig(t, nil, through(commit(1)))}
	s.expect("new|trk", 0, udpUp(1))
	s.expect("new|trk", 0, seg(up, "S", 1, 0, 0))
	require.Equal(t, 1, s.table.FlushFunc(func(c conntrack.Conn) bool { return c.Orig.Proto == protoTCP }))
	require.Len(t, s.dump(), 1)
	require.Equal(t, 1, s.table.FlushFunc(func(conntrack.Conn) bool { return true }))
	require.Empty(t, s.dump())
}

// TestTry: what happens in a trial is seen in it and leaves no trace.
func TestTry(t *testing.T) {
	s := story{newRig(t, nil, through(dnat(1, "10.0.1.1", 8080)), through(unNAT(1)))}
	s.expect("new|trk|dnat", 0, udp{flow: toVIP})
	s.send(0, fragmentOf(udp{flow: toVIP, payload: make([]byte, 2000)}.ip(), 7, 0, 1400, true))
	last := fragmentOf(udp{flow: toVIP, payload: make([]byte, 2000)}.ip(), 7, 1400, 1408, false)
	want := s.dump()
	next, _ := s.table.NextExpiry()
	for range 2 {
		s.table.Try(func() {
			s.expect("est|rpl|trk|snat", 1, udp{flow: toMember.back()})
			for i := range uint16(200) { // the index grows
				s.expect("new|trk|dnat", 0, udp{flow: flow{client, vip, 2000 + i, 80}})
			}
			require.Len(t, s.dump(), 201)
			require.Len(t, s.send(0, last), 2)
		})
		require.Equal(t, want, s.dump())
		require.Equal(t, 1, s.table.Waiting())
		got, _ := s.table.NextExpiry()
		require.Equal(t, next, got)
	}
	require.Len(t, s.send(0, last), 2)
	s.expect("est|rpl|trk|snat", 1, udp{flow: toMember.back()})
}

// TestConnsAreInOrderOfInsertion also after removals and growth.
func TestConnsAreInOrderOfInsertion(t *testing.T) {
	s := story{newRig(t, nil, through(commit(1)))}
	var want []uint16
	for i := range uint16(1000) {
		s.expect("new|trk", 0, udp{flow: flow{client, server, 1 + i, 80}})
		if i%3 != 0 {
			want = append(want, 1+i)
		}
	}
	s.table.FlushFunc(func(c conntrack.Conn) bool { return c.Orig.SrcPort%3 == 1 })
	var got []uint16
	for c := range s.table.Conns(s.now) {
		got = append(got, c.Orig.SrcPort)
	}
	require.Equal(t, want, got)
	for range s.table.Conns(s.now) {
		break // stopping early is fine
	}
}

func TestConnText(t *testing.T) {
	c := conntrack.Conn{
		Zone:    7,
		Orig:    conntrack.Tuple{Src: client, Dst: vip, Proto: protoTCP, SrcPort: 1000, DstPort: 80},
		Reply:   conntrack.Tuple{Src: server, Dst: client, Proto: protoTCP, SrcPort: 8080, DstPort: 1000},
		TCP:     conntrack.TCPTimeWait,
		Mark:    5,
		Label:   conntrack.Label{Lo: 0xabc},
		Timeout: 30 * time.Second,
	}
	require.Equal(t, "tcp,orig=(src=10.0.0.1,dst=10.0.9.9,sport=1000,dport=80),reply=(src=10.0.1.1,dst=10.0.0.1,sport=8080,dport=1000),"+
		"zone=7,mark=5,labels=0xabc,protoinfo=(state=TIME_WAIT)", c.String())
	require.Contains(t, c.Stats(), ",zone=7,timeout=30,mark=5,")
	c = conntrack.Conn{Orig: conntrack.Tuple{Proto: 132}, Reply: conntrack.Tuple{Proto: 132}}
	require.Equal(t, "sctp,orig=(src=0.0.0.0,dst=0.0.0.0,sport=0,dport=0),reply=(src=0.0.0.0,dst=0.0.0.0,sport=0,dport=0)", c.String())
}
