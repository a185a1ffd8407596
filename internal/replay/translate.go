package replay

import (
	"encoding/binary"
	"iter"
	"net/netip"
	"slices"
	"strings"

	"hpnn/datapath/openflow"
)

// translations yields the addresses and ports that a list of actions translates destinations to.
// A range of them has no one address and is left out.
func translations(actions []openflow.Action) iter.Seq[netip.AddrPort] {
	return func(yield func(netip.AddrPort) bool) {
		for _, a := range actions {
			switch a := a.(type) {
			case openflow.CT:
				if to, ok := target(a.NAT); ok && !yield(to) {
					return
				}
			case openflow.Clone:
				for to := range translations(a.Actions) {
					if !yield(to) {
						return
					}
				}
			}
		}
	}
}

func target(n *openflow.NAT) (netip.AddrPort, bool) {
	if n == nil || n.Kind != openflow.NATDst || n.IPv6 || n.Addr[0] != n.Addr[1] || n.Port[0] == 0 || n.Port[0] != n.Port[1] {
		return netip.AddrPort{}, false
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(n.Addr[0].Lo))
	return netip.AddrPortFrom(netip.AddrFrom4(b), n.Port[0]), true
}

func sortMembers(members []Member) {
	slices.SortFunc(members, func(a, b Member) int { return a.Address.Compare(b.Address) })
}

func (n Node) portNames() string {
	names := make([]string, len(n.Ports))
	for i, p := range n.Ports {
		names[i] = p.Name
	}
	return strings.Join(names, ", ")
}
