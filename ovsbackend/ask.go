package ovsbackend

import (
	"context"

	"hpnn/internal/ovsproto"
)

// ask puts a question over an OpenFlow connection of its own, which costs little and survives restarts.
func (b *Bridge) ask(ctx context.Context, question func(*ovsproto.Conn) error) error {
	tried := "ask " + b.config.managementSocket()
	if err := b.link.await(ctx); err != nil {
		return unavailable(ctx, tried, err)
	}
	conn, err := ovsproto.Dial(ctx, b.config.managementSocket())
	if err == nil {
		defer conn.Close()
		err = question(conn)
	}
	return unavailable(ctx, tried, err)
}
