package packet

import (
	"fmt"
	"net/netip"
)

// kind is a kind of header: its name and its fields. Diff is driven by these tables alone;
// a new field needs a row here, a new header a table and its place in the dissector.
type kind struct {
	name   string
	size   int     // bytes the fields cover; options may follow
	fields []field // in the order of the header
}

// field is a part of a header.
type field struct {
	name  string
	bit   int // offset in the header
	width int // in bits; more than 32 only on byte boundaries
	show  func(value []byte, number uint64) string
}

// How fields are shown: numbers take the value as a number, addresses its bytes.
func dec(_ []byte, n uint64) string   { return fmt.Sprint(n) }
func hex(_ []byte, n uint64) string   { return fmt.Sprintf("%#x", n) }
func mac(b []byte, _ uint64) string   { return MAC(b).String() }
func flags(_ []byte, n uint64) string { return Flags(n).String() }
func addr(b []byte, _ uint64) string {
	a, _ := netip.AddrFromSlice(b)
	return a.String()
}

// value shows the field of a header; ok is false if the header is cut before it.
func (f field) value(header []byte) (text string, ok bool) {
	last := (f.bit + f.width + 7) / 8
	if last > len(header) {
		return "", false
	}
	b := header[f.bit/8 : last]
	number := uint64(0)
	for _, octet := range b {
		number = number<<8 | uint64(octet)
	}
	number >>= uint(last*8 - f.bit - f.width)
	if f.width < 64 {
		number &= 1<<f.width - 1
	}
	return f.show(b, number), true
}

// The kinds of headers known, with the names tools commonly give their fields: Ethernet
// and its tags, ARP (RFC 826), IPv4 (RFC 791), IPv6 and its extensions (RFC 8200), TCP
// (RFC 9293), UDP (RFC 768), ICMP (RFC 792, RFC 4443), and two that have no fields.
var (
	ethKind = &kind{"eth", 14, []field{
		{"dst", 0, 48, mac}, {"src", 48, 48, mac}, {"type", 96, 16, hex}}}
	vlanKind = &kind{"vlan", 4, []field{
		{"pcp", 0, 3, dec}, {"dei", 3, 1, dec}, {"id", 4, 12, dec}, {"type", 16, 16, hex}}}
	arpKind = &kind{"arp", 28, []field{
		{"htype", 0, 16, dec}, {"ptype", 16, 16, hex}, {"hlen", 32, 8, dec}, {"plen", 40, 8, dec},
		{"op", 48, 16, dec}, {"sha", 64, 48, mac}, {"spa", 112, 32, addr}, {"tha", 144, 48, mac}, {"tpa", 192, 32, addr}}}
	ip4Kind = &kind{"ip", 20, []field{
		{"version", 0, 4, dec}, {"ihl", 4, 4, dec}, {"tos", 8, 8, hex}, {"len", 16, 16, dec}, {"id", 32, 16, dec},
		{"flags", 48, 3, hex}, {"frag", 51, 13, dec}, {"ttl", 64, 8, dec}, {"proto", 72, 8, dec}, {"csum", 80, 16, hex},
		{"src", 96, 32, addr}, {"dst", 128, 32, addr}}}
	ip6Kind = &kind{"ip6", 40, []field{
		{"version", 0, 4, dec}, {"tos", 4, 8, hex}, {"flow", 12, 20, hex}, {"len", 32, 16, dec}, {"next", 48, 8, dec},
		{"ttl", 56, 8, dec}, {"src", 64, 128, addr}, {"dst", 192, 128, addr}}}
	extKind     = &kind{"ext", 2, []field{{"next", 0, 8, dec}, {"len", 8, 8, dec}}}
	routingKind = &kind{"routing", 4, []field{
		{"next", 0, 8, dec}, {"len", 8, 8, dec}, {"type", 16, 8, dec}, {"left", 24, 8, dec}}}
	fragKind = &kind{"frag", 8, []field{
		{"next", 0, 8, dec}, {"reserved", 8, 8, hex}, {"offset", 16, 13, dec}, {"flags", 29, 3, hex}, {"id", 32, 32, hex}}}
	tcpKind = &kind{"tcp", 20, []field{
		{"src", 0, 16, dec}, {"dst", 16, 16, dec}, {"seq", 32, 32, dec}, {"ack", 64, 32, dec}, {"doff", 96, 4, dec},
		{"reserved", 100, 3, hex}, {"flags", 103, 9, flags}, {"win", 112, 16, dec}, {"csum", 128, 16, hex}, {"urg", 144, 16, dec}}}
	udpKind = &kind{"udp", 8, []field{
		{"src", 0, 16, dec}, {"dst", 16, 16, dec}, {"len", 32, 16, dec}, {"csum", 48, 16, hex}}}
	icmpKind    = &kind{"icmp", 8, icmpFields}
	icmp6Kind   = &kind{"icmp6", 8, icmpFields}
	payloadKind = &kind{name: "payload"}
	trailerKind = &kind{name: "trailer"}
)

// icmpFields are those of both ICMPs. In errors id and seq are the two halves of the word
// that holds the MTU or nothing.
var icmpFields = []field{
	{"type", 0, 8, dec}, {"code", 8, 8, dec}, {"csum", 16, 16, hex}, {"id", 32, 16, dec}, {"seq", 48, 16, dec}}
