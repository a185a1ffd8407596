package conntrack_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
	"hpnn/simbackend/conntrack"
)

// edited is a frame with bytes changed behind its Ethernet header.
func edited(f framer, edit func(ip []byte)) raw {
	frame := slices.Clone(f.frame())
	edit(frame[14:])
	return frame
}

// mendIP makes the header checksum right again, mendL4 that of TCP, UDP or ICMP.
func mendIP(ip []byte) {
	h := ip[:int(ip[0]&15)*4]
	put16(h, 10, 0)
	put16(h, 10, packet.Checksum(h))
}

func mendL4(ip []byte) {
	b := ip[int(ip[0]&15)*4 : packet.Word(ip, 2)]
	at := map[byte]int{protoTCP: 16, protoUDP: 6, protoICMP: 2}[ip[9]]
	put16(b, at, 0)
	if ip[9] == protoICMP {
		put16(b, at, packet.Checksum(b))
		return
	}
	put16(b, at, l4sum([4]byte(ip[12:16]), [4]byte(ip[16:20]), ip[9], b))
}

func set(at int, v ...byte) func([]byte) { return func(ip []byte) { copy(ip[at:], v) } }

// mended changes bytes and leaves all checksums right.
func mended(f framer, at int, v ...byte) raw {
	return edited(f, func(ip []byte) {
		copy(ip[at:], v)
		mendL4(ip)
		mendIP(ip)
	})
}

// TestValidity: which packets get a key at all.
func TestValidity(t *testing.T) {
	someTCP := seg(up, "S", 1000, 0, 8)
	someUDP := udp{flow: up, payload: make([]byte, 8)}
	ping := echo(client, server, 8, 1, 1)
	s := newStory(t, through(commit(1)))
	for name, c := range map[string]struct {
		f     framer
		state string
	}{
		"tcp":                               {someTCP, "new|trk"},
		"udp":                               {someUDP, "new|trk"},
		"ping":                              {ping, "new|trk"},
		"ip checksum bad":                   {edited(someTCP, set(8, 63)), "inv|trk"},
		"ip options":                        {ip4{src: client, dst: server, proto: protoUDP, options: []byte{1, 1, 1, 0}, payload: someUDP.ip().payload}.asFrame(), "new|trk"},
		"ip version 5":                      {edited(someUDP, func(ip []byte) { ip[0] = 0x55; mendIP(ip) }), "new|trk"},
		"ip header too short":               {edited(someUDP, func(ip []byte) { ip[0] = 0x44; mendIP(ip) }), "inv|trk"},
		"ip header longer than packet":      {edited(someUDP, set(0, 0x4f)), "inv|trk"},
		"ip longer than frame":              {edited(someUDP, func(ip []byte) { put16(ip, 2, 200); mendIP(ip) }), "inv|trk"},
		"ip shorter than its header":        {edited(someUDP, func(ip []byte) { put16(ip, 2, 19); mendIP(ip) }), "inv|trk"},
		"do not fragment":                   {mended(someUDP, 6, 0x40), "new|trk"},
		"reserved bit":                      {mended(someUDP, 6, 0x80), "new|trk"},
		"first fragment":                    {mended(someUDP, 6, 0x20), "inv|trk"},
		"padding":                           {padded(someTCP, 10), "new|trk"},
		"tcp checksum bad":                  {edited(someTCP, set(20+4, 9)), "inv|trk"},
		"tcp header cut":                    {edited(seg(up, "S", 1000, 0, 0), func(ip []byte) { put16(ip, 2, 39); mendIP(ip) }), "inv|trk"},
		"tcp offset 4":                      {mended(someTCP, 20+12, 0x40), "inv|trk"},
		"tcp offset to the end":             {mended(someTCP, 20+12, 0x70), "new|trk"},
		"tcp offset beyond":                 {mended(someTCP, 20+12, 0x80), "inv|trk"},
		"tcp source port 0":                 {mended(someTCP, 20, 0, 0), "inv|trk"},
		"tcp destination port 0":            {mended(someTCP, 22, 0, 0), "inv|trk"},
		"udp checksum bad":                  {edited(someUDP, set(28, 1)), "inv|trk"},
		"udp checksum none":                 {udp{flow: up, payload: make([]byte, 8), noChecksum: true}, "new|trk"},
		"udp length 7":                      {mended(someUDP, 24, 0, 7), "inv|trk"},
		"udp length short":                  {mended(someUDP, 24, 0, 9), "new|trk"},
		"udp length long":                   {mended(someUDP, 24, 0, 17), "inv|trk"},
		"udp header cut":                    {edited(someUDP, func(ip []byte) { put16(ip, 2, 27); mendIP(ip) }), "inv|trk"},
		"udp source port 0":                 {mended(someUDP, 20, 0, 0), "inv|trk"},
		"udp destination port 0":            {mended(someUDP, 22, 0, 0), "inv|trk"},
		"icmp checksum bad":                 {edited(ping, set(28, 1)), "inv|trk"},
		"icmp cut":                          {icmp{src: client, dst: server, kind: 8, rest: make([]byte, 3)}, "inv|trk"},
		"icmp shortest":                     {icmp{src: client, dst: server, kind: 8, rest: make([]byte, 4)}, "new|trk"},
		"icmp code 1":                       {mended(ping, 21, 1), "inv|trk"},
		"icmp timestamp":                    {echo(client, server, 13, 1, 1), "new|trk"},
		"icmp information":                  {echo(client, server, 15, 1, 1), "new|trk"},
		"icmp echo reply first":             {echo(client, server, 0, 1, 1), "inv|trk"},
		"icmp timestamp reply first":        {echo(client, server, 14, 1, 1), "inv|trk"},
		"icmp router advertisement":         {echo(client, server, 9, 1, 1), "inv|trk"},
		"icmp address mask":                 {echo(client, server, 17, 1, 1), "inv|trk"},
		"gre":                               {ip4{src: client, dst: server, proto: 47, payload: []byte{1}}.asFrame(), "new|trk"},
		"sctp, not looked into":             {ip4{src: client, dst: server, proto: 132}.asFrame(), "new|trk"},
		"icmpv6 echo request over ipv4":     {ip4{src: client, dst: server, proto: 58, payload: []byte{128}}.asFrame(), "new|trk"},
		"icmpv6 something else over ipv4":   {ip4{src: client, dst: server, proto: 58, payload: []byte{129}}.asFrame(), "inv|trk"},
		"odd length":                        {udp{flow: up, payload: []byte{1, 2, 3}}, "new|trk"},
		"own address to own address":        {udp{flow: flow{client, client, 5, 5}}, "new|trk"},
		"udp checksum that would be zero":   {udp{flow: up, payload: []byte{0x07, 0x9f}}, "new|trk"},
		"nothing behind the ip header":      {ip4{src: client, dst: server, proto: 253}.asFrame(), "new|trk"},
		"tcp with nothing behind ip header": {ip4{src: client, dst: server, proto: protoTCP}.asFrame(), "inv|trk"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.with(t)
			before := c.f.frame()
			p := s.expect(c.state, 0, c.f)
			require.Equal(t, before[14:], p.Frame[14:], "tracking alone changes nothing")
			require.Equal(t, p.Meta.State&conntrack.StateNew != 0, s.table.Len() == 1)
		})
	}
}

func (p ip4) asFrame() raw { return p.frame() }

func padded(f framer, n int) raw { return append(f.frame(), make([]byte, n)...) }

// TestNotIPv4: what is not IPv4, or not there, is invalid and never a panic.
func TestNotIPv4(t *testing.T) {
	whole := seg(up, "S", 1000, 0, 0).frame()
	for name, p := range map[string]conntrack.Packet{
		"empty":          {},
		"no network":     {Frame: whole, EtherType: 0x0800},
		"offset outside": {Frame: whole, L3: 1000, EtherType: 0x0800},
		"ipv6":           {Frame: whole, L3: 14, EtherType: 0x86dd},
		"arp":            {Frame: whole, L3: 14, EtherType: 0x0806},
		"cut":            {Frame: whole[:33], L3: 14, EtherType: 0x0800},
	} {
		t.Run(name, func(t *testing.T) {
			table := conntrack.New(conntrack.Config{})
			require.Zero(t, table.Execute(0, &p, &conntrack.Request{Zone: 3, Commit: true}))
			require.Equal(t, "inv|trk", p.Meta.State.String())
			require.EqualValues(t, 3, p.Meta.Zone)
			require.Zero(t, table.Len())
		})
	}
}
