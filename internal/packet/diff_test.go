package packet_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
)

func TestDiffOfFields(t *testing.T) {
	dnat := syn
	dnat.IP.Dst, dnat.DstPort, dnat.IP.TTL = client, 8080, 63
	dnat.Eth = packet.Ether{Src: nodeMAC, Dst: clientMAC}
	require.Equal(t, strings.TrimSpace(`
eth.dst 02:42:c0:a8:05:14 != 02:00:00:00:00:13
eth.src 02:00:00:00:00:13 != 02:42:c0:a8:05:14
ip.ttl 64 != 63
ip.csum 0xef5d != 0xf065
ip.dst 192.168.5.21 != 192.168.5.13
tcp.dst 80 != 8080
tcp.csum 0x8ced != 0x6db5`), packet.Diff(syn.Bytes(), dnat.Bytes()))
}

func TestDiff(t *testing.T) {
	data := syn
	data.Payload = []byte("hello world, how are you today?")
	options := syn
	options.Options = packet.MSS(1460)
	tagged := syn
	tagged.Eth.Tags = []packet.Tag{{ID: 10, Priority: 3}}
	other := tagged
	other.Eth.Tags = []packet.Tag{{ID: 11}}
	tcp6 := syn
	tcp6.IP = toVIP6
	request := packet.ARPRequest(clientMAC, client, vip)
	unreachable := packet.ICMP{Eth: toNode, IP: toVIP, Type: packet.Unreachable, Code: 3, Payload: syn.Bytes()[14:42]}
	inner := unreachable
	inner.Payload = bytes.Clone(inner.Payload)
	inner.Payload[23] = 81 // last byte of the destination port

	for _, c := range []struct {
		name      string
		want, got []byte
		lines     string
	}{
		{"payload", data.Bytes(), edit(data.Bytes(), 54+6, "W", 54+14, "?!"), `
payload[6:7] 77 != 57
payload[14:16] 6f77 != 3f21`},
		{"payload shorter", data.Bytes(), data.Bytes()[:80], `
payload length 31 != 26`},
		{"payload missing", data.Bytes(), data.Bytes()[:54], `
payload missing: 68656c6c6f20776f726c642c20686f77… (31 bytes)`},
		{"padding", syn.Bytes(), packet.Pad(syn.Bytes()), `
trailer not wanted: 000000000000`},
		{"options", options.Bytes(), edit(options.Bytes(), 57, "\x00"), `
tcp.options[3:4] b4 != 00`},
		{"tag pushed", syn.Bytes(), tagged.Bytes(), `
eth.type 0x800 != 0x8100
vlan not wanted: 600a0800`},
		{"tag popped", tagged.Bytes(), syn.Bytes(), `
eth.type 0x8100 != 0x800
vlan missing: 600a0800`},
		{"tag changed", tagged.Bytes(), other.Bytes(), `
vlan.pcp 3 != 0
vlan.id 10 != 11`},
		{"arp", request.Bytes(), request.Reply(nodeMAC).Bytes(), `
eth.dst ff:ff:ff:ff:ff:ff != 02:00:00:00:00:13
eth.src 02:00:00:00:00:13 != 02:42:c0:a8:05:14
arp.op 1 != 2
arp.sha 02:00:00:00:00:13 != 02:42:c0:a8:05:14
arp.spa 192.168.5.13 != 192.168.5.21
arp.tha 00:00:00:00:00:00 != 02:00:00:00:00:13
arp.tpa 192.168.5.21 != 192.168.5.13`},
		{"other header", edit(syn.Bytes(), 23, "\x11"), syn.Bytes(), `
ip.proto 17 != 6
udp != tcp`},
		{"other header, other bytes", edit(syn.Bytes(), 23, "\x11", 53, "\x01"), syn.Bytes(), `
ip.proto 17 != 6
udp != tcp
bytes after that[19:20] 01 != 00`},
		{"ipv6", tcp6.Bytes(), edit(tcp6.Bytes(), 21, "\x01", 53, "\x99"), `
ip6.ttl 64 != 1
ip6.dst fd00::21 != fd00::99`},
		{"quoted packet", unreachable.Bytes(), inner.Bytes(), `
icmp.csum 0x606b != 0x606a
inner.tcp.dst 80 != 81`},
		{"no header at all", []byte("short"), []byte("shirt!"), `
payload length 5 != 6
payload[2:3] 6f != 69`},
		{"nothing", nil, syn.Bytes()[:14], `
eth not wanted: 0242c0a805140200000000130800`},
		{"many stretches", make([]byte, 13), []byte{1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7}, `
payload[0:1] 00 != 01
payload[2:3] 00 != 02
payload[4:5] 00 != 03
payload[6:7] 00 != 04
payload: more differences from 8 on`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, strings.TrimPrefix(c.lines, "\n"), packet.Diff(c.want, c.got))
			require.Equal(t, "", packet.Diff(c.got, slices.Clone(c.got)))
		})
	}
}

// edit gives a copy of b with texts put at offsets: edit(b, 4, "x", 9, "yz").
func edit(b []byte, changes ...any) []byte {
	b = bytes.Clone(b)
	for i := 0; i < len(changes); i += 2 {
		copy(b[changes[i].(int):], changes[i+1].(string))
	}
	return b
}

// Any changed bit of any frame is told, in both directions.
func TestDiffSeesEveryBit(t *testing.T) {
	for name, frame := range examples() {
		for i := range len(frame) * 8 {
			other := bytes.Clone(frame)
			other[i/8] ^= 0x80 >> (i % 8)
			require.NotEmpty(t, packet.Diff(frame, other), "%s bit %d", name, i)
			require.NotEmpty(t, packet.Diff(other, frame), "%s bit %d", name, i)
		}
	}
}
