package ovsbackend

import (
	"context"
	"errors"

	"hpnn/internal/ovsproto"
)

// ask puts a question over an OpenFlow connection of its own, which costs little and survives restarts.
func (b *Bridge) ask(ctx context.Context, question func(context.Context, *ovsproto.Conn) error) error {
	tried := "ask " + b.config.managementSocket()
	ctx, release, err := b.link.hold(ctx)
	if err != nil {
		return unavailable(ctx, tried, err)
	}
	defer release()
	conn, err := ovsproto.Dial(ctx, b.config.managementSocket())
	if err == nil {
		defer conn.Close()
		err = question(ctx, conn)
	}
	return unavailable(ctx, tried, err)
}

// over makes a call over the connection that stays open. If that breaks, the call is made again over the next one: it
// must not have changed anything, or say so with another error than ovsproto.ErrLost.
func (b *Bridge) over(ctx context.Context, call func(context.Context, *ovsproto.Session) error) error {
	tried := "use " + b.config.managementSocket()
	ctx, release, err := b.link.hold(ctx)
	if err != nil {
		return unavailable(ctx, tried, err)
	}
	defer release()
	var session *ovsproto.Session
	for {
		if session, err = b.link.next(ctx, session); err != nil {
			return unavailable(ctx, tried, err)
		}
		if err = call(ctx, session); !errors.Is(err, ovsproto.ErrLost) {
			return unavailable(ctx, tried, err)
		}
	}
}
