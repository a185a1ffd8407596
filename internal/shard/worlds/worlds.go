// Package worlds makes random rule sets that remember frames - they track, translate and learn - and
// random frames for them, for tests that execute them in two ways.
package worlds

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"

	"hpnn/internal/packet"
)

// Of the inhabitants the first known are likely to be in rules, and the others are not.
const (
	known       = 6
	inhabitants = 10
)

// Ports is how many ports frames come in by and rules know, from 1 on.
const Ports = 3

// Address is that of an inhabitant.
func Address(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, byte(i % 3), byte(10 + i)}) }

// Rules are the flows of a few tables, one a line.
func Rules(rng *rand.Rand) string {
	var lines []string
	seen := map[string]bool{}
	for table := range 4 {
		for range 2 + rng.IntN(4) {
			m := match(rng, table)
			if seen[m] {
				continue
			}
			seen[m] = true
			lines = append(lines, m+",actions="+actions(rng, table))
		}
	}
	return strings.Join(lines, "\n")
}

func pick(rng *rand.Rand, list ...string) string { return list[rng.IntN(len(list))] }

func match(rng *rand.Rand, table int) string {
	m := []string{fmt.Sprintf("table=%d,priority=%d", table, rng.IntN(4)), pick(rng, "ip", "ip", "tcp", "udp", "icmp")}
	a := func() string { return Address(rng.IntN(known)).String() }
	if rng.IntN(3) > 0 {
		m = append(m, pick(rng, "nw_dst=", "nw_src=")+pick(rng, a(), a(), "10.0.0.0/24", "10.0.1.0/24"))
	}
	if rng.IntN(4) == 0 {
		m = append(m, pick(rng, "in_port=1", "in_port=2", "reg0=1", "ct_state=+trk+est", "ct_state=+trk+new", "ct_state=+trk+rpl"))
	}
	return strings.Join(m, ",")
}

func actions(rng *rand.Rand, table int) string {
	next := table + 1 + rng.IntN(2)
	a := Address(rng.IntN(known))
	var list []string
	for range 1 + rng.IntN(3) {
		list = append(list, pick(rng,
			"output:2", "output:3", "IN_PORT", "dec_ttl", "set_field:1->reg0",
			"set_field:"+a.String()+"->nw_dst", "set_field:"+a.String()+"->nw_src",
			"move:NXM_OF_IP_SRC[]->NXM_NX_REG1[]", "move:NXM_NX_REG1[]->NXM_OF_IP_DST[]",
			fmt.Sprintf("ct(commit,zone=1,table=%d)", next),
			fmt.Sprintf("ct(zone=1,table=%d)", next),
			fmt.Sprintf("ct(zone=1,nat,table=%d)", next),
			fmt.Sprintf("ct(commit,zone=1,nat(dst=%v),table=%d)", a, next),
			fmt.Sprintf("ct(commit,zone=1,nat(src=%v),table=%d)", a, next),
			fmt.Sprintf("learn(table=%d,hard_timeout=3,priority=3,eth_type=0x800,NXM_OF_IP_DST[]=NXM_OF_IP_SRC[],output:NXM_OF_IN_PORT[])", next),
			fmt.Sprintf("learn(table=%d,idle_timeout=2,priority=3,limit=3,eth_type=0x800,NXM_OF_IP_DST[]=NXM_OF_IP_SRC[],output:NXM_OF_IN_PORT[])", next),
			fmt.Sprintf("learn(table=%d,idle_timeout=2,priority=3,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[])", next),
			fmt.Sprintf("resubmit(,%d)", next), fmt.Sprintf("resubmit(,%d)", next), fmt.Sprintf("clone(resubmit(,%d))", next),
		))
	}
	return strings.Join(list, ",")
}

// Frame is a packet between two inhabitants, mostly one that rules know and one that they do not. There
// are so few that they meet again and again.
func Frame(rng *rand.Rand) []byte {
	i, j := known+rng.IntN(inhabitants-known), rng.IntN(known)
	switch rng.IntN(30) {
	case 0:
		j = rng.IntN(inhabitants)
	case 1, 2, 3:
		i = rng.IntN(known)
	}
	if rng.IntN(2) == 0 {
		i, j = j, i
	}
	eth := packet.Ether{Src: packet.MAC{2, 5: byte(i)}, Dst: packet.MAC{2, 5: byte(j)}}
	ip := packet.IP{Src: Address(i), Dst: Address(j), TTL: 64}
	port := func() uint16 { return uint16(1 + rng.IntN(2)) }
	switch rng.IntN(12) {
	case 0:
		return packet.ARPRequest(eth.Src, ip.Src, ip.Dst).Bytes()
	case 1:
		return packet.ICMP{Eth: eth, IP: ip, Type: []uint8{packet.EchoReply, packet.EchoRequest}[rng.IntN(2)], ID: port()}.Bytes()
	case 2:
		quoted := packet.UDP{IP: packet.IP{Src: ip.Dst, Dst: ip.Src, TTL: 64}, SrcPort: port(), DstPort: port()}.Bytes()
		return packet.ICMP{Eth: eth, IP: ip, Type: packet.Unreachable, Payload: quoted[14:]}.Bytes()
	case 3, 4, 5, 6:
		return packet.UDP{Eth: eth, IP: ip, SrcPort: port(), DstPort: port()}.Bytes()
	}
	flags := []packet.Flags{packet.SYN, packet.SYN, packet.SYN | packet.ACK, packet.ACK, packet.RST}[rng.IntN(5)]
	return packet.TCP{Eth: eth, IP: ip, SrcPort: port(), DstPort: port(), Flags: flags, Window: 1000}.Bytes()
}
