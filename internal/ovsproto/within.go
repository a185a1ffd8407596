package ovsproto

import (
	"context"
	"errors"
	"net"
	"time"
)

// within runs one exchange and breaks it off when ctx ends. The error is then the context's. limit sets
// the deadline of a connection's reading, writing or both.
func within(ctx context.Context, limit func(time.Time) error, exchange func() error) error {
	deadline, _ := ctx.Deadline() // zero: none
	if err := limit(deadline); err != nil {
		return err
	}
	broken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(broken)
		_ = limit(time.Unix(1, 0))
	})
	defer func() {
		if !stop() {
			<-broken // or it would break off the next exchange
		}
	}()
	err := exchange()
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return context.DeadlineExceeded
	}
	return err
}
