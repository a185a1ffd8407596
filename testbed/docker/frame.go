package docker

import (
	"fmt"
	"net/netip"
	"slices"

	"hpnn/model"
)

// FirstFrame describes, in Open vSwitch's words, the frame with which a client opens a connection to a VIP. What is empty
// follows from the topology: the client is that of the public segment; it sends where it is, or from the first uplink of
// a public segment if it is nobody of the stand; and it asks the first listener that serves its segment.
func FirstFrame(t model.Topology, src, port, vip string) (string, error) {
	from, err := sender(t, src)
	if err != nil {
		return "", err
	}
	if port == "" {
		port = from.Port.Name
	}
	l, err := listenerFor(t, from.Segment, vip)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("in_port=%s,%s,nw_src=%v,nw_dst=%v,tp_dst=%d", port, l.Protocol, from.Address.Addr(), l.VIP, l.Port), nil
}

// sender finds a machine by its address.
func sender(t model.Topology, src string) (Machine, error) {
	all := Site(t)
	public := slices.IndexFunc(all, func(m Machine) bool {
		s, _ := t.Segment(m.Segment)
		return m.Role == Client && s.Kind == model.Public
	})
	if src == "" && public >= 0 {
		return all[public], nil
	}
	a, err := netip.ParseAddr(src)
	if err != nil {
		return Machine{}, fmt.Errorf("read SRC: %w: say a client's address, SRC=192.168.5.13", err)
	}
	if i := slices.IndexFunc(all, func(m Machine) bool { return m.Address.Addr() == a }); i >= 0 {
		return all[i], nil
	}
	if public < 0 {
		return Machine{}, fmt.Errorf("find SRC %v: no machine of the stand has this address", a)
	}
	other := all[public]
	other.Address = netip.PrefixFrom(a, other.Address.Bits())
	return other, nil
}

// listenerFor finds that of a VIP, or one that serves a segment if there is no VIP.
func listenerFor(t model.Topology, segment, vip string) (model.Listener, error) {
	i := slices.IndexFunc(t.Listeners, func(l model.Listener) bool {
		return l.VIP.String() == vip || vip == "" && slices.Contains(l.Segments, segment)
	})
	if i < 0 {
		return model.Listener{}, fmt.Errorf("find a listener for segment %s, VIP %q: the topology has none", segment, vip)
	}
	return t.Listeners[i], nil
}
