package ovsbackend

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
)

// RouteProtocol marks the routes that a Bridge sets ("proto 197" in ip-route(8)), so that it takes back those and no
// others: what an operator or a routing daemon sets stays.
const RouteProtocol = 197

// setRoutes leaves want as the only routes of ours by the port.
func (h *host) setRoutes(link netlink.Link, want []Route) error {
	have, err := h.handle.RouteList(link, netlink.FAMILY_V4)
	if err != nil {
		return fmt.Errorf("list its routes: %w", err)
	}
	wanted := map[string]Route{} // by prefix
	for _, r := range want {
		wanted[hostNet(r.To).String()] = r
	}
	for _, r := range have {
		if r.Gw == nil || r.Dst == nil {
			continue
		}
		w, known := wanted[r.Dst.String()]
		switch {
		case r.Protocol != RouteProtocol: // somebody else knows the way
			delete(wanted, r.Dst.String())
		case !known:
			if err := h.handle.RouteDel(&r); err != nil {
				return fmt.Errorf("remove route to %v: %w", r.Dst, err)
			}
		case r.Gw.Equal(w.Via.AsSlice()):
			delete(wanted, r.Dst.String())
		}
	}
	for _, w := range wanted {
		r := netlink.Route{LinkIndex: link.Attrs().Index, Dst: hostNet(w.To), Gw: w.Via.AsSlice(), Protocol: RouteProtocol}
		if err := h.handle.RouteReplace(&r); err != nil {
			return fmt.Errorf("add route to %v by %v: %w", w.To, w.Via, err)
		}
	}
	return nil
}

func hostNet(a netip.Addr) *net.IPNet { return ipNet(netip.PrefixFrom(a, a.BitLen())) }

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}
