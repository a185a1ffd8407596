package model

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// A MAC is an Ethernet address, in the order of the wire.
type MAC [6]byte

// ParseMAC reads the form 02:42:0a:14:00:02, in either case, and no other.
func ParseMAC(text string) (MAC, error) {
	var m MAC
	if len(text) != 17 {
		return MAC{}, fmt.Errorf("parse MAC %q: use six pairs of hex digits joined by colons, as 02:42:0a:14:00:02", text)
	}
	for i := range m {
		_, err := hex.Decode(m[i:i+1], []byte(text[3*i:3*i+2]))
		if err != nil || i < 5 && text[3*i+2] != ':' {
			return MAC{}, fmt.Errorf("parse MAC %q: use six pairs of hex digits joined by colons, as 02:42:0a:14:00:02", text)
		}
	}
	return m, nil
}

// String returns the form 02:42:0a:14:00:02.
func (m MAC) String() string {
	var b strings.Builder
	for i, octet := range m {
		if i > 0 {
			b.WriteByte(':')
		}
		b.WriteString(hex.EncodeToString([]byte{octet}))
	}
	return b.String()
}

// IsZero reports whether m is 00:00:00:00:00:00, which no interface has.
func (m MAC) IsZero() bool { return m == MAC{} }

// IsMulticast reports whether m names a group (IEEE 802.3, the lowest bit of the first octet); broadcast is one.
func (m MAC) IsMulticast() bool { return m[0]&1 == 1 }

// MarshalText returns the form of [MAC.String].
func (m MAC) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText takes the form of [ParseMAC].
func (m *MAC) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMAC(string(text))
	return err
}
