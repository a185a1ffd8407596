package simhost

import (
	"fmt"
	"net/netip"
)

// Route sends packets to a prefix by way of a neighbour.
type Route struct {
	Prefix netip.Prefix
	Via    netip.Addr // in the host's own segment
}

// String is the notation of `ip route`.
func (r Route) String() string { return fmt.Sprintf("%s via %s", r.Prefix, r.Via) }

// broadcastIP stands for all stations of the segment.
var broadcastIP = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// nextHop is the neighbour that packets for dst go to: dst itself in the own segment, else
// by the longest prefix, else the gateway.
func (h *Host) nextHop(dst netip.Addr) (hop netip.Addr, ok bool) {
	if dst == broadcastIP {
		return dst, true
	}
	if h.config.onLink(dst) {
		return dst, true
	}
	best := -1
	for _, r := range h.config.Routes {
		if r.Prefix.Contains(dst) && r.Prefix.Bits() > best {
			hop, best = r.Via, r.Prefix.Bits()
		}
	}
	if best >= 0 {
		return hop, true
	}
	return h.config.Gateway, h.config.Gateway.IsValid()
}
