package packet_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
)

func TestSummary(t *testing.T) {
	all := examples()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.WriteString(name + ": " + packet.Summary(all[name]) + "\n")
	}
	require.Equal(t, `arp reply: ARP reply 192.168.5.21 is-at 02:42:c0:a8:05:14 to 192.168.5.13
arp request: ARP who-has 192.168.5.21 tell 192.168.5.13 (02:00:00:00:00:13)
echo: ICMP 192.168.5.13 > 192.168.5.21 echo request id 7 seq 1 len 4 ttl 64
echo6: ICMP6 fd00::13 > fd00::21 echo request id 7 seq 1 len 4 ttl 64
extended: UDP [fd00::13]:5353 > [fd00::21]:53 len 8 ttl 64
first: UDP 192.168.5.13:5353 > 192.168.5.21:53 len 0 ttl 64 frag 0+
gre: IP 192.168.5.13 > 192.168.5.21 proto 47 len 8 ttl 64
ip options: TCP 192.168.5.13:40000 > 192.168.5.21:80 [S] seq 1 win 64240 len 0 ttl 64
last: IP 192.168.5.13 > 192.168.5.21 proto 17 len 8 ttl 64 frag 8
later6: IP fd00::13 > fd00::21 proto 17 len 10 ttl 64 frag 8+
llc: 02:00:00:00:00:13 > 02:42:c0:a8:05:14 802.3 len 4
lldp: 02:00:00:00:00:13 > 02:42:c0:a8:05:14 type 0x88cc len 4
padded: TCP 192.168.5.13:40000 > 192.168.5.21:80 [S] seq 1 win 64240 len 0 ttl 64
tagged: vlan 5 vlan 10 TCP 192.168.5.13:40000 > 192.168.5.21:80 [S] seq 1 win 64240 len 0 ttl 64
tcp: TCP 192.168.5.13:40000 > 192.168.5.21:80 [P.] seq 1 ack 99 win 64240 len 18 ttl 64
tcp6: TCP [fd00::13]:40000 > [fd00::21]:80 [S] seq 1 win 64240 len 0 ttl 64
too big: ICMP6 fd00::13 > fd00::21 type 2 code 0 len 60 about {TCP [fd00::13]:40000 > [fd00::21]:80 [S] seq 1 win 64240 len 0 ttl 64} ttl 64
udp: UDP 192.168.5.13:5353 > 192.168.5.21:53 len 8 ttl 64
udp6: UDP [fd00::13]:5353 > [fd00::21]:53 len 8 ttl 64
unreachable: ICMP 192.168.5.13 > 192.168.5.21 type 3 code 4 len 28 about {TCP 192.168.5.13:40000 > 192.168.5.21:80 seq 1 ttl 64} ttl 64
unsummed: UDP 192.168.5.13:5353 > 192.168.5.21:53 len 8 ttl 64
`, b.String())
}

func TestSummaryOfOddFrames(t *testing.T) {
	tcp := examples()["tcp"]
	for _, c := range []struct {
		name  string
		frame []byte
		want  string
	}{
		{"nothing", nil, "0 bytes, no Ethernet header"},
		{"13 bytes", tcp[:13], "13 bytes, no Ethernet header"},
		{"Ethernet alone", tcp[:14], "02:00:00:00:00:13 > 02:42:c0:a8:05:14 type 0x0800 malformed len 0"},
		{"IP header cut", tcp[:33], "02:00:00:00:00:13 > 02:42:c0:a8:05:14 type 0x0800 malformed len 19"},
		{"TCP header cut", tcp[:50], "IP 192.168.5.13 > 192.168.5.21 proto 6 malformed len 38 ttl 64 (cut: 36 of 58 bytes)"},
		{"payload cut", tcp[:60], "TCP 192.168.5.13:40000 > 192.168.5.21:80 [P.] seq 1 ack 99 win 64240 len 18 ttl 64 (cut: 46 of 58 bytes)"},
		{"version 5", edit(tcp, 14, "\x55"), "02:00:00:00:00:13 > 02:42:c0:a8:05:14 type 0x0800 malformed len 58"},
		{"header length 4", edit(tcp, 14, "\x44"), "02:00:00:00:00:13 > 02:42:c0:a8:05:14 type 0x0800 malformed len 58"},
		{"data offset 15", edit(tcp, 46, "\xf0"), "IP 192.168.5.13 > 192.168.5.21 proto 6 malformed len 38 ttl 64"},
		{"total length cuts TCP", edit(tcp, 16, "\x00\x20"), "IP 192.168.5.13 > 192.168.5.21 proto 6 malformed len 12 ttl 64"},
		{"tag cut", edit(tcp, 12, "\x81\x00")[:17], "02:00:00:00:00:13 > 02:42:c0:a8:05:14 type 0x8100 len 3"},
		{"ARP of another kind", edit(examples()["arp reply"], 14, "\x00\x06"), "02:42:c0:a8:05:14 > 02:00:00:00:00:13 type 0x0806 malformed len 28"},
		{"reverse ARP", edit(examples()["arp reply"], 21, "\x04"), "ARP op 4 192.168.5.21 > 192.168.5.13"},
	} {
		require.Equal(t, c.want, packet.Summary(c.frame), c.name)
	}
}
