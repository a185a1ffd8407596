package pipeline

import of "hpnn/datapath/openflow"

// Adjacency is the neighbour table. The rule of a declared host wins over everything, so nobody can attract its packets; the label
// of a balanced connection wins over what was learned, as it is the fresher knowledge.
var stageAdjacency = stage{
	Table: Table{
		ID:   tableAdjacency,
		Name: "adjacency",
		Purpose: "Hands a packet to the neighbour it is for: a declared host, the client that a balanced connection came from, " +
			"or a station that was learned.",
		Matches: []of.Field{of.CTState, of.CTZone, of.EthType, of.IPDst},
		Sets:    []of.Field{of.EthDst},
		Drops:   []Drop{{Reason: "a neighbour that is not known"}},
	},
	render: renderAdjacency,
}

// Priorities of the adjacency table.
const (
	adjacencyHost    = 100
	adjacencyClient  = 95 // an answer from a VIP goes back the way its client came, known or not
	adjacencyLearned = 90
)

func renderAdjacency(n network, w *writer) {
	for _, h := range n.hosts {
		w.add(adjacencyHost, isIP.dst(h.Address), setMAC(of.EthDst, h.MAC), output(h.Port))
	}
	for _, s := range n.segments {
		if s.Probe != nil {
			w.add(adjacencyHost, isIP.dst(s.Probe.Address), setMAC(of.EthDst, s.Probe.MAC), output(s.Probe.Port))
		}
	}
	w.add(adjacencyClient, isIP.state(of.CTRpl|of.CTSNAT).with(of.CTZone, uint64(zoneBalanced)),
		of.Move{Src: labelMAC, Dst: of.Whole(of.EthDst)}, of.OutputField{Src: labelPort})
}

// learnNeighbour remembers where the packet's source was heard.
func learnNeighbour(s segment) of.Action {
	return of.Learn{
		Table:       tableAdjacency,
		Priority:    adjacencyLearned,
		HardTimeout: learnedSeconds,
		Limit:       learnedLimit,
		Cookie:      CookieAdjacency | uint64(s.ID),
		Specs: []of.LearnSpec{
			of.LearnMatchValue{Dst: of.Whole(of.EthType), Value: of.U64(of.EthTypeIPv4)},
			of.LearnMatchField{Dst: of.Whole(of.IPDst), Src: of.Whole(of.IPSrc)},
			of.LearnLoadField{Src: of.Whole(of.EthSrc), Dst: of.Whole(of.EthDst)},
			of.LearnOutput{Src: of.Whole(of.InPort)},
		},
	}
}
