package simhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"time"
)

// netConn is a net.Conn over a Conn, for goroutines.
type netConn struct {
	world       *World
	conn        *Conn
	read, write deadline
	closed      bool
}

// deadline is until when a goroutine may wait.
type deadline struct {
	timer  *timer
	passed bool
}

func newNetConn(w *World, c *Conn) *netConn {
	n := &netConn{world: w, conn: c}
	for _, d := range []*deadline{&n.read, &n.write} {
		d.timer = &timer{queue: &w.queue, fire: func() {
			d.passed = true
			c.signal.broadcast()
		}}
	}
	return n
}

// attempt repeats a step of reading or writing until it does not give ErrAgain. Nothing moves
// while the host's processes are paused.
func (n *netConn) attempt(op string, d *deadline, step func() error) error {
	var err error
	waited := n.world.await(context.Background(), &n.conn.signal, func() (done bool) {
		switch {
		case n.closed:
			err = net.ErrClosed
		case d.passed:
			err = os.ErrDeadlineExceeded
		case n.conn.host.life.frozen(Processes):
			return false
		default:
			err = step()
		}
		return !errors.Is(err, ErrAgain)
	})
	if waited != nil {
		err = waited
	}
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: n.LocalAddr(), Addr: n.RemoteAddr(), Err: err}
}

// Read reads what has arrived, or waits for it.
func (n *netConn) Read(p []byte) (count int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	err = n.attempt("read", &n.read, func() (err error) {
		count, err = n.conn.Read(p)
		return err
	})
	return count, err
}

// sendBuffer bounds what Write leaves to be sent.
const sendBuffer = 256 << 10

// Write hands p over to be sent, in parts while more than 256 KiB are not acknowledged.
func (n *netConn) Write(p []byte) (count int, err error) {
	for {
		err = n.attempt("write", &n.write, func() error {
			room := sendBuffer - n.conn.Unsent()
			if room <= 0 && n.conn.err == nil {
				return ErrAgain
			}
			k, err := n.conn.Write(p[count:min(count+max(room, 0), len(p))])
			count += k
			return err
		})
		if err != nil || count == len(p) {
			return count, err
		}
	}
}

// Close closes both ways; goroutines that wait get net.ErrClosed.
func (n *netConn) Close() error {
	return n.do("close", func() {
		n.closed = true
		n.read.timer.stop()
		n.write.timer.stop()
		n.conn.Close()
		n.conn.signal.broadcast()
	})
}

// CloseWrite sends FIN; reading goes on.
func (n *netConn) CloseWrite() error { return n.do("close", n.conn.CloseWrite) }

// do calls f unless the connection is closed.
func (n *netConn) do(op string, f func()) error {
	var err error
	n.world.Do(func() {
		if n.closed {
			err = &net.OpError{Op: op, Net: "tcp", Source: n.LocalAddr(), Addr: n.RemoteAddr(), Err: net.ErrClosed}
			return
		}
		f()
	})
	return err
}

func (n *netConn) LocalAddr() net.Addr  { return net.TCPAddrFromAddrPort(n.conn.local) }
func (n *netConn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(n.conn.remote) }

func (n *netConn) SetDeadline(t time.Time) error {
	return n.do("set", func() {
		n.set(&n.read, t)
		n.set(&n.write, t)
	})
}

func (n *netConn) SetReadDeadline(t time.Time) error {
	return n.do("set", func() { n.set(&n.read, t) })
}

func (n *netConn) SetWriteDeadline(t time.Time) error {
	return n.do("set", func() { n.set(&n.write, t) })
}

// set moves a deadline; the zero time takes it away.
func (n *netConn) set(d *deadline, t time.Time) {
	d.passed = false
	d.timer.stop()
	if t.IsZero() {
		return
	}
	if left := time.Until(t); left > 0 {
		d.timer.reset(left)
		return
	}
	d.passed = true
	n.conn.signal.broadcast()
}

// netListener is a net.Listener over an Acceptor.
type netListener struct {
	world    *World
	acceptor *Acceptor
	ready    []*Conn
	closed   bool
}

// Listener opens a port for goroutines; see Listen. The world must run for anything to
// arrive. A Kill closes it.
func (h *Host) Listener(port uint16) (net.Listener, error) {
	l := &netListener{world: h.world}
	var err error
	h.world.Do(func() {
		l.acceptor, err = h.Listen(port, func(c *Conn) {
			l.ready = append(l.ready, c)
			l.acceptor.signal.broadcast()
		})
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Accept waits for a connection.
func (l *netListener) Accept() (net.Conn, error) {
	var conn *netConn
	err := l.world.await(context.Background(), &l.acceptor.signal, func() (done bool) {
		if l.gone() {
			return true
		}
		if len(l.ready) == 0 {
			return false
		}
		conn = newNetConn(l.world, l.ready[0])
		l.ready = l.ready[1:]
		return true
	})
	if err == nil && conn == nil {
		err = net.ErrClosed
	}
	if err != nil {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.Addr(), Err: err}
	}
	return conn, nil
}

// gone reports whether the port is closed.
func (l *netListener) gone() bool {
	return l.closed || l.acceptor.host.acceptors[l.acceptor.port] != l.acceptor
}

// Close closes the port and resets what was not accepted.
func (l *netListener) Close() error {
	l.world.Do(func() {
		l.closed = true
		l.acceptor.Close()
		for _, c := range l.ready {
			c.Abort()
		}
		l.ready = nil
	})
	return nil
}

func (l *netListener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.acceptor.Local()) }

// Dialer connects from a host for goroutines.
type Dialer struct {
	host    *Host
	options DialOptions
}

// Dialer makes one; its DialContext fits http.Transport.
func (h *Host) Dialer(o DialOptions) *Dialer { return &Dialer{h, o} }

// DialContext connects to an IPv4 address and port over "tcp" or "udp". Over udp it gives a
// connected socket, as net.Dial does.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	remote, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("give an IPv4 address and a port: %w", err)}
	}
	var conn net.Conn
	switch network {
	case "tcp", "tcp4":
		conn, err = d.dialTCP(ctx, remote)
	case "udp", "udp4":
		conn, err = d.dialUDP(remote)
	default:
		err = net.UnknownNetworkError(network)
	}
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: net.TCPAddrFromAddrPort(remote), Err: err}
	}
	return conn, nil
}

func (d *Dialer) dialTCP(ctx context.Context, remote netip.AddrPort) (net.Conn, error) {
	var c *Conn
	var err error
	d.host.world.Do(func() {
		c, err = d.host.dial(remote, d.options)
	})
	if err != nil {
		return nil, err
	}
	err = d.host.world.await(ctx, &c.signal, func() (done bool) {
		return c.state != SynSent && c.state != SynReceived && !d.host.life.frozen(Processes)
	})
	n := newNetConn(d.host.world, c)
	if err == nil {
		d.host.world.Do(func() { err = c.err })
	}
	if err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}
