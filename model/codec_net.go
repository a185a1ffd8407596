package model

import (
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

const (
	useIPv4  = "use an IPv4 address"
	noIPv6   = "IPv6 is not yet supported"
	shortest = 8  // the shortest prefix of a segment, in bits
	longest  = 30 // the longest one that leaves room for the node and a host
)

// address is an IPv4 unicast address.
func address() codec[netip.Addr] {
	return codec[netip.Addr]{
		kind:  "IPv4 address",
		blank: true,
		read:  readAddress,
		check: func(a netip.Addr) *complaint {
			if !a.Is4() {
				return complain(useIPv4, noIPv6)
			}
			if why := unusable(a); why != "" {
				return complain("use a unicast address", "%s is %s", a, why)
			}
			return nil
		},
		write: netip.Addr.String,
	}
}

func readAddress(s scalar) (netip.Addr, *complaint) {
	if a, err := netip.ParseAddr(s.text); err == nil {
		if !a.Is4() {
			return netip.Addr{}, complain(useIPv4, noIPv6)
		}
		return a, nil
	}
	if p, err := netip.ParsePrefix(s.text); err == nil {
		return netip.Addr{}, complain("write "+p.Addr().String(), "%s is a prefix, not an address", s.text)
	}
	if ap, err := netip.ParseAddrPort(s.text); err == nil {
		return netip.Addr{}, complain(fmt.Sprintf("write %s here and %d under port", ap.Addr(), ap.Port()),
			"%s is an address and a port", s.text)
	}
	return netip.Addr{}, complain("write four decimal numbers, as 10.20.0.2", "%q is not an IPv4 address", s.text)
}

// unusable says why no interface on a routed network can have the address, or "".
func unusable(a netip.Addr) string {
	switch {
	case a.IsMulticast():
		return "a multicast address"
	case a.IsLoopback():
		return "a loopback address"
	case a.IsLinkLocalUnicast():
		return "a link-local address, which is never routed"
	case a.As4()[0] == 0:
		return "an address of \"this network\" (0.0.0.0/8)"
	case a.As4()[0] >= 240:
		return "a reserved address"
	}
	return ""
}

// subnet is the prefix of a segment.
func subnet() codec[netip.Prefix] {
	c := destination()
	c.kind = fmt.Sprintf("IPv4 prefix /%d../%d", shortest, longest)
	anyPrefix := c.check
	c.check = func(p netip.Prefix) *complaint {
		if wrong := anyPrefix(p); wrong != nil {
			return wrong
		}
		if p.Bits() < shortest || p.Bits() > longest {
			return complain(fmt.Sprintf("use /%d to /%d", shortest, longest), "/%d is no size for a segment", p.Bits())
		}
		return nil
	}
	return c
}

// destination is the prefix of a route.
func destination() codec[netip.Prefix] {
	return codec[netip.Prefix]{
		kind:  "IPv4 prefix",
		blank: true,
		read:  readPrefix,
		check: func(p netip.Prefix) *complaint {
			if !p.Addr().Is4() {
				return complain("use an IPv4 prefix", noIPv6)
			}
			if p != p.Masked() {
				return complain("write "+p.Masked().String(), "%s has bits set beyond its length", p)
			}
			if why := unusable(p.Addr()); why != "" && p.Bits() > 0 {
				return complain("use a prefix of unicast addresses", "%s begins with %s", p, why)
			}
			return nil
		},
		write: netip.Prefix.String,
	}
}

func readPrefix(s scalar) (netip.Prefix, *complaint) {
	if p, err := netip.ParsePrefix(s.text); err == nil {
		if !p.Addr().Is4() {
			return netip.Prefix{}, complain("use an IPv4 prefix", noIPv6)
		}
		return p, nil
	}
	if a, err := netip.ParseAddr(s.text); err == nil {
		return netip.Prefix{}, complain(lengthFor(a), "%s has no length", s.text)
	}
	if p, ok := netmask(s.text); ok {
		return netip.Prefix{}, complain("write "+p.String(), "%s has a netmask, not a length", s.text)
	}
	return netip.Prefix{}, complain("write it as 10.20.0.0/24", "%q is not an IPv4 prefix", s.text)
}

// lengthFor guesses which prefix an address without a length stands for.
func lengthFor(a netip.Addr) string {
	around := netip.PrefixFrom(a, 24).Masked()
	if around.Addr() == a {
		return "write " + around.String()
	}
	return fmt.Sprintf("write %s/32 for the address, %s for those around it", a, around)
}

// netmask reads the form 10.20.0.0/255.255.255.0.
func netmask(s string) (netip.Prefix, bool) {
	left, right, _ := strings.Cut(s, "/")
	a, err := netip.ParseAddr(left)
	mask := net.ParseIP(right).To4()
	if err != nil || mask == nil {
		return netip.Prefix{}, false
	}
	ones, bits := net.IPMask(mask).Size()
	return netip.PrefixFrom(a, ones), bits == 32
}

// mac is the Ethernet address of one interface.
func mac() codec[MAC] {
	return codec[MAC]{
		kind:  "MAC",
		blank: true,
		read: func(s scalar) (MAC, *complaint) {
			m, err := ParseMAC(s.text)
			if err != nil {
				return MAC{}, macRemedy(s.text)
			}
			if m.IsZero() {
				return MAC{}, complain("use the interface's own", "%s is the address of no interface", m)
			}
			return m, nil
		},
		check: func(m MAC) *complaint {
			if m.IsMulticast() {
				return complain("use a unicast MAC: its second hex digit is even", "%s is a multicast address", m)
			}
			return nil
		},
		write: MAC.String,
	}
}

// macRemedy recognises the ways other systems write the address.
func macRemedy(s string) *complaint {
	digits := strings.NewReplacer("-", "", ".", "", ":", "").Replace(s)
	var m MAC
	if n, err := hex.Decode(m[:], []byte(digits[:min(len(digits), 12)])); err == nil && n == 6 && len(digits) == 12 {
		return complain("write "+m.String(), "%q is not in the form of six pairs joined by colons", s)
	}
	return complain("write six pairs of hex digits joined by colons, as 02:42:0a:14:00:02", "%q is not a MAC", s)
}
