package ovsbackend

import (
	"context"
	"errors"
	"fmt"

	"hpnn/datapath"
	"hpnn/internal/ovsproto"
)

// unavailable says that the switch did not answer, and what was tried. A refusal stays a refusal and a
// caller who gave up gets the context's own error.
func unavailable(ctx context.Context, tried string, err error) error {
	var refused *ovsproto.RefusedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && !refused.Disconnected():
		return fmt.Errorf("%s: %w", tried, err)
	case errors.Is(context.Cause(ctx), errTimeout):
		return fmt.Errorf("%s: %w: no answer in time: %w", tried, datapath.ErrUnavailable, err)
	case errors.Is(context.Cause(ctx), errLinkDown):
		return fmt.Errorf("%s: %w: %w", tried, datapath.ErrUnavailable, errLinkDown)
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", tried, context.Cause(ctx))
	}
	return fmt.Errorf("%s: %w: %w", tried, datapath.ErrUnavailable, err)
}

// errTimeout is the cause of contexts that Config.Timeout ended.
var errTimeout = errors.New("the call's own time limit")
