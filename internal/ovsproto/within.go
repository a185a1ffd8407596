package ovsproto

import (
	"context"
	"errors"
	"net"
	"time"
)

// within runs one exchange on conn and breaks it off when ctx ends. The error is then the context's.
func within(ctx context.Context, conn net.Conn, exchange func() error) error {
	deadline, _ := ctx.Deadline() // zero: none
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
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
