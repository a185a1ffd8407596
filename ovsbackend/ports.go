package ovsbackend

import (
	"cmp"
	"context"
	"slices"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/ovsproto"
)

// Ports implements datapath.Bridge.
func (b *Bridge) Ports(ctx context.Context) (ports []datapath.Port, err error) {
	err = b.do(ctx, "list ports", func(ctx context.Context) (err error) {
		ports, err = b.ports(ctx)
		return err
	})
	return ports, err
}

// ports asks for names and for counters.
func (b *Bridge) ports(ctx context.Context) ([]datapath.Port, error) {
	var names []ovsproto.Port
	var counters []ovsproto.PortCounters
	err := b.ask(ctx, func(ctx context.Context, conn *ovsproto.Conn) (err error) {
		if names, err = conn.Ports(ctx); err != nil {
			return err
		}
		counters, err = conn.Counters(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	counted := map[uint32]ovsproto.PortCounters{}
	for _, c := range counters {
		counted[c.Number] = c
	}
	var ports []datapath.Port
	for _, p := range names {
		c := counted[p.Number]
		ports = append(ports, datapath.Port{Number: openflow.PortNo(p.Number), Name: p.Name,
			RxFrames: c.RxFrames, RxBytes: c.RxBytes, TxFrames: c.TxFrames, TxBytes: c.TxBytes})
	}
	slices.SortFunc(ports, func(a, b datapath.Port) int { return cmp.Compare(a.Number, b.Number) })
	return ports, nil
}
