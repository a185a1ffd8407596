package pipeline

import of "hpnn/datapath/openflow"

var stageICMP = stage{
	Table: Table{
		ID:      tableICMP,
		Name:    "icmp",
		Purpose: "Turns an echo request to an address of ours into its reply.",
		Matches: []of.Field{regSegment, of.EthType, of.IPProto},
		Sets:    []of.Field{of.EthSrc, of.EthDst, of.IPSrc, of.IPDst, of.IPTTL, of.ICMPType},
		Drops: []Drop{
			{Priority: 0, Reason: "a segment that is not known"},
		},
	},
	render: renderICMP,
}

const (
	icmpEcho = 100 // priority
	fullTTL  = 64  // RFC 1700
)

func renderICMP(n network, w *writer) {
	for _, s := range n.segments {
		w.add(icmpEcho, isICMP.segment(s),
			move(of.EthSrc, of.EthDst),
			setMAC(of.EthSrc, s.Gateway.MAC),
			of.Push{Src: of.Whole(of.IPSrc)},
			of.Push{Src: of.Whole(of.IPDst)},
			of.Pop{Dst: of.Whole(of.IPSrc)},
			of.Pop{Dst: of.Whole(of.IPDst)},
			set(of.ICMPType, echoReply),
			set(of.IPTTL, fullTTL),
			back)
	}
}
