package conntrack

import (
	"fmt"
	"net/netip"
)

// String prints the argument as a ct() action does: "nat", "nat(dst=10.0.0.9:80)".
func (n NAT) String() string {
	end := ""
	switch n.Kind {
	case NATNone:
		return ""
	case NATExisting:
		return "nat"
	case NATSrc:
		end = "src"
	case NATDst:
		end = "dst"
	}
	switch {
	case n.AddrMin == [4]byte{}:
		return "nat(" + end + ")"
	case n.PortMin == 0:
		return fmt.Sprintf("nat(%s=%v)", end, netip.AddrFrom4(n.AddrMin))
	}
	return fmt.Sprintf("nat(%s=%v:%d)", end, netip.AddrFrom4(n.AddrMin), n.PortMin)
}
