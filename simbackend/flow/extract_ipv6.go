package flow

import (
	"encoding/binary"

	of "hpnn/datapath/openflow"
)

// extractIPv6 reads an IPv6 header and what it carries. The version is not looked at. If an
// extension header runs over the end, only the addresses are known. It returns as extractIPv4 does.
func extractIPv6(b []byte, k *Key, l2 uint64) (_ uint64, l4, pad uint16) {
	if len(b) < ipv6Len {
		return l2, absent, 0
	}
	payload := int(binary.BigEndian.Uint16(b[4:]))
	if ipv6Len+payload > len(b) || len(b)-ipv6Len-payload > 0xffff {
		return l2, absent, 0
	}
	pad = uint16(len(b) - ipv6Len - payload)
	for i := range 4 {
		k[wordIPv6+i] = binary.BigEndian.Uint64(b[8+8*i:])
	}
	e := extensions{rest: b[ipv6Len : ipv6Len+payload], proto: b[6]}
	if !e.skip() {
		return l2, absent, pad
	}
	first := binary.BigEndian.Uint32(b)
	k[wordLabel] = uint64(first&0xfffff) << 32
	word := uint64(uint8(first>>20))<<shiftTOS | uint64(b[7])<<shiftTTL
	if e.frag&2 == 0 {
		word |= extractL4(e.rest, e.proto, k)
	}
	k[wordL4] = word
	return l2 | uint64(e.proto)<<shiftProto | uint64(e.frag), uint16(ipv6Len + payload - len(e.rest)), pad
}

// extensions walks the extension headers of an IPv6 packet (RFC 2460, 4).
type extensions struct {
	rest  []byte // what is not walked over yet
	proto uint8  // the type of the header that starts rest
	frag  uint8  // as openflow.IPFrag
}

// skip walks to the first header that is not an extension, or that is the payload of a later
// fragment, whose protocol reads as 44. It reports false if a header runs over the end.
func (e *extensions) skip() bool {
	for {
		switch e.proto {
		case protoHopByHop, protoRouting, protoDstOpts:
			if len(e.rest) < 8 || !e.next((int(e.rest[1])+1)*8) {
				return false
			}
		case protoAH:
			if len(e.rest) < 8 || !e.next((int(e.rest[1])+2)*4) {
				return false
			}
		case protoFragment:
			if len(e.rest) < 8 {
				return false
			}
			where := binary.BigEndian.Uint16(e.rest[2:])
			e.next(8)
			if where == 0 {
				continue
			}
			e.frag = of.FragFirst
			if where&0xfff8 != 0 {
				e.frag, e.proto = of.FragLater, protoFragment
				return true
			}
		default:
			return true
		}
	}
}

// next takes a header of n bytes off.
func (e *extensions) next(n int) bool {
	if n > len(e.rest) {
		return false
	}
	e.proto = e.rest[0]
	e.rest = e.rest[n:]
	return true
}

// Types of the options of neighbour discovery that carry a link-layer address (RFC 4861, 4.6.1).
const (
	optSourceLL = 1
	optTargetLL = 2
)

// extractND reads the target and the link-layer addresses of a neighbour solicitation or
// advertisement that starts b; other ICMPv6 messages have none. It returns the type of the first
// address option, which OVS keeps where TCP has its flags.
func extractND(b []byte, k *Key) uint64 {
	if b[1] != 0 || b[0] != ndSolicit && b[0] != ndAdvertise {
		return 0
	}
	k[wordLabel] |= uint64(binary.BigEndian.Uint32(b[4:]))
	if len(b) < ndLen {
		return 0
	}
	k[wordND] = binary.BigEndian.Uint64(b[8:])
	k[wordND+1] = binary.BigEndian.Uint64(b[16:])
	first, ok := extractOptions(b[ndLen:], k)
	if !ok {
		k[wordND], k[wordND+1], k[wordSHA], k[wordTHA] = 0, 0, 0, 0
	}
	return first
}

// extractOptions reads ND options. It reports false if one kind of address is there twice, in
// which case the switch trusts none of them. It stops in silence at a malformed option.
func extractOptions(b []byte, k *Key) (first uint64, ok bool) {
	for len(b) >= 8 {
		n := int(b[1]) * 8
		if n == 0 || n > len(b) {
			return first, true
		}
		if kind := b[0]; n == 8 && (kind == optSourceLL || kind == optTargetLL) {
			mac := &k[wordSHA+int(kind)-optSourceLL]
			if *mac != 0 {
				return first, false
			}
			*mac = binary.BigEndian.Uint64(b) & (1<<48 - 1)
			if first == 0 {
				first = uint64(kind)
			}
		}
		b = b[n:]
	}
	return first, true
}
