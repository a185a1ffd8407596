package node

import (
	"context"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/pipeline"
	"hpnn/model"
)

// Traffic is what the switch counted of the pools.
type Traffic struct {
	Members map[pipeline.MemberName]MemberTraffic
	Dropped map[string]uint64 // packets for which a pool had no live member, by the pool's name
}

// MemberTraffic is what a member was sent, and how many tracked connections it serves.
type MemberTraffic struct {
	pipeline.Hits
	Connections int
}

// Member is the traffic of one member.
func (t Traffic) Member(pool, member string) MemberTraffic {
	return t.Members[pipeline.MemberName{Pool: pool, Member: member}]
}

// Traffic asks the switch for its counters and connections.
func (n *Node) Traffic(ctx context.Context) (Traffic, error) {
	t, err := n.Topology(ctx)
	if err != nil {
		return Traffic{}, err
	}
	entries, err := n.config.Bridge.Flows(ctx)
	if err != nil {
		return Traffic{}, err
	}
	conns, err := n.config.Bridge.Conntrack().Connections(ctx, datapath.ConnFilter{})
	if err != nil {
		return Traffic{}, err
	}
	traffic := Traffic{Members: map[pipeline.MemberName]MemberTraffic{}, Dropped: map[string]uint64{}}
	hits := pipeline.MemberHits(t, entries)
	for _, p := range t.Pools {
		for _, m := range p.Members {
			name := pipeline.MemberName{Pool: p.Name, Member: m.Name}
			traffic.Members[name] = MemberTraffic{hits[name], served(m, conns)}
		}
	}
	for pool, h := range pipeline.PoolDrops(t, entries) {
		traffic.Dropped[pool] = h.Packets
	}
	return traffic, nil
}

// served counts the balanced connections of a member.
func served(m model.Member, conns []datapath.Conn) (count int) {
	filter := pipeline.Connections(m)[0]
	for _, c := range conns {
		if filter.Match(c) {
			count++
		}
	}
	return count
}

// Learned lists what the switch has learned, given its flows.
func (n *Node) Learned(ctx context.Context, entries []openflow.FlowEntry) ([]pipeline.Neighbour, error) {
	t, err := n.Topology(ctx)
	if err != nil {
		return nil, err
	}
	return pipeline.Learned(t, entries), nil
}
