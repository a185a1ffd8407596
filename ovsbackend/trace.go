package ovsbackend

import (
	"context"

	"hpnn/datapath"
)

// Trace implements datapath.Bridge.
func (b *Bridge) Trace(ctx context.Context, in datapath.Injection) (t datapath.Trace, err error) {
	return t, datapath.ErrNotSupported
}
