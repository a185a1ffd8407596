package conformance

import "hpnn/datapath/openflow"

// protocol is what of a match decides which fields its frames have.
type protocol struct{ ethType, proto, icmp uint64 }

func protocolOf(m openflow.Match) protocol {
	exact := func(f openflow.Field) uint64 {
		v, _ := m.Exact(f)
		return v.Lo
	}
	p := protocol{ethType: exact(openflow.EthType)}
	if p.ethType == openflow.EthTypeIPv4 || p.ethType == openflow.EthTypeIPv6 {
		p.proto = exact(openflow.IPProto)
	}
	if p.ethType == openflow.EthTypeIPv6 && p.proto == openflow.ProtoICMPv6 {
		p.icmp = exact(openflow.ICMPv6Type)
	}
	return p
}

// match is a match of the protocol and of nothing else.
func (p protocol) match() openflow.Match {
	m := openflow.Match{}.With(openflow.EthType, openflow.U64(p.ethType))
	if p.proto != 0 {
		m = m.With(openflow.IPProto, openflow.U64(p.proto))
	}
	if p.icmp != 0 {
		m = m.With(openflow.ICMPv6Type, openflow.U64(p.icmp)).With(openflow.ICMPv6Code, openflow.Value{})
	}
	return m
}

// fieldsOf lists the fields that actions may speak of in flows of the common protocols.
var fieldsOf = func() map[protocol][]openflow.Field {
	all := map[protocol][]openflow.Field{{}: usable(openflow.Match{})}
	for _, p := range []protocol{
		{ethType: openflow.EthTypeIPv4}, {openflow.EthTypeIPv4, openflow.ProtoTCP, 0}, {openflow.EthTypeIPv4, openflow.ProtoUDP, 0},
		{openflow.EthTypeIPv4, openflow.ProtoICMP, 0}, {openflow.EthTypeIPv4, openflow.ProtoSCTP, 0},
		{ethType: openflow.EthTypeIPv6}, {openflow.EthTypeIPv6, openflow.ProtoTCP, 0}, {openflow.EthTypeIPv6, openflow.ProtoUDP, 0},
		{openflow.EthTypeIPv6, openflow.ProtoICMPv6, 0}, {openflow.EthTypeIPv6, openflow.ProtoICMPv6, 135}, {openflow.EthTypeIPv6, openflow.ProtoICMPv6, 136},
		{ethType: openflow.EthTypeARP}, {ethType: openflow.EthTypeRARP},
	} {
		all[p] = usable(p.match())
	}
	return all
}()

func usable(m openflow.Match) (list []openflow.Field) {
	for _, f := range openflow.Fields() {
		probe := openflow.Flow{Match: m, Actions: []openflow.Action{openflow.Push{Src: openflow.Whole(f)}}}
		if probe.Validate() == nil && f != openflow.PktMark && f != openflow.TunID {
			list = append(list, f)
		}
	}
	return list
}
