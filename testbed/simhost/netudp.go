package simhost

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"
)

// netUDP is a connected UDP socket for goroutines.
type netUDP struct {
	world  *World
	socket *Socket
	remote netip.AddrPort
	got    [][]byte
	err    error // of an ICMP message, given once
	read   deadline
	closed bool
	signal signal
}

// udpQueue bounds the datagrams that wait to be read.
const udpQueue = 256

func (d *Dialer) dialUDP(remote netip.AddrPort) (net.Conn, error) {
	u := &netUDP{world: d.host.world, remote: remote}
	var err error
	u.world.Do(func() {
		if _, ok := d.host.nextHop(remote.Addr()); !ok || !remote.Addr().Is4() {
			err = ErrNoRoute
			return
		}
		u.socket, err = d.host.OpenUDP(d.options.LocalPort, SocketHandler{Datagram: u.datagram, Error: u.failed})
	})
	if err != nil {
		return nil, err
	}
	u.read.timer = &timer{queue: &u.world.queue, fire: func() {
		u.read.passed = true
		u.signal.broadcast()
	}}
	return u, nil
}

func (u *netUDP) datagram(_ *Socket, from netip.AddrPort, data []byte) {
	if from == u.remote && len(u.got) < udpQueue {
		u.got = append(u.got, data)
		u.signal.broadcast()
	}
}

func (u *netUDP) failed(_ *Socket, to netip.AddrPort, err error) {
	if to == u.remote {
		u.err = err
		u.signal.broadcast()
	}
}

// Read gives the next datagram, cut to p, or waits for it.
func (u *netUDP) Read(p []byte) (count int, err error) {
	waited := u.world.await(context.Background(), &u.signal, func() (done bool) {
		count, err = u.take(p)
		return !errors.Is(err, ErrAgain)
	})
	if waited != nil {
		err = waited
	}
	return count, u.wrap("read", err)
}

func (u *netUDP) take(p []byte) (int, error) {
	switch {
	case u.closed:
		return 0, net.ErrClosed
	case u.read.passed:
		return 0, os.ErrDeadlineExceeded
	case u.err != nil:
		err := u.err
		u.err = nil
		return 0, err
	case len(u.got) == 0:
		return 0, ErrAgain
	}
	n := copy(p, u.got[0])
	u.got = u.got[1:]
	return n, nil
}

// Write sends a datagram.
func (u *netUDP) Write(p []byte) (int, error) {
	var err error
	u.world.Do(func() {
		if u.closed {
			err = net.ErrClosed
			return
		}
		err = u.socket.Send(u.remote, p)
	})
	if err != nil {
		return 0, u.wrap("write", err)
	}
	return len(p), nil
}

func (u *netUDP) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return &net.OpError{Op: op, Net: "udp", Source: u.LocalAddr(), Addr: u.RemoteAddr(), Err: err}
}

func (u *netUDP) Close() error {
	u.world.Do(func() {
		u.closed = true
		u.read.timer.stop()
		u.socket.Close()
		u.signal.broadcast()
	})
	return nil
}

func (u *netUDP) LocalAddr() net.Addr  { return net.UDPAddrFromAddrPort(u.socket.Local()) }
func (u *netUDP) RemoteAddr() net.Addr { return net.UDPAddrFromAddrPort(u.remote) }

func (u *netUDP) SetDeadline(t time.Time) error    { return u.SetReadDeadline(t) }
func (u *netUDP) SetWriteDeadline(time.Time) error { return nil } // Write never waits

func (u *netUDP) SetReadDeadline(t time.Time) error {
	u.world.Do(func() {
		u.read.passed = false
		u.read.timer.stop()
		switch left := time.Until(t); {
		case t.IsZero():
		case left > 0:
			u.read.timer.reset(left)
		default:
			u.read.passed = true
			u.signal.broadcast()
		}
	})
	return nil
}
