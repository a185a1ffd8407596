package main

import (
	"context"
	"log/slog"

	"hpnn/internal/bridgerpc"
	"hpnn/model"
	"hpnn/ovsbackend"
)

// openSimswitch uses a simulator in another process, which stands between the devices of this host, and gives the node's kernel
// its probe addresses: again each time that the simulator has begun anew, for its internal ports are new devices then.
func openSimswitch(ctx context.Context, o options, t model.Topology, log *slog.Logger) (site, error) {
	b, err := bridgerpc.Open(ctx, bridgerpc.Config{Socket: o.sim, Begin: func() error { return ovsbackend.SetUpPorts(ports(t)) }})
	if err != nil {
		return site{}, err
	}
	log.Info("bridge is ready", "simswitch", o.sim)
	return site{bridge: b}, nil
}
