//go:build !linux

package health

import (
	"context"
	"net"
	"net/netip"
	"syscall"
)

// tune leaves the sockets of other systems as they are.
func tune(string, string, syscall.RawConn) error { return nil }

// dialICMP opens a raw socket, which takes a privilege.
func dialICMP(ctx context.Context, d net.Dialer, source netip.Addr, remote string) (net.Conn, error) {
	return dialRaw(ctx, d, source, remote)
}
