package health

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// A Dial function opens the way to a member. The networks are
//
//	tcp    a stream to remote, an "address:port"
//	udp    datagrams to and from remote, an "address:port"
//	icmp   ICMP messages to and from remote, an "address": Write sends one, from its type to its data and with its checksum,
//	       and Read returns one that came in, without IP header
//
// local is the address the probe leaves from, without port, or empty for any. Close must end a Read or Write that waits:
// that is how a probe whose time is up lets go. A member that refuses is an error that matches syscall.ECONNREFUSED, from
// Dial for tcp and from Read for udp.
type Dial func(ctx context.Context, network, local, remote string) (net.Conn, error)

// NetDial is the [Dial] function of the machine's own network.
func NetDial(ctx context.Context, network, local, remote string) (net.Conn, error) {
	var source netip.Addr
	if local != "" {
		var err error
		if source, err = netip.ParseAddr(local); err != nil {
			return nil, fmt.Errorf("dial %s %s: source: %w", network, remote, err)
		}
	}
	d := net.Dialer{KeepAlive: -1, Control: tune}
	switch network {
	case "tcp":
		if source.IsValid() {
			d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(source, 0))
		}
		return d.DialContext(ctx, "tcp", remote)
	case "udp":
		if source.IsValid() {
			d.LocalAddr = net.UDPAddrFromAddrPort(netip.AddrPortFrom(source, 0))
		}
		return d.DialContext(ctx, "udp", remote)
	case "icmp":
		return dialICMP(ctx, d, source, remote)
	}
	return nil, fmt.Errorf("dial %s %s: no such network here: use tcp, udp or icmp", network, remote)
}

// open dials a target and ties the connection to the context: when that is done, the connection is closed.
func (d Dial) open(ctx context.Context, network string, t Target) (net.Conn, func(), error) {
	local, remote := "", t.Address.String()
	if t.Source.IsValid() {
		local = t.Source.String()
	}
	if network == "icmp" {
		remote = t.Address.Addr().String()
	}
	if d == nil {
		d = NetDial
	}
	conn, err := d(ctx, network, local, remote)
	if err != nil {
		return nil, nil, during("no connection", err)
	}
	untie := context.AfterFunc(ctx, func() { conn.Close() })
	return conn, func() { untie(); conn.Close() }, nil
}

// dialRaw opens a raw ICMP socket, which takes a privilege.
func dialRaw(ctx context.Context, d net.Dialer, source netip.Addr, remote string) (net.Conn, error) {
	if source.IsValid() {
		d.LocalAddr = &net.IPAddr{IP: source.AsSlice()}
	}
	conn, err := d.DialContext(ctx, "ip4:icmp", remote)
	switch {
	case errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES):
		return nil, unprobed("not permitted to send ICMP: grant CAP_NET_RAW, or on Linux a group in net.ipv4.ping_group_range")
	case err != nil:
		return nil, err
	}
	return rawConn{conn.(*net.IPConn)}, nil
}

// A rawConn reads without the IP header, which Read of an IPConn leaves in place and ReadFrom takes off.
type rawConn struct{ *net.IPConn }

func (c rawConn) Read(b []byte) (int, error) {
	n, _, err := c.ReadFrom(b)
	return n, err
}
