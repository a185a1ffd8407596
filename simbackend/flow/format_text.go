package flow

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"strconv"

	of "hpnn/datapath/openflow"
)

// text builds the list of fields of k under m, separated by commas.
type text struct {
	k, m  *Key
	b     []byte
	start int // where the list begins in b
}

func (t *text) String() string { return string(t.b) }

// add appends a word, if it is one.
func (t *text) add(word string) {
	if word == "" {
		return
	}
	if len(t.b) > t.start {
		t.b = append(t.b, ',')
	}
	t.b = append(t.b, word...)
}

// begin appends "name=", what follows is up to the caller.
func (t *text) begin(name string) *text {
	t.add(name)
	t.b = append(t.b, '=')
	return t
}

func (t *text) hidden(f of.Field) bool { return t.m.Get(f).IsZero() }

func (t *text) decimalNumber(v uint64) { t.b = appendDecimal(t.b, v) }

// hexNumber appends v as C's %#x does: 0 has no prefix.
func (t *text) hexNumber(v uint64) {
	t.b = appendWide(t.b, 0, v)
}

// padded appends v in hexadecimal with a prefix and at least digits digits.
func (t *text) padded(v uint64, digits int) {
	t.b = append(t.b, "0x"...)
	for n := max(1, (bits.Len64(v)+3)/4); n < digits; n++ {
		t.b = append(t.b, '0')
	}
	t.b = strconv.AppendUint(t.b, v, 16)
}

// decimal appends a field that is either matched as a whole or not at all.
func (t *text) decimal(f of.Field) { t.named(f.String(), f) }

func (t *text) named(name string, f of.Field) {
	if !t.hidden(f) {
		t.begin(name).decimalNumber(t.k.Get(f).Lo)
	}
}

// hex appends a field of up to 64 bits in hexadecimal.
func (t *text) hex(f of.Field) {
	mask := t.m.Get(f)
	if mask.IsZero() {
		return
	}
	t.begin(f.String()).hexNumber(t.k.Get(f).And(mask).Lo)
	if mask != f.Mask() {
		t.b = append(t.b, '/')
		t.hexNumber(mask.Lo)
	}
}

// number appends a field of 16 bits: in decimal as a whole, in hexadecimal in part.
func (t *text) number(name string, f of.Field) { t.masked16(name, t.k.Get(f).Lo, t.m.Get(f).Lo) }

// number16 is number for the 16 bits of the transport word at shift: types and codes are 16 bits
// wide when it comes to masks.
func (t *text) number16(name string, shift int) {
	t.masked16(name, t.k[wordL4]>>shift&0xffff, t.m[wordL4]>>shift&0xffff)
}

func (t *text) masked16(name string, v, mask uint64) {
	switch mask {
	case 0:
	case 0xffff:
		t.begin(name).decimalNumber(v)
	default:
		t.begin(name).padded(v&mask, 1)
		t.b = append(t.b, '/')
		t.padded(mask, 1)
	}
}

func (t *text) label() {
	mask := t.m.Get(of.CTLabel)
	if mask.IsZero() {
		return
	}
	t.begin("ct_label").wide(t.k.Get(of.CTLabel).And(mask))
	if mask != of.Ones(128) {
		t.b = append(t.b, '/')
		t.wide(mask)
	}
}

func (t *text) wide(v of.Value) { t.b = appendWide(t.b, v.Hi, v.Lo) }

func (t *text) ipv4(name string, f of.Field) {
	mask := t.m.Get(f)
	if mask.IsZero() {
		return
	}
	t.begin(name).ipv4Number(t.k.Get(f).And(mask))
	if mask.Lo == 1<<32-1 {
		return
	}
	if n, ok := mask.PrefixLen(32); !ok {
		t.b = append(t.b, '/')
		t.ipv4Number(mask)
	} else if n < 32 {
		t.b = append(t.b, '/')
		t.decimalNumber(uint64(n))
	}
}

func (t *text) ipv4Number(v of.Value) { t.b = appendIPv4(t.b, uint32(v.Lo)) }

func (t *text) ipv6(name string, f of.Field) {
	mask := t.m.Get(f)
	if mask.IsZero() {
		return
	}
	t.begin(name).ipv6Number(t.k.Get(f).And(mask))
	if n, ok := mask.PrefixLen(128); !ok {
		t.b = append(t.b, '/')
		t.ipv6Number(mask)
	} else if n < 128 {
		t.b = append(t.b, '/')
		t.decimalNumber(uint64(n))
	}
}

// ipv6Number appends an address as inet_ntop(3) writes it.
func (t *text) ipv6Number(v of.Value) {
	if v.Hi == 0 && v.Lo>>32 == 0 && v.Lo>>16 != 0 {
		t.b = append(t.b, "::"...) // IPv4-compatible (RFC 4291, 2.5.5.1)
		t.ipv4Number(v)
		return
	}
	var a [16]byte
	binary.BigEndian.PutUint64(a[:], v.Hi)
	binary.BigEndian.PutUint64(a[8:], v.Lo)
	t.b = netip.AddrFrom16(a).AppendTo(t.b)
}

func (t *text) flowLabel() {
	mask := t.m.Get(of.IPv6Label).Lo
	if mask == 0 {
		return
	}
	t.begin("ipv6_label").padded(t.k.Get(of.IPv6Label).Lo&mask, 5)
	if mask != of.IPv6Label.Mask().Lo {
		t.b = append(t.b, '/')
		t.padded(mask, 5)
	}
}

func (t *text) mac(name string, f of.Field) {
	mask := t.m.Get(f).Lo
	if mask == 0 {
		return
	}
	t.begin(name).macNumber(t.k.Get(f).Lo & mask)
	if mask != 1<<48-1 {
		t.b = append(t.b, '/')
		t.macNumber(mask)
	}
}

func (t *text) macNumber(v uint64) { t.b = appendMAC(t.b, v) }

var portNames = map[of.PortNo]string{
	of.PortIn: "IN_PORT", of.PortTable: "TABLE", of.PortNormal: "NORMAL", of.PortFlood: "FLOOD",
	of.PortAll: "ALL", of.PortController: "CONTROLLER", of.PortLocal: "LOCAL", of.PortNone: "ANY",
}

func (t *text) port() {
	if t.hidden(of.InPort) {
		return
	}
	port := t.k.InPort()
	if name, ok := portNames[of.PortNo(port)]; ok {
		t.begin("in_port")
		t.b = append(t.b, name...)
		return
	}
	t.begin("in_port").decimalNumber(uint64(port))
}

// tags appends the VLAN tags, by id and priority where that says it all.
func (t *text) tags() {
	if !t.tag("", t.k.tci(), uint16(t.m[wordL2]>>shiftTCI)) {
		return
	}
	t.tag("1", uint16(t.k[wordTags]), uint16(t.m[wordTags]))
}

func (t *text) tag(suffix string, tci, mask uint16) bool {
	if mask == 0 {
		return false
	}
	whole := func(part uint16) bool { return mask&part == 0 || mask&part == part }
	if tci&mask&of.VLANPresent == 0 || !whole(vidBits) || !whole(pcpBits) || mask == of.VLANPresent {
		t.begin("vlan_tci"+suffix).padded(uint64(tci&mask), 4)
		if mask != 0xffff {
			t.b = append(t.b, '/')
			t.padded(uint64(mask), 4)
		}
		return true
	}
	if mask&vidBits != 0 {
		t.begin("dl_vlan" + suffix).decimalNumber(uint64(tci & vidBits))
	}
	if mask&pcpBits != 0 {
		t.begin("dl_vlan_pcp" + suffix).decimalNumber(uint64(tci >> 13))
	}
	return true
}

func (t *text) fragment() {
	v, mask := t.k.frag()&3, t.m.Get(of.IPFrag).Lo
	words := map[uint64][4]string{
		1: {"no", "yes", "no", "yes"},
		2: {"not_later", "not_later", "later", "later"},
		3: {"no", "first", "<error>", "later"},
	}
	if mask != 0 {
		t.begin("nw_frag")
		t.b = append(t.b, words[mask][v]...)
	}
}

// labelStack appends an MPLS label stack: its top in words, the rest as numbers.
func (t *text) labelStack() {
	if e := t.k.ethType(); e != ethTypeMPLS && e != ethTypeMPLSm || t.m[wordND]>>32 == 0 {
		return
	}
	for i := range maxLabels {
		entry := t.k[wordND+i/2] >> (32 * (1 - i%2)) & 0xffffffff
		if i > 0 {
			t.begin("mpls_lse" + strconv.Itoa(i)).decimalNumber(entry)
		} else {
			t.begin("mpls_label").decimalNumber(entry >> 12)
			t.begin("mpls_tc").decimalNumber(entry >> 9 & 7)
			t.begin("mpls_ttl").decimalNumber(entry & 0xff)
			t.begin("mpls_bos").decimalNumber(entry >> 8 & 1)
		}
		if entry&0x100 != 0 {
			return
		}
	}
}

var stateNames = []string{"new", "est", "rel", "rpl", "inv", "trk", "snat", "dnat"}

var flagNames = []string{"fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr", "ns"}

func (t *text) ctState() {
	t.flags("ct_state", t.k.Get(of.CTState).Lo, t.m.Get(of.CTState).Lo, 0xff, stateNames)
}

func (t *text) tcpFlags() {
	t.flags("tcp_flags", t.k.Get(of.TCPFlags).Lo, t.m.Get(of.TCPFlags).Lo, 0xfff, flagNames)
}

func (t *text) flags(name string, v, mask, full uint64, names []string) {
	switch {
	case mask == 0:
	case mask == full:
		t.begin(name).exactFlags(v, names)
	default:
		t.begin(name).maskedFlags(v, mask, names)
	}
}

func (t *text) exactFlags(v uint64, names []string) { t.b = appendFlags(t.b, v, names) }

func (t *text) maskedFlags(v, mask uint64, names []string) {
	for ; mask != 0; mask &= mask - 1 {
		i := bits.TrailingZeros64(mask)
		sign := byte('-')
		if v>>i&1 != 0 {
			sign = '+'
		}
		t.b = append(t.b, sign)
		t.flagName(i, names)
	}
}

// flagName appends the name of bit i, or the bit itself if it has none.
func (t *text) flagName(i int, names []string) { t.b = appendFlag(t.b, i, names) }
