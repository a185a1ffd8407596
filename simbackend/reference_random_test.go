package simbackend_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
)

// dice makes random programs and frames, from few values, so that they meet.
type dice struct{ *rand.Rand }

func (g dice) port() openflow.PortNo { return labPorts[g.IntN(4)].Number }
func (g dice) addr() netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(g.IntN(2)), 0, byte(1 + g.IntN(3))})
}
func (g dice) number() uint16 { return uint16(80 + g.IntN(3)) }

func (g dice) frame() []byte {
	eth := packet.Ether{Src: packet.MAC{2, 0, 0, 0, 0, byte(g.IntN(3))}, Dst: packet.MAC{2, 0, 0, 0, 1, byte(g.IntN(3))}}
	ip := packet.IP{Src: g.addr(), Dst: g.addr(), TTL: uint8(1 + g.IntN(4))}
	payload := make([]byte, g.IntN(40))
	for i := range payload {
		payload[i] = byte(g.Uint32())
	}
	if g.IntN(2) == 0 {
		return packet.UDP{Eth: eth, IP: ip, SrcPort: g.number(), DstPort: g.number(), Payload: payload}.Bytes()
	}
	return packet.TCP{Eth: eth, IP: ip, SrcPort: g.number(), DstPort: g.number(), Flags: packet.ACK, Seq: g.Uint32(), Payload: payload}.Bytes()
}

func (g dice) program(t *testing.T) openflow.Program {
	text := ""
	for table := range 4 {
		for priority := range 12 { // one rule a priority: where two of equal priority match, either may win
			proto := []string{"ip", "tcp", "udp"}[g.IntN(3)]
			match := fmt.Sprintf("table=%d,priority=%d,%s", table, priority, proto)
			for _, term := range g.some(2, "in_port=1", "nw_src=10.0.0.0/15", fmt.Sprint("nw_dst=", g.addr()), "nw_src=10.1.0.0/255.255.0.0",
				"dl_src=02:00:00:00:00:01", "reg1=1", "reg2=0/1", "nw_ttl=3") {
				match += "," + term
			}
			if proto != "ip" && g.IntN(2) == 0 {
				match += fmt.Sprint(",tp_dst=", g.number())
			}
			text += match + " actions=" + g.actions(table, proto) + "\n"
		}
	}
	var flows []openflow.Flow
	for line := range strings.Lines(text) {
		if f, err := openflow.ParseFlow(strings.TrimSpace(line)); err == nil { // a field may have been named twice
			flows = append(flows, f)
		}
	}
	program, err := openflow.NewProgram(flows...)
	require.NoError(t, err)
	return program
}

// some is up to n of the words, in order.
func (g dice) some(n int, words ...string) []string {
	for len(words) > n {
		i := g.IntN(len(words))
		words = slices.Delete(words, i, i+1)
	}
	return words[:g.IntN(len(words)+1)]
}

func (g dice) actions(table int, proto string) string {
	choice := []string{
		"output:1", "output:4", "output:10", "output:77", "IN_PORT", "output:NXM_NX_REG3[0..15]", "dec_ttl", "mod_nw_ttl:9", "load:4->NXM_NX_REG3[]",
		"mod_dl_src:02:00:00:00:00:01", "mod_nw_src:10.1.0.2", fmt.Sprint("set_field:", g.addr(), "->ip_dst"), "load:1->NXM_NX_REG1[]",
		"move:NXM_OF_IP_SRC[]->NXM_NX_REG2[]", "move:NXM_NX_REG2[0..15]->NXM_OF_IP_DST[0..15]", "move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[]",
		"push:NXM_OF_IP_SRC[]", "pop:NXM_OF_IP_DST[]", "push:NXM_NX_REG1[0..7]", "pop:NXM_NX_REG2[4..11]", "exit",
	}
	if proto != "ip" {
		choice = append(choice, fmt.Sprint("mod_tp_dst:", g.number()), "mod_tp_src:8080")
	}
	list := ""
	for range 1 + g.IntN(6) {
		list += choice[g.IntN(len(choice))] + ","
		if table < 3 && g.IntN(3) == 0 {
			list += fmt.Sprintf("resubmit(,%d),", table+1+g.IntN(3-table))
		}
	}
	if table < 3 && g.IntN(2) == 0 {
		list += fmt.Sprintf("goto_table:%d,", table+1+g.IntN(3-table))
	}
	return list
}
