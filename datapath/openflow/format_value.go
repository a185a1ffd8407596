package openflow

import (
	"encoding/binary"
	"net/netip"
	"strconv"
)

// String prints v as OVS prints registers and marks: in hexadecimal, and zero as "0".
func (v Value) String() string { return string(v.Append(nil)) }

// Append appends what String prints.
func (v Value) Append(b []byte) []byte { return appendHexValue(b, v) }

// appendHexValue writes v in hexadecimal, zero as "0", as OVS writes registers and marks.
func appendHexValue(b []byte, v Value) []byte {
	if v.IsZero() {
		return append(b, '0')
	}
	return appendHex(b, v, 1)
}

// appendHex writes v in hexadecimal with at least digits digits.
func appendHex(b []byte, v Value, digits int) []byte {
	const hex = "0123456789abcdef"
	b = append(b, "0x"...)
	n := max(digits, (v.BitLen()+3)/4)
	if n <= 16 {
		var t [16]byte
		for i := range n {
			t[15-i] = hex[v.Lo>>(4*i)&15]
		}
		return append(b, t[16-n:]...)
	}
	for i := n - 1; i >= 0; i-- {
		b = append(b, hex[v.Shr(4*i).Lo&15])
	}
	return b
}

func appendMAC(b []byte, v Value) []byte {
	const hex = "0123456789abcdef"
	t := [...]byte{2: ':', 5: ':', 8: ':', 11: ':', 14: ':', 16: 0}
	for i := range 6 {
		octet := byte(v.Lo >> (40 - 8*i))
		t[3*i], t[3*i+1] = hex[octet>>4], hex[octet&15]
	}
	return append(b, t[:]...)
}

func appendIPv4(b []byte, v Value) []byte {
	var a [4]byte
	binary.BigEndian.PutUint32(a[:], uint32(v.Lo))
	return netip.AddrFrom4(a).AppendTo(b)
}

// appendIPv6 writes an address as inet_ntop does, addresses that hold an IPv4 one dotted.
func appendIPv6(b []byte, v Value) []byte {
	if v.Hi == 0 && v.Lo>>32 == 0 && v.Lo>>16 != 0 {
		return appendIPv4(append(b, "::"...), v)
	}
	var a [16]byte
	binary.BigEndian.PutUint64(a[:8], v.Hi)
	binary.BigEndian.PutUint64(a[8:], v.Lo)
	return netip.AddrFrom16(a).AppendTo(b)
}

// appendNet writes an address with its mask: nothing if it is full, a prefix length if it
// is a prefix, a second address otherwise.
func appendNet(b []byte, v, mask Value, width int, addr func([]byte, Value) []byte) []byte {
	b = addr(b, v)
	switch n, ok := mask.PrefixLen(width); {
	case ok && n == width:
		return b
	case ok:
		return strconv.AppendInt(append(b, '/'), int64(n), 10)
	}
	b = append(b, '/')
	if width == 128 && mask.Hi>>48 == 0 {
		return appendShortIPv6(b, mask)
	}
	return addr(b, mask)
}

// appendShortIPv6 writes an address that starts with zeros with "::" at the front. A mask that
// starts with a digit looks like a prefix length to ovs-ofctl.
func appendShortIPv6(b []byte, v Value) []byte {
	b = append(b, ':', ':')
	for groups := (v.BitLen() + 15) / 16; groups > 0; groups-- {
		b = strconv.AppendUint(b, v.Shr(16*(groups-1)).Lo&0xffff, 16)
		if groups > 1 {
			b = append(b, ':')
		}
	}
	return b
}

// isReadableMask reports whether ovs-ofctl can read the mask of an IPv6 address.
func isReadableMask(mask Value) bool {
	if _, ok := mask.PrefixLen(128); ok {
		return true
	}
	first := strconv.FormatUint(mask.Hi>>48, 16)
	return first == "0" || first[0] >= 'a'
}

// bitName names one bit of a set of flags.
type bitName struct {
	bit  uint64
	name string
}

var tcpFlagNames = []bitName{
	{0x001, "fin"}, {0x002, "syn"}, {0x004, "rst"}, {0x008, "psh"}, {0x010, "ack"}, {0x020, "urg"},
	{0x040, "ece"}, {0x080, "cwr"}, {0x100, "ns"}, {0x200, "[200]"}, {0x400, "[400]"}, {0x800, "[800]"},
}

var ctStateNames = []bitName{
	{uint64(CTNew), "new"}, {uint64(CTEst), "est"}, {uint64(CTRel), "rel"}, {uint64(CTRpl), "rpl"},
	{uint64(CTInv), "inv"}, {uint64(CTTrk), "trk"}, {uint64(CTSNAT), "snat"}, {uint64(CTDNAT), "dnat"},
}

// appendFlags writes named bits: "a|b" if every one of them is fixed, "+a-b" otherwise.
func appendFlags(b []byte, v, mask Value, names []bitName) []byte {
	exact := true
	for _, n := range names {
		exact = exact && mask.Lo&n.bit != 0
	}
	if exact {
		return appendFlagList(b, v, names)
	}
	for _, n := range names {
		switch {
		case mask.Lo&n.bit == 0:
		case v.Lo&n.bit != 0:
			b = append(append(b, '+'), n.name...)
		default:
			b = append(append(b, '-'), n.name...)
		}
	}
	return b
}

func appendFlagList(b []byte, v Value, names []bitName) []byte {
	known := uint64(0)
	for _, n := range names {
		known |= n.bit
	}
	if v.IsZero() || v.AndNot(U64(known)) != (Value{}) {
		return appendHexValue(b, v)
	}
	first := true
	for _, n := range names {
		if v.Lo&n.bit == 0 {
			continue
		}
		if !first {
			b = append(b, '|')
		}
		b, first = append(b, n.name...), false
	}
	return b
}

// fragName is one of the words that nw_frag takes.
type fragName struct {
	name        string
	value, mask uint64
}

var fragNames = []fragName{
	{"no", FragNo, 3}, {"yes", 1, 1}, {"first", FragFirst, 3}, {"later", FragLater, 3}, {"not_later", 0, 2},
}

func appendFrag(b []byte, v, mask Value) []byte {
	for _, n := range fragNames {
		if n.value == v.Lo && n.mask == mask.Lo {
			return append(b, n.name...)
		}
	}
	return appendHex(append(appendHex(b, v, 1), '/'), mask, 1)
}

// appendSet writes a field's value as set_field does: decimal fields keep a
// decimal value under a mask, and nothing is padded.
func (f Field) appendSet(b []byte, v, mask Value) []byte {
	i := f.info()
	full := mask == f.Mask()
	switch i.style {
	case styleIPv4:
		return appendNet(b, v, mask, 32, appendIPv4)
	case styleIPv6:
		return appendNet(b, v, mask, 128, appendIPv6)
	case styleMAC:
		b = appendMAC(b, v)
		if full {
			return b
		}
		return appendMAC(append(b, '/'), mask)
	case styleHex:
		b = appendHexValue(b, v)
	case stylePort:
		b = PortNo(v.Lo).append(b)
	default:
		b = strconv.AppendUint(b, v.Lo, 10)
	}
	if full {
		return b
	}
	return appendHexValue(append(b, '/'), mask)
}

// Format writes a value of the field as set_field does: 10.0.0.1, 02:42:c0:a8:05:14, 0x5, 80.
func (f Field) Format(v Value) string { return string(f.AppendValue(nil, v)) }

// AppendValue appends what Format returns.
func (f Field) AppendValue(b []byte, v Value) []byte { return f.appendSet(b, v, f.Mask()) }
