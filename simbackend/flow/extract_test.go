package flow

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/testbed/dummy"
)

// Pieces of frames, as text of hexadecimal digits; blanks mean nothing.
const (
	macs = "020000000002 020000000001 "
	tcp  = "03e80050 00000001 00000002 5012 ffff 0000 0000 "
	udp  = "03e80035 0008 0000 "
	ip6  = "fd000000000000000000000000000001 fd000000000000000000000000000002 "
	ll1  = "0101 0a0000000001 "
	ll2  = "0201 0a0000000002 "
)

// ip4 is a header without options: total length, flags and offset, protocol.
func ip4(total, where, proto string) string {
	return "0800 4500 " + total + " 0001 " + where + " 40 " + proto + " 0000 0a000001 0a000002 "
}

func ip6head(length, proto string) string { return "86dd 6b112345 " + length + proto + "40 " + ip6 }

func bytesOf(t *testing.T, text string) []byte {
	t.Helper()
	return unhex(t, strings.ReplaceAll(text, " ", ""))
}

// extractions tells, for each rule of extraction, a frame and what the switch sees in it. The
// beginning that all have in common is left out.
var extractions = []struct{ rule, frame, want string }{
	{"802.3 has no type", "0026 42420300000000", "|dl_type=0x05ff"},
	{"SNAP has a type", "0026 aaaa03000000 88cc", "|dl_type=0x88cc"},
	{"SNAP of another organisation", "0026 aaaa0300000f 88cc", "|dl_type=0x05ff"},
	{"SNAP with a length for a type", "0026 aaaa03000000 05ff", "|dl_type=0x05ff"},
	{"SNAP cut short", "0026 aaaa03000000 88", "|dl_type=0x05ff"},
	{"smallest type", "0600", "|dl_type=0x0600"},
	{"tag", "8100 2005 88cc", "dl_vlan=5,dl_vlan_pcp=1|dl_type=0x88cc"},
	{"CFI always reads as set", "8100 3005 88cc", "dl_vlan=5,dl_vlan_pcp=1|dl_type=0x88cc"},
	{"service tag", "88a8 0000 88cc", "dl_vlan=0,dl_vlan_pcp=0|dl_type=0x88cc"},
	{"0x9100 is no tag", "9100 0005 88cc", "|dl_type=0x9100"},
	{"second tag is not parsed", "8100 0005 8100 0006 88cc", "dl_vlan=5,dl_vlan_pcp=0|dl_type=0x8100"},
	{"tag cut short", "8100 0005 88", "|dl_type=0x8100"},

	{"TCP", ip4("0028", "4000", "06") + tcp, "tcp|nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_tos=0,nw_ecn=0,nw_ttl=64,nw_frag=no,tp_src=1000,tp_dst=80,tcp_flags=syn|ack"},
	{"behind a tag", "8100 0005 " + ip4("0028", "4000", "06") + tcp, "tcp dl_vlan=5,dl_vlan_pcp=0|nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_tos=0,nw_ecn=0,nw_ttl=64,nw_frag=no,tp_src=1000,tp_dst=80,tcp_flags=syn|ack"},
	{"version is not looked at", "0800 f5ff 0018 0001 4000 01 2f ffff 00000000 ffffffff 01020304", "ip|nw_src=0.0.0.0,nw_dst=255.255.255.255,nw_proto=47,nw_tos=252,nw_ecn=3,nw_ttl=1,nw_frag=no"},
	{"options", "0800 4600 0020 0001 4000 40 11 0000 0a000001 0a000002 01010100 " + udp, "udp|nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_tos=0,nw_ecn=0,nw_ttl=64,nw_frag=no,tp_src=1000,tp_dst=53"},
	{"padding", ip4("001c", "0000", "11") + udp + "ffffffff", "udp|nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_tos=0,nw_ecn=0,nw_ttl=64,nw_frag=no,tp_src=1000,tp_dst=53"},
	{"header cut short", "0800 4500 0014 0001 4000 40 11 0000 0a000001 0a0000", noIPv4},
	{"ihl below 5", "0800 4400 0014 0001 4000 40 11 0000 0a000001 0a000002", noIPv4},
	{"ihl beyond the frame", "0800 4600 0014 0001 4000 40 11 0000 0a000001 0a000002", noIPv4},
	{"ihl beyond the total", "0800 4600 0014 0001 4000 40 11 0000 0a000001 0a000002 00000000", noIPv4},
	{"total beyond the frame", ip4("001d", "0000", "11") + udp, noIPv4},
	{"total cuts UDP", ip4("001b", "0000", "11") + udp, "udp|nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_tos=0,nw_ecn=0,nw_ttl=64,nw_frag=no,tp_src=0,tp_dst=0"},
	{"length of UDP is not looked at", ip4("001c", "0000", "11") + "03e80035 ffff 0000", "udp|nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_tos=0,nw_ecn=0,nw_ttl=64,nw_frag=no,tp_src=1000,tp_dst=53"},
	{"TCP below 20 bytes", ip4("0027", "0000", "06") + tcp, noPorts},
	{"data offset below 5", ip4("0028", "0000", "06") + "03e80050 00000001 00000002 4012 ffff 0000 0000 ", noPorts},
	{"data offset beyond the packet", ip4("0028", "0000", "06") + "03e80050 00000001 00000002 6012 ffff 0000 0000 00000000", noPorts},
	{"reserved TCP flags", ip4("0028", "0000", "06") + "03e80050 00000001 00000002 5fff ffff 0000 0000 ", "tcp|nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_tos=0,nw_ecn=0,nw_ttl=64,nw_frag=no,tp_src=1000,tp_dst=80,tcp_flags=fin|syn|rst|psh|ack|urg|ece|cwr|ns|[200]|[400]|[800]"},
	{"ICMP", ip4("001c", "0000", "01") + "0301 0000 00000000", "icmp|nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_tos=0,nw_ecn=0,nw_ttl=64,nw_frag=no,icmp_type=3,icmp_code=1"},
	{"ICMP below 8 bytes", ip4("001b", "0000", "01") + "0301 0000 000000", "icmp|nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_tos=0,nw_ecn=0,nw_ttl=64,nw_frag=no,icmp_type=0,icmp_code=0"},
	{"SCTP", ip4("0020", "0000", "84") + "03e80050 00000000 00000000", "sctp|nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_tos=0,nw_ecn=0,nw_ttl=64,nw_frag=no,tp_src=1000,tp_dst=80"},
	{"SCTP below 12 bytes", ip4("001f", "0000", "84") + "03e80050 00000000 000000", "sctp|nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_tos=0,nw_ecn=0,nw_ttl=64,nw_frag=no,tp_src=0,tp_dst=0"},
	{"IGMP type is a port", ip4("001c", "0000", "02") + "1664 0000 e0000001", "ip|nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_proto=2,nw_tos=0,nw_ecn=0,nw_ttl=64,nw_frag=no,tp_src=22,tp_dst=100"},
	{"first fragment", ip4("0028", "2000", "06") + tcp, "tcp|nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_tos=0,nw_ecn=0,nw_ttl=64,nw_frag=first,tp_src=1000,tp_dst=80,tcp_flags=syn|ack"},
	{"later fragment", ip4("0028", "2001", "06") + tcp, "tcp|nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_tos=0,nw_ecn=0,nw_ttl=64,nw_frag=later"},
	{"last fragment", ip4("0028", "0001", "06") + tcp, "tcp|nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_tos=0,nw_ecn=0,nw_ttl=64,nw_frag=later"},
	{"reserved flag", ip4("001c", "8000", "11") + udp, "udp|nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_tos=0,nw_ecn=0,nw_ttl=64,nw_frag=no,tp_src=1000,tp_dst=53"},

	{"IPv6", ip6head("0014", "06") + tcp, "tcp6|ipv6_src=fd00::1,ipv6_dst=fd00::2,ipv6_label=0x12345,nw_tos=176,nw_ecn=1,nw_ttl=64,nw_frag=no,tp_src=1000,tp_dst=80,tcp_flags=syn|ack"},
	{"IPv6 cut short", "86dd 6b112345 0000 3b 40 fd000000000000000000000000000001 fd0000000000000000000000000000", noIPv6},
	{"IPv6 length beyond the frame", ip6head("0015", "06") + tcp, noIPv6},
	{"extension headers", ip6head("002c", "00") + "2b00 000000000000 3c00 000000000000 0600 000000000000 " + tcp, "tcp6|ipv6_src=fd00::1,ipv6_dst=fd00::2,ipv6_label=0x12345,nw_tos=176,nw_ecn=1,nw_ttl=64,nw_frag=no,tp_src=1000,tp_dst=80,tcp_flags=syn|ack"},
	{"authentication header", ip6head("0014", "33") + "1101 0000 00000000 00000000 " + udp, "udp6|ipv6_src=fd00::1,ipv6_dst=fd00::2,ipv6_label=0x12345,nw_tos=176,nw_ecn=1,nw_ttl=64,nw_frag=no,tp_src=1000,tp_dst=53"},
	{"extension beyond the packet", ip6head("0010", "00") + "1101 000000000000 " + udp, "udp6|ipv6_src=fd00::1,ipv6_dst=fd00::2,ipv6_label=0x12345,nw_tos=176,nw_ecn=1,nw_ttl=64,nw_frag=no,tp_src=0,tp_dst=0"},
	{"extension that overruns", ip6head("0010", "00") + "1102 000000000000 " + udp, "ipv6|ipv6_src=fd00::1,ipv6_dst=fd00::2,ipv6_label=0x00000,nw_proto=0,nw_tos=0,nw_ecn=0,nw_ttl=0,nw_frag=no"},
	{"extension below 8 bytes", ip6head("0007", "00") + "1100 0000000000", "ipv6|ipv6_src=fd00::1,ipv6_dst=fd00::2,ipv6_label=0x00000,nw_proto=0,nw_tos=0,nw_ecn=0,nw_ttl=0,nw_frag=no"},
	{"first IPv6 fragment", ip6head("0010", "2c") + "1100 0001 00000000 " + udp, "udp6|ipv6_src=fd00::1,ipv6_dst=fd00::2,ipv6_label=0x12345,nw_tos=176,nw_ecn=1,nw_ttl=64,nw_frag=first,tp_src=1000,tp_dst=53"},
	{"later IPv6 fragment", ip6head("0010", "2c") + "1100 0009 00000000 " + udp, "ipv6|ipv6_src=fd00::1,ipv6_dst=fd00::2,ipv6_label=0x12345,nw_proto=44,nw_tos=176,nw_ecn=1,nw_ttl=64,nw_frag=later"},
	{"atomic fragment is none", ip6head("0010", "2c") + "1100 0000 00000000 " + udp, "udp6|ipv6_src=fd00::1,ipv6_dst=fd00::2,ipv6_label=0x12345,nw_tos=176,nw_ecn=1,nw_ttl=64,nw_frag=no,tp_src=1000,tp_dst=53"},
	{"reserved bits make a fragment", ip6head("0010", "2c") + "1100 0002 00000000 " + udp, "udp6|ipv6_src=fd00::1,ipv6_dst=fd00::2,ipv6_label=0x12345,nw_tos=176,nw_ecn=1,nw_ttl=64,nw_frag=first,tp_src=1000,tp_dst=53"},
	{"no next header", ip6head("0000", "3b"), "ipv6|ipv6_src=fd00::1,ipv6_dst=fd00::2,ipv6_label=0x12345,nw_proto=59,nw_tos=176,nw_ecn=1,nw_ttl=64,nw_frag=no"},

	{"neighbour solicitation", ip6head("0020", "3a") + "8700 0000 00000000 fd000000000000000000000000000002 " + ll1, nd("135", "0", "fd00::2", "0a:00:00:00:00:01", "00:00:00:00:00:00")},
	{"neighbour advertisement", ip6head("0020", "3a") + "8800 0000 60000000 fd000000000000000000000000000002 " + ll2, nd("136", "0", "fd00::2", "00:00:00:00:00:00", "0a:00:00:00:00:02")},
	{"one option of each kind", ip6head("0030", "3a") + "8700 0000 00000000 fd000000000000000000000000000002 " + "0501 000000000000 " + ll2 + ll1, nd("135", "0", "fd00::2", "0a:00:00:00:00:01", "0a:00:00:00:00:02")},
	{"option given twice", ip6head("0028", "3a") + "8700 0000 00000000 fd000000000000000000000000000002 " + ll1 + ll1, nd("135", "0", "::", "00:00:00:00:00:00", "00:00:00:00:00:00")},
	{"option without length", ip6head("0028", "3a") + "8700 0000 00000000 fd000000000000000000000000000002 0100 000000000000 " + ll1, nd("135", "0", "fd00::2", "00:00:00:00:00:00", "00:00:00:00:00:00")},
	{"long option is another", ip6head("0028", "3a") + "8700 0000 00000000 fd000000000000000000000000000002 0102 000000000000 " + ll1, nd("135", "0", "fd00::2", "00:00:00:00:00:00", "00:00:00:00:00:00")},
	{"target cut short", ip6head("0017", "3a") + "8700 0000 00000000 fd0000000000000000000000000000", nd("135", "0", "::", "00:00:00:00:00:00", "00:00:00:00:00:00")},
	{"code is not 0", ip6head("0020", "3a") + "8701 0000 00000000 fd000000000000000000000000000002 " + ll1, "icmp6|ipv6_src=fd00::1,ipv6_dst=fd00::2,ipv6_label=0x12345,nw_tos=176,nw_ecn=1,nw_ttl=64,nw_frag=no,icmp_type=135,icmp_code=1"},
	{"router solicitation", ip6head("0008", "3a") + "8500 0000 00000000", "icmp6|ipv6_src=fd00::1,ipv6_dst=fd00::2,ipv6_label=0x12345,nw_tos=176,nw_ecn=1,nw_ttl=64,nw_frag=no,icmp_type=133,icmp_code=0"},

	{"ARP", "0806 0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a000002", "arp|arp_spa=10.0.0.1,arp_tpa=10.0.0.2,arp_op=1,arp_sha=02:00:00:00:00:01,arp_tha=00:00:00:00:00:00"},
	{"RARP", "8035 0001 0800 06 04 0003 020000000001 0a000001 000000000000 0a000002", "rarp|arp_spa=10.0.0.1,arp_tpa=10.0.0.2,arp_op=3,arp_sha=02:00:00:00:00:01,arp_tha=00:00:00:00:00:00"},
	{"opcode above 255", "0806 0001 0800 06 04 0101 020000000001 0a000001 000000000000 0a000002", "arp|arp_spa=10.0.0.1,arp_tpa=10.0.0.2,arp_op=0,arp_sha=02:00:00:00:00:01,arp_tha=00:00:00:00:00:00"},
	{"hardware other than Ethernet", "0806 0006 0800 06 04 0001 020000000001 0a000001 000000000000 0a000002", noARP},
	{"protocol other than IPv4", "0806 0001 86dd 06 04 0001 020000000001 0a000001 000000000000 0a000002", noARP},
	{"long addresses", "0806 0001 0800 08 04 0001 020000000001 0a000001 000000000000 0a000002", noARP},
	{"ARP cut short", "0806 0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a0000", noARP},

	{"MPLS", "8847 00001 1 40 45000000", "mpls|mpls_label=1,mpls_tc=0,mpls_ttl=64,mpls_bos=1"},
	{"MPLS stack", "8848 00001 040 00002 140", "mplsm|mpls_label=1,mpls_tc=0,mpls_ttl=64,mpls_bos=0,mpls_lse1=8512"},
}

const (
	noIPv4  = "ip|nw_src=0.0.0.0,nw_dst=0.0.0.0,nw_proto=0,nw_tos=0,nw_ecn=0,nw_ttl=0,nw_frag=no"
	noIPv6  = "ipv6|ipv6_src=::,ipv6_dst=::,ipv6_label=0x00000,nw_proto=0,nw_tos=0,nw_ecn=0,nw_ttl=0,nw_frag=no"
	noPorts = "tcp|nw_src=10.0.0.1,nw_dst=10.0.0.2,nw_tos=0,nw_ecn=0,nw_ttl=64,nw_frag=no,tp_src=0,tp_dst=0,tcp_flags=0"
	noARP   = "arp|arp_spa=0.0.0.0,arp_tpa=0.0.0.0,arp_op=0,arp_sha=00:00:00:00:00:00,arp_tha=00:00:00:00:00:00"
)

func nd(kind, code, target, sll, tll string) string {
	return "icmp6|ipv6_src=fd00::1,ipv6_dst=fd00::2,ipv6_label=0x12345,nw_tos=176,nw_ecn=1,nw_ttl=64,nw_frag=no," +
		"icmp_type=" + kind + ",icmp_code=" + code + ",nd_target=" + target + ",nd_sll=" + sll + ",nd_tll=" + tll
}

// whole completes what the table says to a "Flow:" line.
func whole(want string) string {
	head, tail, _ := strings.Cut(want, "|")
	keyword, tags, tagged := strings.Cut(head, " ")
	if strings.HasPrefix(head, "dl_vlan") {
		keyword, tags, tagged = "", head, true
	}
	if keyword != "" {
		keyword += ","
	}
	if tagged {
		tags += ",vlan_tci1=0x0000"
	} else {
		tags = "vlan_tci=0x0000"
	}
	return keyword + "in_port=1," + tags + ",dl_src=02:00:00:00:00:01,dl_dst=02:00:00:00:00:02," + tail
}

func TestExtract(t *testing.T) {
	for _, c := range extractions {
		require.Equal(t, whole(c.want), extracted(bytesOf(t, macs+c.frame)), c.rule)
	}
}

// TestTableOfExtractions holds the table above against the real switch.
func TestTableOfExtractions(t *testing.T) {
	sw := dummy.ForTest(t, dummy.Config{Ports: dummy.NumberedPorts(1)})
	for _, c := range extractions {
		require.Equal(t, whole(c.want), traced(t, sw, bytesOf(t, macs+c.frame)), c.rule)
	}
}

func TestExtractNothing(t *testing.T) {
	for n := range ethLen {
		k := Key{wordReg: 1, wordCT: 2, wordDst: 3}
		l, ok := Extract(make([]byte, n), 7, &k)
		require.False(t, ok)
		require.Equal(t, n, l.Len)
		require.Equal(t, Key{wordL2: 7 << shiftInPort}, k)
	}
}

func TestLayout(t *testing.T) {
	for _, c := range []struct {
		frame            string
		l3, l4, pad, len int
	}{
		{ip4("0028", "0000", "06") + tcp, 14, 34, 0, 20},
		{"8100 0005 " + ip4("001c", "0000", "11") + udp + "ffff", 18, 38, 2, 8},
		{ip4("0028", "2001", "06") + tcp, 14, 34, 0, 20},
		{"0026 aaaa03000000 " + ip4("001c", "0000", "11") + udp, 22, 42, 0, 8},
		{ip6head("0010", "2c") + "1100 0009 00000000 " + udp + "ff", 14, 62, 1, 8},
		{ip6head("0010", "00") + "1102 000000000000 " + udp, 14, absent, 0, 0},
		{ip4("001d", "0000", "11") + udp, 14, absent, 0, 0},
		{"0806 0001", 14, absent, 0, 0},
	} {
		var k Key
		f := bytesOf(t, macs+c.frame)
		l, ok := Extract(f, 1, &k)
		require.True(t, ok)
		require.Equal(t, Layout{Len: len(f), L3: uint16(c.l3), L4: uint16(c.l4), Pad: uint16(c.pad)}, l, c.frame)
		require.Equal(t, c.len, l.L4Len())
		require.Equal(t, c.l4 != absent, l.HasL4())
	}
}

func TestRefreshKeepsMetadata(t *testing.T) {
	m := newMaker(seed())
	for range 500 {
		var k, fresh Key
		for i := range k {
			k[i] = m.Uint64()
		}
		before := k
		f := m.frame()
		l, ok := Refresh(f, &k)
		lFresh, okFresh := Extract(f, before.InPort(), &fresh)
		require.Equal(t, okFresh, ok)
		require.Equal(t, lFresh, l)
		require.Equal(t, before[:firstHeader], k[:firstHeader])
		require.Equal(t, fresh[firstHeader:], k[firstHeader:])
		copied := before
		copied.CopyFrame(&fresh)
		require.Equal(t, k, copied)
	}
}
