package simbackend_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath/openflow"
)

// dice makes random programs and frames, from few values, so that they meet.
type dice struct{ *rand.Rand }

// tape is a random source that begins with given bytes: a fuzzer turns one decision at a time.
type tape struct {
	bytes []byte
	rand.Source
}

// newTape goes on at random, in a way that only depends on how many bytes there are.
func newTape(b []byte) *tape { return &tape{b, rand.NewPCG(uint64(len(b)), 7)} }

// Uint64 implements rand.Source. Small numbers are made of the top bits or of the lowest.
func (t *tape) Uint64() uint64 {
	if len(t.bytes) < 2 {
		return t.Source.Uint64()
	}
	v := uint64(binary.BigEndian.Uint16(t.bytes))
	t.bytes = t.bytes[2:]
	return v<<48 | t.Source.Uint64()&^0xffff>>16 | v
}

func (g dice) addr() netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(g.IntN(2)), 0, byte(1 + g.IntN(3))})
}
func (g dice) addr6() netip.Addr {
	return netip.AddrFrom16([16]byte{0xfd, 15: byte(1 + g.IntN(3))})
}
func (g dice) number() uint16 { return uint16(80 + g.IntN(3)) }
func (g dice) mac() string    { return fmt.Sprintf("02:00:00:00:00:0%d", g.IntN(3)) }

func (g dice) one(words ...string) string { return words[g.IntN(len(words))] }

// some is up to n of the words, in order.
func (g dice) some(n int, words ...string) []string {
	for len(words) > n {
		i := g.IntN(len(words))
		words = slices.Delete(words, i, i+1)
	}
	return words[:g.IntN(len(words)+1)]
}

// kind is what a program is about.
type kind int

const (
	rewriting kind = iota
	tagging
	learning
	tracking
	translating
	kinds
)

// author writes the rules of one program.
type author struct {
	dice
	kind
	sets bool // write_actions, which must not be pending at a ct(table=)
}

func newAuthor(g dice) author {
	k := kind(g.IntN(int(kinds)))
	return author{g, k, k < tracking && g.IntN(3) == 0}
}

const lastTable = 3

// program is a random program of any kind.
func (g dice) program(t *testing.T) openflow.Program {
	program, err := openflow.NewProgram(newAuthor(g).rules()...)
	require.NoError(t, err)
	return program
}

// port is one of four that the lab has.
func (g dice) port() openflow.PortNo { return labPorts[g.IntN(4)].Number }

// rules is rules for tables 0 to lastTable. No two of a table have one priority: where both match, either may win.
func (a author) rules() (flows []openflow.Flow) {
	for table := range lastTable + 1 {
		for priority := range 14 {
			flows = append(flows, a.rule(table, 10+priority))
		}
		for i, proto := range []string{"", "arp", "ip", "ipv6"} {
			flows = append(flows, a.complete(table, fmt.Sprintf("table=%d,priority=%d,%s", table, i, proto), proto))
		}
	}
	return flows
}

// rule is a rule for some frames.
func (a author) rule(table, priority int) openflow.Flow {
	protos := []string{"ip", "tcp", "udp", "icmp", "ip", "tcp", "udp", "icmp", "arp", "ipv6", "tcp6", "udp6", "icmp6,icmp_type=128",
		"icmp6,icmp_type=135,icmp_code=0", ""}
	if a.kind >= tracking {
		protos = protos[:9]
	}
	proto := a.one(protos...)
	text := fmt.Sprintf("table=%d,priority=%d,%s", table, priority, proto)
	terms := []string{
		fmt.Sprint("in_port=", 1+a.IntN(4)), "dl_src=" + a.mac(), "dl_dst=02:00:00:00:01:00/ff:ff:ff:ff:ff:fd", "reg1=1", "reg2=0/1", "vlan_tci=0x1000/0x1000",
		"dl_vlan=5", "vlan_tci=0x0000", "vlan_tci=0x2000/0xe000", "metadata=0x5/0xf",
	}
	switch {
	case strings.HasSuffix(proto, "6"), strings.HasPrefix(proto, "icmp6"):
		terms = append(terms, "ipv6_src=fd00::/127", fmt.Sprint("ipv6_dst=", a.addr6()), "ipv6_label=0/1", "nw_ttl=3")
	case proto == "arp":
		terms = append(terms, "arp_op=1", "arp_op=2", fmt.Sprint("arp_tpa=", a.addr()), "arp_spa=10.0.0.0/16", "arp_sha="+a.mac())
	case proto != "":
		terms = append(terms, "nw_src=10.0.0.0/15", fmt.Sprint("nw_dst=", a.addr()), "nw_src=10.1.0.0/255.255.0.0", "nw_ttl=3", "nw_tos=32", "nw_ecn=1")
	}
	switch proto {
	case "tcp", "tcp6":
		terms = append(terms, "tcp_flags=+syn-ack", "tcp_flags=+ack", "tcp_flags=fin|ack", "tp_dst=0x50/0xfffe", fmt.Sprint("tp_src=", a.number()))
	case "udp", "udp6":
		terms = append(terms, fmt.Sprint("tp_dst=", a.number()), fmt.Sprint("tp_src=", a.number()))
	case "icmp":
		terms = append(terms, "icmp_type=8", "icmp_type=0", "icmp_code=0")
	case "icmp6,icmp_type=135,icmp_code=0":
		terms = append(terms, fmt.Sprint("nd_target=", a.addr6()), "nd_sll="+a.mac())
	}
	for _, term := range a.some(2, terms...) {
		text = a.added(text, term)
	}
	if a.kind >= tracking && table > 0 && proto != "arp" && a.IntN(4) > 0 {
		text = a.added(text, a.one("ct_state=+new+trk", "ct_state=+new+trk", "ct_state=+est+trk", "ct_state=+est+trk", "ct_state=+rpl+trk", "ct_state=-rpl+est+trk",
			"ct_state=+inv+trk", "ct_state=+dnat+trk", "ct_state=+snat", "ct_state=-trk", "ct_state=0/0xff"))
		for _, term := range a.some(1, "ct_mark=1", "ct_mark=0x2/0x2", "ct_label=1", "ct_label=0x10000000000000000/0x10000000000000000", "ct_label=0x500000000000000000/0xff0000000000000000", "ct_zone=1",
			fmt.Sprint("ct_nw_src=", a.addr()),
			fmt.Sprint("ct_nw_dst=", a.addr()), "ct_nw_proto=17", fmt.Sprint("ct_tp_dst=", a.number()), "ct_tp_src=8") {
			text = a.added(text, term)
		}
	}
	return a.complete(table, text, proto)
}

// added is a match with one more term, unless that makes no sense there.
func (a author) added(text, term string) string {
	if _, err := openflow.ParseFlow(text + "," + term + ",actions=drop"); err == nil {
		return text + "," + term
	}
	return text
}

// complete adds actions to a match: some that change something, and mostly one that brings the frame further.
func (a author) complete(table int, match, proto string) openflow.Flow {
	var list []string
	flow, err := openflow.ParseFlow(match + ",actions=drop")
	if err != nil {
		panic(err)
	}
	add := func(action string) {
		text := strings.Join(append(list, action), ",")
		if f, err := openflow.ParseFlow(match + ",actions=" + text); err == nil && f.Validate() == nil {
			flow, list = f, append(list, action)
		}
	}
	choice := a.choice(table, proto)
	for range a.IntN(4) {
		add(a.one(choice...))
	}
	switch proto {
	case "ip", "tcp", "udp", "icmp":
		if a.kind >= tracking {
			ct := a.ct(table)
			if add(ct); strings.Contains(ct, "table=") && a.IntN(5) > 0 {
				return flow
			}
		}
	}
	if a.sets && a.IntN(2) == 0 {
		add(fmt.Sprintf("write_actions(%s)", a.one("output:2", "set_field:0x7->reg1,output:1", "dec_ttl,output:3", "pop_vlan,output:4",
			"set_field:10.0.0.1->ip_dst,output:2",
			"push_vlan:0x8100,output:1", "set_field:02:00:00:00:00:01->eth_dst", "output:reg3[0..15]", "set_field:4103->vlan_vid,output:3")))
	}
	later := table + 1 + a.IntN(lastTable)
	switch {
	case a.IntN(20) == 0:
	case later <= lastTable && a.IntN(2) == 0:
		if a.IntN(3) == 0 {
			add("write_metadata:" + a.one("0x5", "0x3/0xf"))
		}
		add(fmt.Sprint("goto_table:", later))
	case later <= lastTable:
		add(fmt.Sprintf("resubmit(,%d)", later))
		fallthrough
	default:
		add(fmt.Sprint("output:", 1+a.IntN(4)))
	}
	return flow
}

// ct is an action of the tracker.
func (a author) ct(table int) string {
	zone := a.one("zone=1", "zone=1", "zone=1", "zone=2", "zone=NXM_NX_REG0[0..15]")
	next := ""
	if table < lastTable {
		next = fmt.Sprintf(",table=%d", table+1+a.IntN(lastTable-table))
	}
	nat := ""
	if a.kind == translating {
		nat = a.one(",nat", ",nat", "")
	}
	if table == 0 && a.IntN(6) > 0 {
		return "ct(" + zone + next + nat + ")"
	}
	if a.IntN(2) == 0 {
		next = ""
	}
	exec := a.one("", ",exec(load:1->NXM_NX_CT_MARK[])", ",exec(set_field:2/0xf->ct_mark,load:1->NXM_NX_CT_LABEL[0..7])", ",exec(move:NXM_NX_REG1[]->NXM_NX_CT_MARK[])",
		",exec(move:NXM_OF_ETH_SRC[]->NXM_NX_CT_LABEL[64..111])", ",exec(load:5->NXM_NX_CT_LABEL[64..71])")
	if a.kind == translating {
		member := fmt.Sprintf("10.1.0.%d", 1+a.IntN(3))
		nat = a.one("", fmt.Sprintf(",nat(dst=%s)", member), fmt.Sprintf(",nat(dst=%s:%d)", member, a.number()), fmt.Sprintf(",nat(src=%s)", member),
			fmt.Sprintf(",nat(src=%s:%d)", member, a.number()), ",nat(src)", ",nat(dst)")
		if strings.Contains(nat, ":") && a.IntN(2) == 0 {
			nat = ""
		}
	}
	force := ""
	if a.kind == tracking && a.IntN(8) == 0 {
		force = "force,"
	}
	return a.one("ct(commit,"+force+zone+next+nat+exec+")", "ct(commit,"+force+zone+next+nat+exec+")", "ct("+zone+next+")", "ct_clear")
}

// choice is what a rule may do besides.
func (a author) choice(table int, proto string) []string {
	all := []string{
		"load:4->NXM_NX_REG3[]", "load:1->NXM_NX_REG1[]", "load:1->NXM_NX_REG0[0..15]", "set_field:0x5/0xd->reg2", "move:NXM_NX_REG1[0..15]->NXM_NX_REG2[16..31]",
		"move:NXM_OF_IN_PORT[]->NXM_NX_REG3[0..15]", "load:0x123456789->NXM_NX_XXREG0[20..100]", "move:NXM_NX_XXREG0[24..71]->NXM_OF_ETH_DST[]",
		"move:OXM_OF_PKT_REG0[]->OXM_OF_PKT_REG2[]",
		"push:NXM_NX_REG1[0..7]", "pop:NXM_NX_REG2[4..11]", "mod_dl_src:" + a.mac(), "mod_dl_dst:02:00:00:00:01:00", "move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[]",
		"load:9->NXM_OF_ETH_SRC[0..7]", fmt.Sprint("output:", 1+a.IntN(4)), "IN_PORT", "LOCAL", "output:77", "output:NXM_NX_REG3[0..15]",
		"clone(mod_dl_src:02:00:00:00:00:02,load:7->NXM_NX_REG1[],output:3)", "multipath(symmetric_l4,5,modulo_n,4,0,NXM_NX_REG1[0..15])",
		"multipath(nw_src,0,modulo_n,3,0,NXM_NX_REG2[])",
	}
	if table < lastTable {
		later := table + 1 + a.IntN(lastTable-table)
		all = append(all, fmt.Sprintf("resubmit(,%d)", later), fmt.Sprintf("resubmit(%d,%d)", 1+a.IntN(4), later), fmt.Sprintf("clone(mod_dl_dst:02:00:00:00:01:02,resubmit(,%d))", later))
	}
	if a.IntN(6) == 0 {
		all = append(all, "exit", "load:0->NXM_OF_IN_PORT[]")
	}
	if a.sets && a.IntN(3) == 0 {
		all = append(all, "clear_actions")
	}
	all = append(all, a.aboutProto(proto)...)
	switch {
	case a.kind == tagging: // more than once, to come up
		for range 4 {
			all = append(all, "push_vlan:0x8100", "push_vlan:0x88a8", "pop_vlan", "mod_vlan_vid:7", "mod_vlan_pcp:4", "load:5->NXM_OF_VLAN_TCI[0..11]",
				"load:0x1005->NXM_OF_VLAN_TCI[]",
				"load:0->NXM_OF_VLAN_TCI[]", "set_field:4101->vlan_vid", "set_field:6->vlan_pcp", "move:NXM_OF_VLAN_TCI[0..11]->NXM_NX_REG1[0..11]",
				"move:NXM_NX_REG1[0..11]->NXM_OF_VLAN_TCI[0..11]")
		}
	case a.kind == learning:
		for range 4 {
			all = append(all, a.lessons(proto)...)
		}
	case a.kind >= tracking:
		all = append(all, "push:NXM_OF_ETH_SRC[0..7]", "push:NXM_OF_ETH_SRC[0..7]", "pop:NXM_NX_REG3[0..7]", "pop:NXM_NX_REG3[0..7]", "move:NXM_NX_CT_MARK[]->NXM_NX_REG2[]", "move:NXM_NX_CT_LABEL[64..111]->NXM_OF_ETH_DST[]", "move:NXM_NX_CT_STATE[0..7]->NXM_OF_ETH_SRC[0..7]",
			"move:NXM_NX_CT_ZONE[]->NXM_OF_ETH_SRC[16..31]")
		if proto != "arp" && proto != "" {
			all = append(all, "move:NXM_NX_CT_NW_SRC[]->NXM_NX_REG2[]", "clone(ct(commit,zone=1),mod_dl_src:02:00:00:00:00:01,output:2)",
				"move:NXM_NX_CT_TP_DST[]->NXM_NX_REG3[0..15]", "clone("+a.ct(table)+",output:2)")
			if table < lastTable { // the second time as something else
				for _, change := range []string{"mod_tp_src:8080", fmt.Sprint("mod_tp_dst:", a.number()), "load:1->NXM_OF_ICMP_CODE[]"} {
					all = append(all, fmt.Sprintf("ct(zone=1),%s,ct(zone=1,table=%d)", change, table+1))
				}
			}
		}
	}
	if a.kind != tagging { // behind two tags, a frame that was sent to the controller is read in another way
		all = append(all, "dec_ttl", "dec_ttl")
	}
	return all
}

// aboutProto is what can be done to frames of a protocol.
func (a author) aboutProto(proto string) (all []string) {
	switch proto {
	case "arp":
		all = []string{"move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],mod_dl_src:02:00:00:00:00:01,load:2->NXM_OF_ARP_OP[],move:NXM_NX_ARP_SHA[]->NXM_NX_ARP_THA[],load:0x020000000001->NXM_NX_ARP_SHA[]," +
			"move:NXM_OF_ARP_SPA[]->NXM_OF_ARP_TPA[],load:0x0a000001->NXM_OF_ARP_SPA[],IN_PORT"}
		return append(all, all[0], "load:2->NXM_OF_ARP_OP[]", "set_field:10.0.0.3->arp_tpa", "set_field:10.1.0.0/16->arp_spa",
			"move:NXM_NX_ARP_SHA[]->NXM_OF_ETH_SRC[]", "set_field:"+a.mac()+"->arp_tha",
			"move:NXM_OF_ARP_SPA[]->NXM_NX_REG2[]")
	case "ipv6", "tcp6", "udp6", "icmp6,icmp_type=128", "icmp6,icmp_type=135,icmp_code=0":
		all = []string{"dec_ttl", "mod_nw_tos:32", "mod_nw_ecn:2", "mod_nw_ttl:9", fmt.Sprintf("set_field:%v->ipv6_src", a.addr6()),
			fmt.Sprintf("set_field:%v->ipv6_dst", a.addr6()),
			"set_field:0x12345->ipv6_label", "move:NXM_NX_IPV6_SRC[]->NXM_NX_XXREG1[]", "move:NXM_NX_IPV6_SRC[0..63]->NXM_NX_IPV6_DST[64..127]",
			"push:NXM_NX_IPV6_DST[]", "pop:NXM_NX_IPV6_SRC[]"}
	case "":
		return nil
	default:
		all = []string{"mod_nw_ttl:9", "mod_nw_tos:32", "mod_nw_ecn:1", "mod_nw_src:10.1.0.2", fmt.Sprint("set_field:", a.addr(), "->ip_dst"),
			"move:NXM_OF_IP_SRC[]->NXM_NX_REG2[]", "push:NXM_OF_IP_SRC[]", "pop:NXM_OF_IP_DST[]"}
		if a.kind != translating { // what a part of an address becomes that a translation has changed is chance
			all = append(all, "move:NXM_NX_REG2[0..15]->NXM_OF_IP_DST[0..15]", "set_field:10.1.0.0/255.255.0.0->ip_src")
		}
	}
	const port = "mod_tp_src:8080"
	switch proto {
	case "tcp", "udp", "tcp6", "udp6":
		all = append(all, fmt.Sprint("mod_tp_dst:", a.number()), port, port, port)
		if a.kind != translating {
			all = append(all, "load:1->NXM_OF_"+strings.ToUpper(proto[:3])+"_SRC[0]")
		}
	case "icmp":
		all = append(all, "load:0->NXM_OF_ICMP_TYPE[]", "load:1->NXM_OF_ICMP_CODE[]", "load:1->NXM_OF_ICMP_CODE[]",
			"push:NXM_OF_IP_SRC[],push:NXM_OF_IP_DST[],pop:NXM_OF_IP_SRC[],pop:NXM_OF_IP_DST[],load:0->NXM_OF_ICMP_TYPE[],IN_PORT")
	case "icmp6,icmp_type=128":
		all = append(all, "load:129->NXM_NX_ICMPV6_TYPE[]", "load:1->NXM_NX_ICMPV6_CODE[]")
	case "icmp6,icmp_type=135,icmp_code=0":
		all = append(all, "set_field:fd00::3->nd_target", "set_field:02:00:00:00:00:02->nd_sll", "move:NXM_NX_ND_SLL[]->NXM_OF_ETH_DST[]")
	}
	return all
}

// lessons are learn actions. Those with one priority make the same kind of match.
func (a author) lessons(proto string) []string {
	table := 1 + a.IntN(lastTable)
	if proto == "" {
		proto = "ip"
	}
	to := a.one("output:NXM_OF_IN_PORT[]", "load:NXM_OF_IN_PORT[]->NXM_NX_REG3[0..15],output:NXM_OF_IN_PORT[]", "load:2->NXM_NX_REG1[0..7],output:NXM_NX_REG3[0..15]")
	all := []string{
		fmt.Sprintf("learn(table=%d,hard_timeout=3,priority=100,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],%s)", table, to),
		fmt.Sprintf("learn(table=%d,hard_timeout=4,priority=100,NXM_OF_VLAN_TCI[0..11],NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],%s)", table, to),
		fmt.Sprintf("learn(table=%d,idle_timeout=2,priority=101,cookie=0x7,limit=%d,result_dst=NXM_NX_REG1[0],NXM_OF_ETH_SRC[],NXM_OF_IN_PORT[],%s)", table, 1+a.IntN(3), to),
		fmt.Sprintf("learn(table=%d,hard_timeout=5,priority=103,NXM_NX_REG1[0..15]=NXM_OF_ETH_SRC[0..15],NXM_NX_REG2[]=5,load:1->NXM_NX_REG3[])", table),
	}
	switch proto {
	case "tcp", "udp":
		all = append(all, fmt.Sprintf("learn(table=%d,idle_timeout=5,hard_timeout=6,priority=102,eth_type=0x800,nw_proto=%d,NXM_OF_IP_DST[]=NXM_OF_IP_SRC[],NXM_OF_%[3]s_SRC[]=NXM_OF_%[3]s_DST[],%[4]s)",
			table, map[string]int{"tcp": 6, "udp": 17}[proto], strings.ToUpper(proto), to))
	case "arp":
		all = append(all, fmt.Sprintf("learn(table=%d,hard_timeout=8,priority=104,eth_type=0x800,NXM_OF_IP_DST[]=NXM_OF_ARP_SPA[],load:NXM_NX_ARP_SHA[]->NXM_OF_ETH_DST[],%s)", table, to))
	}
	return all
}
