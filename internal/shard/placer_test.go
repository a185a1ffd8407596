package shard_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/internal/pipeline"
	"hpnn/internal/shard"
	"hpnn/model"
)

// reference are the rules of examples/hpnn.yaml.
func reference(t testing.TB) openflow.Program {
	topology, err := model.Load("../../examples/hpnn.yaml")
	require.NoError(t, err)
	return pipeline.Render(topology, pipeline.Layout(topology, pipeline.State{}))
}

func placer(t testing.TB, p openflow.Program) *shard.Placer {
	s, err := shard.New(p, 1<<16) // so many that keys do not meet by chance
	require.NoError(t, err)
	return s
}

func parse(t testing.TB, flows ...string) openflow.Program {
	p, err := openflow.ParseProgram("test", strings.NewReader(strings.Join(flows, "\n")))
	require.NoError(t, err)
	return p
}

// tcp is a segment between two addresses.
func tcp(src, dst string) []byte {
	return packet.TCP{
		Eth:     packet.Ether{Src: packet.MAC{2, 1}, Dst: packet.MAC{2, 2}},
		IP:      packet.IP{Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr(dst)},
		SrcPort: 1000, DstPort: 80, Flags: packet.SYN,
	}.Bytes()
}

func TestReferenceStandIsShardedByClient(t *testing.T) {
	p := placer(t, reference(t))
	place := func(port openflow.PortNo, src, dst string) int {
		s, err := p.Place(port, tcp(src, dst))
		require.NoError(t, err, "%s > %s by %d", src, dst, port)
		return s
	}
	one := place(1, "192.168.5.50", "192.168.5.21")
	require.NotZero(t, one)
	require.Equal(t, one, place(10, "10.20.0.2", "192.168.5.50"), "the answer of a member")
	require.Equal(t, one, place(20, "10.30.0.2", "192.168.5.50"), "of another")
	require.Equal(t, one, place(1, "192.168.5.50", "10.20.0.2"), "without the VIP")
	require.NotEqual(t, one, place(1, "192.168.5.51", "192.168.5.21"))
	require.Zero(t, place(12, "10.20.0.10", "10.20.0.100"), "a client that is declared")
	require.NotZero(t, place(1, "192.168.5.50", "224.0.0.251"), "noise touches nothing")
	arp := packet.ARPRequest(packet.MAC{2, 1}, netip.MustParseAddr("192.168.5.50"), netip.MustParseAddr("192.168.5.21"))
	s, err := p.Place(1, arp.Bytes())
	require.NoError(t, err)
	require.Zero(t, s)
}

func TestReferenceStandRefusesWhatItCannotTellApart(t *testing.T) {
	p := placer(t, reference(t))
	_, err := p.Place(2, tcp("10.20.0.77", "10.20.0.100"))
	require.ErrorContains(t, err, "may matter to frames of other addresses", "MAC learning")
	_, err = p.Place(1, tcp("192.168.5.50", "10.20.0.77"))
	require.ErrorContains(t, err, "neither of its addresses")
	fragment := packet.Datagram{
		Eth:   packet.Ether{Src: packet.MAC{2, 1}, Dst: packet.MAC{2, 2}},
		IP:    packet.IP{Src: netip.MustParseAddr("192.168.5.50"), Dst: netip.MustParseAddr("192.168.5.21"), More: true},
		Proto: packet.ProtoUDP, Payload: make([]byte, 1200),
	}
	_, err = p.Place(1, fragment.Bytes())
	require.ErrorContains(t, err, "fragment")
	quote := tcp("192.168.5.21", "192.168.5.60")[14:]
	unreachable := packet.ICMP{Eth: fragment.Eth, IP: packet.IP{Src: netip.MustParseAddr("192.168.5.50"), Dst: netip.MustParseAddr("192.168.5.21")}, Type: packet.Unreachable, Payload: quote}
	_, err = p.Place(1, unreachable.Bytes())
	require.ErrorContains(t, err, "ICMP error")
	unreachable.Payload = tcp("192.168.5.21", "192.168.5.50")[14:]
	_, err = p.Place(1, unreachable.Bytes())
	require.NoError(t, err, "about its own connection")
	unreachable.Payload = tcp("192.168.5.21", "10.20.0.2")[14:]
	_, err = p.Place(1, unreachable.Bytes())
	require.ErrorContains(t, err, "ICMP error", "about a connection of nobody")
}

func TestAFrameWithoutAddressesHasNoKey(t *testing.T) {
	p := placer(t, parse(t, "ip,actions=ct(commit,table=1)", "table=1,actions=drop"))
	s, err := p.Place(1, tcp("10.0.0.1", "10.0.0.9")[:24])
	require.NoError(t, err)
	require.Zero(t, s)
}

// What nat() writes is a name: the answer of a member is placed where the request was.
func TestTranslatedAddressesAreNames(t *testing.T) {
	p := placer(t, parse(t, "priority=2,tcp,nw_dst=10.0.0.9,actions=ct(commit,table=1,nat(dst=10.0.0.5:80))",
		"priority=1,tcp,actions=ct(nat,table=1)", "table=1,actions=output:2"))
	request, err := p.Place(1, tcp("10.0.0.1", "10.0.0.9"))
	require.NoError(t, err)
	answer, err := p.Place(2, tcp("10.0.0.5", "10.0.0.1"))
	require.NoError(t, err)
	require.NotZero(t, request)
	require.Equal(t, request, answer)
}

func TestReferenceStandBoundsWhatItLearns(t *testing.T) {
	require.Equal(t, 4096, placer(t, reference(t)).Learned)
	require.Negative(t, placer(t, parse(t, "actions=drop")).Learned)
}

// What is refused, and what is not, one rule set after the other. Frames go from 10.0.0.1 to 10.0.0.9.
func TestPrograms(t *testing.T) {
	for _, c := range []struct {
		name, flows, refusal string
	}{
		{"without memory", "priority=1,ip,actions=output:2;priority=0,actions=output:3", ""},
		{"a firewall between strangers", "tcp,actions=ct(commit,table=1);table=1,actions=output:2", "neither of its addresses"},
		{"a firewall for an address", "tcp,nw_dst=10.0.0.9,actions=ct(commit,table=1);table=1,actions=output:2", ""},
		{"a VIP", "tcp,nw_dst=10.0.0.9,actions=ct(commit,table=1,nat(dst=10.1.0.1:80));table=1,actions=output:2", ""},
		{"a VIP's rule that any address can reach", "tcp,actions=ct(commit,table=1,nat(dst=10.1.0.1:80));table=1,actions=output:2", "neither"},
		{"masquerading", "tcp,nw_dst=10.0.0.9,actions=ct(commit,table=1,nat(src=10.1.0.1));table=1,actions=output:2", "translates addresses that are not"},
		{"a range of members", "tcp,nw_dst=10.0.0.9,actions=ct(commit,table=1,nat(dst=10.1.0.1-10.1.0.4));table=1,actions=output:2", "more than one address"},
		{"a source overwritten before it is tracked", "tcp,nw_dst=10.0.0.9,actions=move:NXM_NX_REG1[]->NXM_OF_IP_SRC[],ct(commit,table=1);table=1,actions=drop", "addresses that are not of the program"},
		{"a source written with a name", "tcp,nw_dst=10.0.0.9,actions=set_field:10.0.0.9->nw_src,ct(commit,table=1);table=1,actions=drop", "addresses that are not of the program"},
		{"MAC learning", "nw_dst=10.0.0.9,ip,actions=learn(table=1,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[]),resubmit(,1)", "may matter to frames of other"},
		{"learning by address", "nw_dst=10.0.0.9,ip,actions=learn(table=1,eth_type=0x800,NXM_OF_IP_DST[]=NXM_OF_IP_SRC[],output:NXM_OF_IN_PORT[]),resubmit(,1)", ""},
		{"learning by address what any protocol can match", "nw_dst=10.0.0.9,ip,actions=learn(table=1,eth_type=0x806,NXM_OF_ARP_TPA[]=NXM_OF_IP_SRC[],output:NXM_OF_IN_PORT[])", "may matter"},
		{"learned registers", "nw_dst=10.0.0.9,ip,actions=learn(table=1,eth_type=0x800,NXM_OF_IP_DST[]=NXM_OF_IP_SRC[],load:NXM_OF_IN_PORT[]->NXM_NX_REG0[0..15]),resubmit(,1)", "changes more than MAC"},
		{"learned from another port", "in_port=7,ip,actions=learn(table=1,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[]);priority=1,ip,nw_dst=10.0.0.9,actions=output:2", ""},
		{"looked up by a frame whose address is gone", "nw_dst=10.0.0.9,ip,actions=learn(table=2,eth_type=0x800,NXM_OF_IP_DST[]=NXM_OF_IP_SRC[],output:NXM_OF_IN_PORT[]),resubmit(,1),resubmit(,2)", "may be any"},
		{"a rule shadowed by another", "priority=9,ip,nw_dst=10.0.0.9,actions=output:2;priority=1,ip,actions=ct(commit,nat(src=10.0.0.8))", ""},
		{"a register that tells", "table=0,ip,nw_dst=10.0.0.9,actions=set_field:1->reg0,resubmit(,1);table=1,reg0=2,actions=learn(table=3,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[])", ""},
		{"a clone that tracks", "tcp,nw_dst=10.0.0.9,actions=clone(ct(commit,nat(src=10.0.0.8))),output:2", "translates addresses that are not"},
		{"an action set that tracks", "tcp,nw_dst=10.0.0.9,actions=write_actions(ct(commit))", "addresses that are not of the program"},
		{"a destination that may be any", "tcp,nw_dst=10.0.0.9,actions=move:NXM_OF_ETH_SRC[0..31]->NXM_OF_IP_DST[],ct(commit,table=1);table=1,actions=drop", "addresses that are not of the program"},
		{"a source that may be any, of frames between names", "tcp,nw_src=10.0.0.1,nw_dst=10.0.0.9,actions=move:NXM_OF_ETH_SRC[0..31]->NXM_OF_IP_SRC[],ct(commit,table=1);table=1,actions=drop", "addresses that are not of the program"},
		{"a destination copied from the source", "tcp,nw_dst=10.0.0.9,actions=move:NXM_OF_IP_SRC[]->NXM_OF_IP_DST[],ct(commit,table=1);table=1,actions=drop", "addresses that are not of the program"},
		{"a destination out of a register", "tcp,nw_dst=10.0.0.9,actions=set_field:0xa000005->reg1,move:NXM_NX_REG1[]->NXM_OF_IP_DST[],ct(commit,table=1);table=1,actions=drop", ""},
		{"what is translated may match any name", "tcp,nw_dst=10.0.0.9,actions=ct(commit,table=1,nat(dst=10.1.0.1:80));table=1,ip,nw_dst=10.1.0.1,actions=learn(table=9,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[])", "may matter"},
		{"learning about strangers", "ip,actions=learn(table=1,eth_type=0x800,NXM_OF_IP_DST[]=NXM_OF_IP_SRC[],output:NXM_OF_IN_PORT[])", "neither of its addresses"},
		{"looking up strangers where others are learned", "priority=2,ip,nw_dst=10.0.0.8,actions=learn(table=1,eth_type=0x800,NXM_OF_IP_DST[]=NXM_OF_IP_SRC[],output:NXM_OF_IN_PORT[]);priority=1,ip,actions=resubmit(,1)", "neither of its addresses"},
		{"the result of learning", "ip,nw_dst=10.0.0.9,actions=learn(table=3,eth_type=0x800,NXM_OF_IP_DST[]=NXM_OF_IP_SRC[],output:NXM_OF_IN_PORT[],limit=1,result_dst=NXM_NX_REG0[0]),resubmit(,1);table=1,reg0=1,actions=learn(table=9,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[])", "may matter"},
		{"a lookup as if from another port", "ip,nw_dst=10.0.0.9,actions=resubmit(7,1);table=1,in_port=7,actions=learn(table=9,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[])", "may matter"},
		{"a rule behind one that matches some", "priority=9,tcp,nw_dst=10.0.0.9,tp_dst=443,actions=drop;priority=1,tcp,nw_dst=10.0.0.9,actions=learn(table=9,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[])", "may matter"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := placer(t, parse(t, strings.Split(c.flows, ";")...)).Place(1, tcp("10.0.0.1", "10.0.0.9"))
			if c.refusal == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.refusal)
			}
		})
	}
}

func TestProgramsThatAreNeverSharded(t *testing.T) {
	for flow, refusal := range map[string]string{
		"idle_timeout=5,actions=drop":                 "times out",
		"ip,nw_src=10.0.0.1/255.0.0.255,actions=drop": "no prefix",
	} {
		_, err := shard.New(parse(t, flow), 2)
		require.ErrorContains(t, err, refusal)
	}
}

func BenchmarkPlace(b *testing.B) {
	p := placer(b, reference(b))
	frame := tcp("192.168.5.50", "192.168.5.21")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Place(1, frame); err != nil {
			b.Fatal(err)
		}
	}
}
