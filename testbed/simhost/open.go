package simhost

import (
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// Ephemeral ports (net.ipv4.ip_local_port_range).
const (
	firstEphemeral = 32768
	lastEphemeral  = 60999
)

// Reuse says whether a local port may be taken that an earlier connection still holds.
type Reuse uint8

// Possible choices.
const (
	NoReuse    Reuse = iota // not as long as any connection uses the port
	ReuseLocal              // if no live connection has the same two ends, as with SO_REUSEADDR
)

// DialOptions describe a connection to make. The zero value is a good one.
type DialOptions struct {
	LocalPort uint16 // the next free one from 32768 up if 0
	Reuse     Reuse  // of LocalPort
	TTL       uint8  // 64 if 0
}

// Dial begins to connect. It fails at once with ErrNoRoute, ErrInUse, ErrNoPort or
// ErrKilled; later the connection fails with ErrRefused, ErrTimeout or ErrUnreachable.
func (h *Host) Dial(remote netip.AddrPort, o DialOptions) (*Conn, error) {
	c, err := h.dial(remote, o)
	if err != nil {
		return nil, fmt.Errorf("dial %s from %s: %w", remote, h.config.Name, err)
	}
	return c, nil
}

func (h *Host) dial(remote netip.AddrPort, o DialOptions) (*Conn, error) {
	switch {
	case !remote.Addr().Is4() || remote.Port() == 0:
		return nil, ErrNoRoute
	case h.life.killed:
		return nil, ErrKilled
	}
	if _, ok := h.nextHop(remote.Addr()); !ok {
		return nil, ErrNoRoute
	}
	key := connKey{ip: remote.Addr().As4(), port: remote.Port(), local: o.LocalPort}
	after, err := h.choosePort(&key, o.Reuse)
	if err != nil {
		return nil, err
	}
	c := h.newConn(key, netip.AddrPortFrom(h.ip, key.local), remote)
	if after != nil {
		c.snd = newSender(after.snd.max + 65535 + 2) // as Linux does for tcp_tw_reuse
	}
	c.ttl = o.TTL
	c.state = SynSent
	c.sendSYN()
	return c, nil
}

// choosePort fills in the local port and gives the connection in TIME-WAIT that it takes
// over, if any.
func (h *Host) choosePort(key *connKey, reuse Reuse) (*Conn, error) {
	if key.local == 0 {
		return nil, h.freePort(key)
	}
	if h.acceptors[key.local] != nil || reuse == NoReuse && h.portInUse(key.local) {
		return nil, ErrInUse
	}
	old := h.conns[*key]
	if old == nil {
		return nil, nil
	}
	if old.state != TimeWait {
		return nil, ErrInUse
	}
	old.remove()
	return old, nil
}

// freePort fills in the next port from 32768 up that is free towards the remote end.
func (h *Host) freePort(key *connKey) error {
	for range lastEphemeral - firstEphemeral + 1 {
		key.local = h.ephemeral
		if h.ephemeral++; h.ephemeral > lastEphemeral {
			h.ephemeral = firstEphemeral
		}
		if h.conns[*key] == nil && h.acceptors[key.local] == nil {
			return nil
		}
	}
	return ErrNoPort
}

func (h *Host) portInUse(local uint16) bool {
	for k := range h.conns {
		if k.local == local {
			return true
		}
	}
	return false
}

// Acceptor is an open TCP port of a host.
type Acceptor struct {
	host    *Host
	port    uint16
	accept  func(*Conn)
	pending []*Conn // not established yet, then waiting to be accepted
	queued  bool    // among the host's tasks
	signal  signal

	flooded   bool // cookies were sent, last at floodedAt
	floodedAt time.Duration
}

// Listen opens a port. Each connection is given to accept, which sets its handler. It fails
// with ErrInUse. A Kill closes the port for good; see also Serve.
func (h *Host) Listen(port uint16, accept func(*Conn)) (*Acceptor, error) {
	switch {
	case h.acceptors[port] != nil || port == 0:
		return nil, fmt.Errorf("listen on %s:%d: %w", h.config.Name, port, ErrInUse)
	case h.life.killed:
		return nil, fmt.Errorf("listen on %s:%d: %w", h.config.Name, port, ErrKilled)
	}
	a := &Acceptor{host: h, port: port, accept: accept}
	h.acceptors[port] = a
	return a, nil
}

// Serve is Listen for a service that Revive starts again after a Kill.
func (h *Host) Serve(port uint16, accept func(*Conn)) error {
	return h.serve(service{name: fmt.Sprintf("tcp/%d", port), start: func() error {
		_, err := h.Listen(port, accept)
		return err
	}})
}

// Local is the address listened on.
func (a *Acceptor) Local() netip.AddrPort { return netip.AddrPortFrom(a.host.ip, a.port) }

// Close closes the port. Connections that were not accepted are reset.
func (a *Acceptor) Close() {
	if a.host.acceptors[a.port] == a {
		delete(a.host.acceptors, a.port)
	}
	for _, c := range slices.Clone(a.pending) {
		c.Abort()
	}
	a.signal.broadcast()
}

// full reports whether as many connections wait to be accepted as may.
func (a *Acceptor) full() bool {
	return len(a.pending)-a.begun() >= a.host.config.TCP.Backlog
}

// begun is how many handshakes are under way.
func (a *Acceptor) begun() (n int) {
	for _, c := range a.pending {
		if c.state == SynReceived {
			n++
		}
	}
	return n
}

// forget drops a connection that ended before it was accepted.
func (a *Acceptor) forget(c *Conn) {
	if i := slices.Index(a.pending, c); i >= 0 {
		a.pending = slices.Delete(a.pending, i, i+1)
	}
}

func (a *Acceptor) wake() {
	if !a.queued {
		a.queued = true
		a.host.enqueueTask(a)
	}
}

// run is the server's turn: it accepts all that are established.
func (a *Acceptor) run() {
	a.queued = false
	ready := slices.Clone(a.pending)
	for _, c := range ready {
		if c.acceptor == a && c.state != SynReceived {
			c.acceptor = nil
			a.forget(c)
			a.accept(c)
		}
	}
}
