package openflow

import (
	"fmt"
	"math/bits"
	"net/netip"
	"strconv"
	"strings"
)

// uint reads an unsigned integer, decimal or 0x hexadecimal, of at most bits bits.
func (t text) uint(bits int) (uint64, error) {
	v, err := t.integer(min(bits, 64))
	return v.Lo, err
}

// decimal reads an unsigned decimal integer of at most bits bits, where ovs-ofctl would read
// only the digits of a hexadecimal one. what names it in a fault.
func (t text) decimal(what string, bits int) (uint64, error) {
	if v, err := t.uint(64); err == nil && strings.HasPrefix(strings.ToLower(t.s), "0x") {
		return 0, t.fault(what+" must be decimal", fmt.Sprintf("write %d", v))
	}
	return t.uint(bits)
}

// integer reads an unsigned integer, decimal or hexadecimal, of at most width bits.
func (t text) integer(width int) (Value, error) {
	if v, ok := parsePlain(t.s); ok && bits.Len64(v) <= width {
		return U64(v), nil
	}
	v, err := t.digits()
	if err != nil {
		return Value{}, err
	}
	if v.BitLen() > width {
		return Value{}, t.faultf("at most "+Ones(width).decimalText(), "value does not fit in %d bits", width)
	}
	return v, nil
}

// decimalText is v in decimal, or in hexadecimal if it is wider than 64 bits.
func (v Value) decimalText() string {
	if v.Hi != 0 {
		return string(appendHex(nil, v, 1))
	}
	return strconv.FormatUint(v.Lo, 10)
}

func (t text) digits() (Value, error) {
	if len(t.s) > 2 && t.s[0] == '0' && (t.s[1] == 'x' || t.s[1] == 'X') {
		return t.hexDigits()
	}
	if len(t.s) > 1 && t.s[0] == '0' && isDigits(t.s) {
		return Value{}, t.fault("a leading zero would make it octal", "write "+strings.TrimLeft(t.s[:len(t.s)-1], "0")+t.s[len(t.s)-1:])
	}
	if t.s == "" {
		return Value{}, t.fault("number is missing", "")
	}
	n, err := strconv.ParseUint(t.s, 10, 64)
	switch {
	case err == nil:
		return U64(n), nil
	case isDigits(t.s):
		return Value{}, t.fault("value is too large", "write it in hexadecimal if it is meant")
	}
	return Value{}, t.notNumber()
}

// parsePlain reads a decimal or hexadecimal number of some digits. What it does not know may be a number
// all the same.
func parsePlain(s string) (v uint64, ok bool) {
	if len(s) > 2 && s[0] == '0' && s[1] == 'x' && len(s) <= 18 {
		for i := 2; i < len(s); i++ {
			digit := hexDigit(s[i])
			if digit < 0 {
				return 0, false
			}
			v = v<<4 | uint64(digit)
		}
		return v, true
	}
	if len(s) == 0 || len(s) > 18 || s[0] == '0' && len(s) > 1 {
		return 0, false
	}
	for i := range len(s) {
		digit := s[i] - '0'
		if digit > 9 {
			return 0, false
		}
		v = v*10 + uint64(digit)
	}
	return v, true
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

func (t text) hexDigits() (Value, error) {
	var v Value
	for i := 2; i < len(t.s); i++ {
		digit := hexDigit(t.s[i])
		if digit < 0 {
			return Value{}, t.notNumber()
		}
		if v.Hi>>60 != 0 {
			return Value{}, t.fault("value does not fit in 128 bits", "")
		}
		v = v.Shl(4).Or(U64(uint64(digit)))
	}
	return v, nil
}

// hexDigit is the value of a hexadecimal digit, or -1.
func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// notNumber refuses what is not a number; an address gets its number as the remedy, since
// ovs-ofctl would take the digits before the first dot or colon.
func (t text) notNumber() error {
	if v, err := t.ipv4(); err == nil {
		return t.fault("an address is not a number", "write "+string(appendHex(nil, v, 1)))
	}
	if v, err := t.mac(); err == nil {
		return t.fault("an address is not a number", "write "+string(appendHex(nil, v, 1)))
	}
	return t.fault("not a number", "write a decimal number, or a hexadecimal one after 0x")
}

// mac reads six octets of one or two hexadecimal digits.
func (t text) mac() (Value, error) {
	if v, ok := parseMAC(t.s); ok {
		return U64(v), nil
	}
	return Value{}, t.fault("not an Ethernet address", "write six octets, as 02:00:00:00:00:01")
}

func parseMAC(s string) (mac uint64, ok bool) {
	octets, octet, digits := 0, 0, 0 // digits of the octet
	for i := range len(s) {
		d := hexDigit(s[i])
		switch {
		case s[i] == ':' && digits > 0:
			mac, octets, octet, digits = mac<<8|uint64(octet), octets+1, 0, 0
		case d >= 0 && digits < 2:
			octet, digits = octet<<4|d, digits+1
		default:
			return 0, false
		}
	}
	return mac<<8 | uint64(octet), octets == 5 && digits > 0
}

func (t text) ipv4() (Value, error) {
	if v, ok := parseIPv4(t.s); ok {
		return U64(v), nil
	}
	return Value{}, t.fault("not an IPv4 address", "write four decimal numbers, as 10.0.0.1")
}

// parseIPv4 reads four decimal numbers below 256 without leading zeros.
func parseIPv4(s string) (addr uint64, ok bool) {
	octets, octet, digits := 0, 0, 0 // digits of the octet
	for i := range len(s) {
		d := int(s[i]) - '0'
		switch {
		case s[i] == '.' && digits > 0:
			addr, octets, octet, digits = addr<<8|uint64(octet), octets+1, 0, 0
		case d >= 0 && d <= 9 && (digits == 0 || octet > 0):
			octet, digits = 10*octet+d, digits+1
		default:
			return 0, false
		}
		if octet > 255 {
			return 0, false
		}
	}
	return addr<<8 | uint64(octet), octets == 3 && digits > 0
}

func (t text) ipv6() (Value, error) {
	a, err := netip.ParseAddr(t.s)
	if err != nil || !a.Is6() || a.Zone() != "" {
		return Value{}, t.fault("not an IPv6 address", "write it as fd00::1")
	}
	return Addr(a), nil
}

// prefix reads the mask of an address: a number of leading ones, or an address.
func (t text) prefix(width int, addr func(text) (Value, error)) (Value, error) {
	if !isDigits(t.s) || t.s == "" {
		return addr(t)
	}
	n, err := t.uint(8)
	if err != nil {
		return Value{}, err
	}
	if n > uint64(width) {
		return Value{}, t.fault("prefix is longer than the address", "at most "+strconv.Itoa(width))
	}
	return PrefixMask(int(n), width), nil
}
