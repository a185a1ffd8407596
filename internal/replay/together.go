package replay

import (
	"context"
	"slices"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend"
)

// switches are the switches of shards, as one.
type switches []*simbackend.Switch

// Flows lists the flows of all, as one switch would that had seen all frames.
func (s switches) Flows(ctx context.Context) ([]openflow.FlowEntry, error) {
	var all []openflow.FlowEntry
	for _, sw := range s {
		flows, err := sw.Flows(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, flows...)
	}
	if len(s) == 1 {
		return all, nil
	}
	slices.SortStableFunc(all, func(a, b openflow.FlowEntry) int { return a.Key().Compare(b.Key()) })
	merged := all[:0]
	for _, f := range all {
		if last := len(merged) - 1; last >= 0 && merged[last].Key().Compare(f.Key()) == 0 {
			merged[last].Stats = sum(merged[last].Stats, f.Stats)
		} else {
			merged = append(merged, f)
		}
	}
	return merged, nil
}

// sum is what a flow has seen if a and b are what it has seen on two switches.
func sum(a, b openflow.Stats) openflow.Stats {
	return openflow.Stats{
		Packets: a.Packets + b.Packets, Bytes: a.Bytes + b.Bytes,
		Duration: max(a.Duration, b.Duration), IdleAge: min(a.IdleAge, b.IdleAge), HardAge: min(a.HardAge, b.HardAge),
	}
}

// Connections lists the connections of all.
func (s switches) Connections(ctx context.Context) ([]datapath.Conn, error) {
	var all []datapath.Conn
	for _, sw := range s {
		conns, err := sw.Connections(ctx, datapath.ConnFilter{})
		if err != nil {
			return nil, err
		}
		all = append(all, conns...)
	}
	slices.SortStableFunc(all, simbackend.CompareConns)
	return all, nil
}

// close releases them.
func (s switches) close() {
	for _, sw := range s {
		sw.Close()
	}
}
