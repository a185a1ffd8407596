package pipeline

import (
	"net/netip"

	of "hpnn/datapath/openflow"
)

// Source is reverse path forwarding by the longest prefix, in one table. Each prefix has two flows, and the pair of a longer
// prefix has higher priorities than that of a shorter one. For a source in 10.1.2.0/24 that is routed by segment 2, while
// 10.0.0.0/8 is routed by segment 1:
//
//	149  reg0=2, 10.1.2.0/24    goes on
//	148          10.1.2.0/24    dropped, whatever segment it came from
//	117  reg0=1, 10.0.0.0/8     goes on
//	116          10.0.0.0/8     dropped
//
// So there are two flows a prefix, not one for each prefix and segment. It comes before everything that costs state: the slot
// table, the connection tracker and what is learned.
var stageSource = stage{
	Table: Table{
		ID:      tableSource,
		Name:    "source",
		Purpose: "Drops packets for the router whose source does not belong behind the segment that they came from (RFC 3704, strict).",
		Matches: []of.Field{regSegment, of.EthType, of.IPSrc},
		Next:    []of.TableID{tableListener},
		Drops: []Drop{
			{Priority: sourceMartian, Reason: "a source that no host may have"},
			{Priority: sourceReach, Last: sourceReach + 2*32, Reason: "a source that belongs behind another segment"},
			{Priority: 0, Reason: "a source without a way back"},
		},
	},
	render: renderSource,
}

// sourceMartian is the priority of sources that no host may have. A prefix of n bits has sourceReach+2n+1 for its own
// segment and one less for all others, so that the longest prefix decides.
const (
	sourceMartian = 200
	sourceReach   = 100
)

// martians are sources that no packet on a network may have (RFC 1812, section 5.3.7).
var martians = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("224.0.0.0/4"), netip.MustParsePrefix("240.0.0.0/4"),
}

func renderSource(n network, w *writer) {
	for _, p := range martians {
		w.add(sourceMartian, isIP.srcIn(p))
	}
	for _, r := range n.reaches {
		priority := uint16(sourceReach + 2*r.prefix.Bits())
		w.add(priority+1, isIP.segment(r.in).srcIn(r.prefix), jump(tableListener))
		w.add(priority, isIP.srcIn(r.prefix))
	}
}
