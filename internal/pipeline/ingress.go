package pipeline

import (
	"net/netip"

	of "hpnn/datapath/openflow"
	"hpnn/model"
)

// Ingress knows three kinds of ports.
//
// A host's port carries that host and nobody else: its MAC, its address, the prefixes that it routes. This is what lets all
// later tables trust a source: that of a member is the member.
//
// An uplink carries whoever is out there, so there the rule is the reverse: anyone but a host of the topology whose place is
// elsewhere, and but us. Hosts behind an uplink are held to their addresses like the others, though not to be alone there.
//
// The probe port carries the node's own kernel.
//
// Frames are dropped here before they cost state, and each reason has a priority, and so a counter, of its own.
var stageIngress = stage{
	Table: Table{
		ID:   tableIngress,
		Name: "ingress",
		Purpose: "Admits a frame by its port and source addresses, notes its segment, " +
			"and learns the MAC addresses behind the uplink of a private segment.",
		Matches: []of.Field{of.InPort, of.VLANTCI, of.EthSrc, of.EthType,
			of.IPSrc, of.IPProto, of.UDPSrc, of.UDPDst, of.ARPSpa, of.ARPSha},
		Sets:   []of.Field{regSegment},
		Next:   []of.TableID{tableClassify},
		Learns: []of.TableID{tableSwitch},
		Drops: []Drop{
			{Priority: ingressTagged, Reason: "a VLAN tag on an access port"},
			{Priority: ingressMulticast, Reason: "a group address as source MAC"},
			{Priority: ingressOurMAC, Reason: "our own MAC as source"},
			{Priority: ingressOurs, Reason: "our own address as source"},
			{Priority: ingressImpostor, Reason: "a host with the address of another"},
			{Priority: ingressStolenIP, Reason: "a host's address from an unknown station"},
			{Priority: ingressStolenMAC, Reason: "a host's MAC on another port"},
			{Priority: ingressStranger, Reason: "an unknown station on a host's port"},
			{Priority: 0, Reason: "a port or station of no segment"},
		},
	},
	render: renderIngress,
}

// Priorities of the ingress table.
const (
	ingressTagged    = 400 // ports are access ports
	ingressMulticast = 390 // no station's address
	ingressProbe     = 310 // the node's kernel, by the probe port
	ingressOurMAC    = 300 // our own MACs from outside: a loop or a lie
	ingressOurs      = 290 // our own addresses likewise
	ingressLease     = 121 // a host asks for its address
	ingressHost      = 120 // a host speaks for itself, or for what it routes
	ingressImpostor  = 110 // a host speaks for another
	ingressOther     = 108 // a host speaks neither IP nor ARP
	ingressStolenIP  = 106 // an unknown station speaks for a host
	ingressStolenMAC = 105 // a host's MAC elsewhere
	ingressUplink    = 100 // the unknown stations behind an uplink
	ingressStranger  = 90  // an unknown station on a host's port
)

// Ports of DHCP (RFC 2131, section 4.1).
const (
	dhcpServer = 67
	dhcpClient = 68
)

func renderIngress(n network, w *writer) {
	w.add(ingressTagged, always.masked(of.VLANTCI, of.U64(of.VLANPresent), of.U64(of.VLANPresent)))
	group := of.MAC(model.MAC{0x01})
	w.add(ingressMulticast, always.masked(of.EthSrc, group, group))
	for _, s := range n.segments {
		admitNode(s, w)
		for _, h := range s.hosts {
			admitHost(h, w)
		}
		if s.Uplink != nil {
			admitUplink(s, w)
		}
	}
	for _, a := range n.addresses() {
		refuseOurs(a, w)
	}
}

// admitNode admits the kernel of the node by the probe port only, and our MAC addresses nowhere else.
func admitNode(s segment, w *writer) {
	w.add(ingressOurMAC, always.ethSrc(s.Gateway.MAC))
	if s.Probe == nil {
		return
	}
	w.add(ingressProbe, always.inPort(s.Probe.Port).ethSrc(s.Probe.MAC), enter(s)...)
	w.add(ingressOurMAC, always.ethSrc(s.Probe.MAC))
	refuseOurs(s.Probe.Address, w)
}

func refuseOurs(a netip.Addr, w *writer) {
	w.add(ingressOurs, isIP.src(a))
	w.add(ingressOurs, isARP.arpSpa(a))
}

// admitHost holds a declared host to its port and addresses.
func admitHost(h host, w *writer) {
	here := func(m when) when { return m.inPort(h.Port).ethSrc(h.MAC) }
	sha := of.MAC(h.MAC)
	for _, a := range []netip.Addr{h.Address, netip.IPv4Unspecified()} { // without an address it asks whether one is free (RFC 5227)
		w.add(ingressHost, when{here(isARP).arpSpa(a).With(of.ARPSha, sha)}, enter(h.in)...)
	}
	for _, p := range maximal(append([]netip.Prefix{netip.PrefixFrom(h.Address, 32)}, h.routes...)) {
		w.add(ingressHost, here(isIP).srcIn(p), enter(h.in)...)
	}
	lease := here(isUDP).src(netip.IPv4Unspecified()).with(of.UDPSrc, dhcpClient).with(of.UDPDst, dhcpServer)
	w.add(ingressLease, lease, enter(h.in)...)
	w.add(ingressImpostor, here(isARP))
	w.add(ingressImpostor, here(isIP))
	w.add(ingressOther, here(always), enter(h.in)...)
	w.add(ingressStolenMAC, always.ethSrc(h.MAC))
	if !h.behindUplink() {
		w.add(ingressStranger, always.inPort(h.Port))
	}
}

// admitUplink admits stations that nobody declared, as long as they speak for no one who was.
func admitUplink(s segment, w *writer) {
	for _, h := range s.hosts {
		w.add(ingressStolenIP, isARP.inPort(*s.Uplink).arpSpa(h.Address))
		w.add(ingressStolenIP, isIP.inPort(*s.Uplink).src(h.Address))
	}
	if s.private() {
		w.add(ingressUplink, always.inPort(*s.Uplink), set(regSegment, uint64(s.ID)), learnMAC(s), jump(tableClassify))
		return
	}
	w.add(ingressUplink, always.inPort(*s.Uplink), enter(s)...)
}

func enter(s segment) []of.Action {
	return []of.Action{set(regSegment, uint64(s.ID)), jump(tableClassify)}
}
