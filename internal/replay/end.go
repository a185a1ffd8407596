package replay

import (
	"encoding/binary"
	"net/netip"
)

// end is an IPv4 address and a port in one word: the address above, the port in the low 16 bits. Frames
// are told apart by ends millions of times a second.
type end uint64

// endAt reads an end from the four bytes of an address and the two of a port.
func endAt(address, port []byte) end {
	return end(binary.BigEndian.Uint32(address))<<16 | end(binary.BigEndian.Uint16(port))
}

// endOf is the end that an address and a port are; false if the address is not of IPv4.
func endOf(a netip.AddrPort) (end, bool) {
	if !a.Addr().Is4() {
		return 0, false
	}
	b := a.Addr().As4()
	return end(binary.BigEndian.Uint32(b[:]))<<16 | end(a.Port()), true
}

// AddrPort is the end as the standard library has it.
func (e end) AddrPort() netip.AddrPort {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(e>>16))
	return netip.AddrPortFrom(netip.AddrFrom4(b), uint16(e))
}
