package packet

import (
	"fmt"
	"net"
)

// MAC is an Ethernet address.
type MAC [6]byte

// Broadcast is the address of every station.
var Broadcast = MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// ParseMAC reads an address of six bytes in colon, hyphen or dot notation.
func ParseMAC(s string) (MAC, error) {
	b, err := net.ParseMAC(s)
	if err != nil {
		return MAC{}, fmt.Errorf("parse mac: %w", err)
	}
	if len(b) != len(MAC{}) {
		return MAC{}, fmt.Errorf("parse mac: %q has %d bytes, an Ethernet address has 6", s, len(b))
	}
	return MAC(b), nil
}

// MustMAC is ParseMAC for constants: it panics if s is no address.
func MustMAC(s string) MAC {
	m, err := ParseMAC(s)
	if err != nil {
		panic("packet: " + err.Error())
	}
	return m
}

// String is the colon notation in lower case.
func (m MAC) String() string { return net.HardwareAddr(m[:]).String() }
