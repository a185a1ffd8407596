package main

import (
	"context"
	"errors"
	"log/slog"

	"hpnn/model"
)

// openOVS opens the bridge of the topology's node.
func openOVS(_ context.Context, _ options, _ model.Topology, _ *slog.Logger) (site, error) {
	return site{}, inputError{errors.New("backend ovs: not built in yet: use --backend sim")}
}
