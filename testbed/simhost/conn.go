package simhost

import (
	"cmp"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"time"
)

// TCP is how a host's TCP behaves. The zero value is Linux's defaults.
type TCP struct {
	TimeWait      time.Duration // in TIME-WAIT, and an orphan in FIN-WAIT-2; 60 s if 0
	SYNRetries    int           // SYNs after the first; 6 if 0 (tcp_syn_retries)
	SYNACKRetries int           // 5 if 0 (tcp_synack_retries)
	Retries       int           // of a segment; 15 if 0 (tcp_retries2)
	OrphanRetries int           // of a segment when nobody waits any more; 8 if 0 (tcp_orphan_retries)
	Backlog       int           // connections that wait to be accepted, and handshakes under way; 128 if 0
	Buffer        int           // bytes received that wait to be read; 131072 if 0
}

func (t TCP) withDefaults() TCP {
	return TCP{
		TimeWait:      orTime(t.TimeWait, time.Minute),
		SYNRetries:    orInt(t.SYNRetries, 6),
		SYNACKRetries: orInt(t.SYNACKRetries, 5),
		Retries:       orInt(t.Retries, 15),
		OrphanRetries: orInt(t.OrphanRetries, 8),
		Backlog:       orInt(t.Backlog, 128),
		Buffer:        orInt(t.Buffer, 128<<10),
	}
}

// State is that of a connection (RFC 9293 3.3.2).
type State uint8

// Possible states. LISTEN has no connection and is not among them.
const (
	Closed State = iota
	SynSent
	SynReceived
	Established
	FinWait1
	FinWait2
	CloseWait
	Closing
	LastAck
	TimeWait
)

var stateNames = [...]string{
	"CLOSED", "SYN-SENT", "SYN-RECEIVED", "ESTABLISHED", "FIN-WAIT-1", "FIN-WAIT-2", "CLOSE-WAIT", "CLOSING", "LAST-ACK", "TIME-WAIT",
}

// String is the name in RFC 9293.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// connKey tells a host's connections apart.
type connKey struct {
	ip    [4]byte // of the peer
	port  uint16  // of the peer
	local uint16
}

// Conn is one end of a TCP connection. Its methods never wait.
type Conn struct {
	host    *Host
	key     connKey
	birth   uint64
	opened  time.Duration
	local   netip.AddrPort
	remote  netip.AddrPort
	state   State
	err     error
	handler func(*Conn)
	queued  bool // among the host's tasks
	orphan  bool // the application has closed it

	acceptor *Acceptor // of a connection not yet accepted
	timer    timer     // retransmission, FIN-WAIT-2 or TIME-WAIT
	ttl      uint8
	ipID     uint16
	lastDup  time.Duration // when a segment out of the window was last answered
	snd      sender
	rcv      receiver
	signal   signal // of goroutines that wait
}

func (h *Host) newConn(k connKey, local, remote netip.AddrPort) *Conn {
	h.births++
	iss := h.isn(k)
	c := &Conn{
		host: h, key: k, birth: h.births, opened: h.world.now, local: local, remote: remote,
		ipID: uint16(mix(uint64(iss))), lastDup: -dupInterval,
	}
	c.snd = newSender(iss)
	c.timer = timer{queue: &h.world.queue, fire: c.timeout, held: h.heldMachine}
	h.conns[k] = c
	return c
}

// Host is the host this end is on.
func (c *Conn) Host() *Host { return c.host }

// Local is this end's address.
func (c *Conn) Local() netip.AddrPort { return c.local }

// Remote is the other end's address.
func (c *Conn) Remote() netip.AddrPort { return c.remote }

// State is where the connection stands.
func (c *Conn) State() State { return c.state }

// Err is why the connection failed, or nil.
func (c *Conn) Err() error { return c.err }

// Handle sets who is told that there is something new: the connection is established, has
// something to read, ended, or failed. The handler looks for itself what it is. It is
// called soon once in any case.
func (c *Conn) Handle(f func(*Conn)) {
	c.handler = f
	c.wake()
}

// wake gives the application its turn, if there is one.
func (c *Conn) wake() {
	c.signal.broadcast()
	switch {
	case c.acceptor != nil:
		c.acceptor.wake()
	case c.handler != nil && !c.queued:
		c.queued = true
		c.host.enqueueTask(c)
	}
}

// run is the application's turn.
func (c *Conn) run() {
	c.queued = false
	if c.handler != nil {
		c.handler(c)
	}
}

// Read reads what has arrived. It fails with ErrAgain if there is nothing yet, with io.EOF
// after the peer's FIN, and with the connection's error.
func (c *Conn) Read(p []byte) (int, error) {
	if err := c.readable(); err != nil {
		return 0, err
	}
	n := copy(p, c.rcv.buf)
	c.rcv.buf = c.rcv.buf[n:]
	c.drained()
	return n, nil
}

// Take reads all that has arrived, as Read does.
func (c *Conn) Take() ([]byte, error) {
	if err := c.readable(); err != nil {
		return nil, err
	}
	data := c.rcv.buf
	c.rcv.buf = nil
	c.drained()
	return data, nil
}

// readable is why there is nothing to read, or nil.
func (c *Conn) readable() error {
	switch {
	case c.orphan:
		return io.ErrClosedPipe
	case len(c.rcv.buf) > 0:
		return nil
	case c.err != nil:
		return c.err
	case c.rcv.fin:
		return io.EOF
	case c.state == Closed:
		return io.ErrClosedPipe
	}
	return ErrAgain
}

// Write takes all of p and sends it as soon as the peer's window allows. It fails if the
// connection failed or is closed for writing.
func (c *Conn) Write(p []byte) (int, error) {
	switch {
	case c.err != nil:
		return 0, c.err
	case c.orphan || c.snd.fin || c.state == Closed:
		return 0, ErrPipe
	}
	c.snd.buf = append(c.snd.buf, p...)
	c.push()
	return len(p), nil
}

// Unsent is how many bytes written have not been acknowledged.
func (c *Conn) Unsent() int { return len(c.snd.buf) }

// CloseWrite ends this end's data with FIN; reading goes on.
func (c *Conn) CloseWrite() {
	switch c.state {
	case SynSent, SynReceived: // the FIN goes when the handshake is complete
	case Established:
		c.state = FinWait1
	case CloseWait:
		c.state = LastAck
	default:
		return
	}
	c.snd.fin = true
	c.push()
}

// Close ends the connection in order. As in Linux, one with data that was not read is reset
// instead: the peer must not believe it was. The host keeps a closed connection until the
// peer has closed too.
func (c *Conn) Close() {
	if c.orphan {
		return
	}
	c.orphan, c.handler = true, nil
	c.signal.broadcast()
	if c.state == SynSent || len(c.rcv.buf) > 0 {
		c.abort()
		return
	}
	c.CloseWrite()
	if c.state == FinWait2 {
		c.timer.reset(c.host.config.TCP.TimeWait)
	}
}

// Abort resets the connection.
func (c *Conn) Abort() {
	if c.orphan {
		return
	}
	c.orphan, c.handler = true, nil
	c.abort()
	c.signal.broadcast()
}

func (c *Conn) abort() {
	switch c.state {
	case SynReceived, Established, FinWait1, FinWait2, CloseWait:
		c.sendReset()
	}
	c.remove()
}

// remove forgets the connection, without a word to the peer.
func (c *Conn) remove() {
	c.state = Closed
	c.timer.stop()
	c.snd.buf = nil
	c.rcv.ooo = nil
	if c.host.conns[c.key] == c {
		delete(c.host.conns, c.key)
	}
	if c.acceptor != nil {
		c.acceptor.forget(c)
	}
}

// fail ends the connection with an error that the application gets.
func (c *Conn) fail(err error) {
	c.err = err
	c.remove()
	c.wake()
}

// String is the connection as `ss` shows it: state, ends, and what waits in the buffers.
func (c *Conn) String() string {
	s := fmt.Sprintf("%s %s %s", c.state, c.local, c.remote)
	if n := len(c.rcv.buf); n > 0 {
		s += fmt.Sprintf(" unread %d", n)
	}
	if n := len(c.snd.buf); n > 0 {
		s += fmt.Sprintf(" unacknowledged %d", n)
	}
	if c.err != nil {
		s += " (" + c.err.Error() + ")"
	}
	return s
}

// Conns lists the host's connections in the order they were opened.
func (h *Host) Conns() []*Conn { return h.byBirth() }

func (h *Host) byBirth() []*Conn {
	all := make([]*Conn, 0, len(h.conns))
	for _, c := range h.conns {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *Conn) int { return cmp.Compare(a.birth, b.birth) })
	return all
}
