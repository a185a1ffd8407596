package ovsbackend

import (
	"context"

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
