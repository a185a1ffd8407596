package simhost

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// GetOptions describe an HTTP request. The zero value is a GET that closes its connection.
type GetOptions struct {
	Method    string        // GET if empty
	Host      string        // of the header; that of the URL if empty
	Body      []byte        // to send
	Timeout   time.Duration // for all of it; 30 s if 0
	KeepAlive KeepAlive
	Dial      DialOptions
}

// KeepAlive says what happens to the connection after a request.
type KeepAlive uint8

// Possible choices.
const (
	CloseAfter KeepAlive = iota // each request has a connection of its own
	Reusable                    // it waits for the next request to the same address, which takes it
)

const defaultTimeout = 30 * time.Second

// Result is how a request ended.
type Result struct {
	Status  int // 0 if no answer came
	Header  http.Header
	Body    []byte // what came of it, if the request failed
	Backend string // the backend= of the body, if it has one
	// Err is nil, or ErrRefused, ErrReset, ErrTimeout, ErrUnreachable, ErrNoRoute, ErrInUse, ErrKilled,
	// io.ErrUnexpectedEOF (closed within an answer), or io.EOF (closed before it), wrapped.
	Err    error
	Local  netip.AddrPort // of the connection
	Reused bool           // of an earlier request
	// Times since the request began; 0 if it did not get there.
	Connected, FirstByte, Total time.Duration
}

// String is one line: status and first line of the body, or the error.
func (r Result) String() string {
	if r.Err != nil {
		return "error: " + r.Err.Error()
	}
	line, _, _ := strings.Cut(string(r.Body), "\n")
	return strings.TrimSpace(strconv.Itoa(r.Status) + " " + line)
}

// Request is an HTTP request under way.
type Request struct {
	host    *Host
	serial  uint64
	method  string
	address string
	target  *url.URL
	remote  netip.AddrPort
	options GetOptions
	done    func(Result)

	began    time.Duration
	conn     *Conn
	timer    *timer
	sent     bool
	in       []byte
	response *http.Response
	body     body
	result   Result
	finished bool
}

// Get requests an http URL, whose host must be an IPv4 address. The result goes to done,
// which may be nil, when all of the answer is there or the request failed.
func (h *Host) Get(address string, o GetOptions, done func(Result)) *Request {
	h.births++
	r := &Request{host: h, serial: h.births, method: cmp.Or(o.Method, http.MethodGet), address: address, options: o, done: done, began: h.world.now}
	h.requests[r] = struct{}{}
	r.timer = h.appTimer(func() { r.fail(ErrTimeout) })
	h.schedule(r.start)
	return r
}

// Done reports whether the request has ended.
func (r *Request) Done() bool { return r.finished }

// Result is how the request ended or, until it does, what has come so far.
func (r *Request) Result() Result {
	result := r.result
	result.Body = slices.Clone(r.body.data)
	result.Backend = backendOf(result.Body)
	return result
}

// backendOf is the word behind "backend=" in the first line of a body.
func backendOf(body []byte) string {
	line, _, _ := bytes.Cut(body[:min(len(body), 1024)], []byte("\n"))
	for word := range bytes.FieldsSeq(line) {
		if name, ok := bytes.CutPrefix(word, []byte("backend=")); ok {
			return string(name)
		}
	}
	return ""
}

// Conn is the request's connection; nil before there is one.
func (r *Request) Conn() *Conn { return r.conn }

// Cancel gives up: the connection is closed and done is not called.
func (r *Request) Cancel() {
	r.done = nil
	r.fail(ErrKilled)
}

// String is one line: method, URL, and how it stands.
func (r *Request) String() string {
	switch {
	case r.result.Err != nil:
		return r.result.Err.Error()
	case r.finished:
		return fmt.Sprintf("%s %s: %s", r.method, r.address, r.Result())
	}
	return fmt.Sprintf("%s %s: under way for %s", r.method, r.address, r.host.since(r.began))
}

func (r *Request) start() {
	if r.finished {
		return
	}
	if err := r.locate(); err != nil {
		r.fail(err)
		return
	}
	r.timer.reset(orTime(r.options.Timeout, defaultTimeout) - r.host.since(r.began))
	if err := r.connect(); err != nil {
		r.fail(err)
		return
	}
	r.result.Local = r.conn.local
	r.conn.Handle(r.turn)
}

// locate finds the address to connect to.
func (r *Request) locate() error {
	u, err := url.Parse(r.address)
	if err != nil {
		return err
	}
	r.target = u
	ip, err := netip.ParseAddr(u.Hostname())
	port, portErr := strconv.ParseUint(cmp.Or(u.Port(), "80"), 10, 16)
	if u.Scheme != "http" || err != nil || !ip.Is4() || portErr != nil {
		return errors.New("give http://, an IPv4 address, and perhaps a port and a path")
	}
	r.remote = netip.AddrPortFrom(ip, uint16(port))
	return nil
}

// connect takes a connection that is kept alive, or begins a new one.
func (r *Request) connect() (err error) {
	if r.options.KeepAlive == Reusable {
		if r.conn = r.host.takeIdle(r.remote); r.conn != nil {
			r.result.Reused = true
			return nil
		}
	}
	r.conn, err = r.host.Dial(r.remote, r.options.Dial)
	return err
}

// turn goes on with what the connection has.
func (r *Request) turn(c *Conn) {
	if r.finished {
		return
	}
	if !r.sent && c.state != SynSent && c.err == nil {
		r.sent = true
		r.result.Connected = r.host.since(r.began)
		c.Write(r.message())
	}
	for !r.finished {
		data, err := c.Take()
		switch {
		case err == nil:
			r.receive(data)
		case errors.Is(err, io.EOF):
			r.eof()
		case errors.Is(err, ErrAgain):
			return
		default:
			r.fail(err)
		}
	}
}

// message is the request as sent.
func (r *Request) message() []byte {
	b := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.method, r.target.RequestURI(), cmp.Or(r.options.Host, r.target.Host))
	if r.options.KeepAlive == CloseAfter {
		b = append(b, "Connection: close\r\n"...)
	}
	if len(r.options.Body) > 0 {
		b = fmt.Appendf(b, "Content-Length: %d\r\n", len(r.options.Body))
	}
	b = append(b, "\r\n"...)
	return append(b, r.options.Body...)
}

// receive takes a part of the answer.
func (r *Request) receive(data []byte) {
	if r.result.FirstByte == 0 {
		r.result.FirstByte = r.host.since(r.began)
	}
	r.in = append(r.in, data...)
	if r.response == nil && !r.receiveHead() {
		return
	}
	rest, err := r.body.feed(r.in)
	r.in = rest
	switch {
	case err != nil:
		r.fail(err)
	case r.body.done:
		r.finish(nil)
	}
}

// receiveHead reads the header of the answer; false if it is not there.
func (r *Request) receiveHead() bool {
	h, err := head(r.in)
	if err == nil && h == nil {
		return false
	}
	if err == nil {
		r.response, err = r.host.heads.response(h, r.method)
	}
	if err != nil {
		r.fail(err)
		return false
	}
	r.in = r.in[len(h):]
	r.body = newBody(r.response, r.method)
	r.result.Status, r.result.Header = r.response.StatusCode, r.response.Header
	if r.response.StatusCode/100 == 1 { // the real one follows
		r.response = nil
		return len(r.in) > 0 && r.receiveHead()
	}
	return true
}

// eof ends the request as its connection ends.
func (r *Request) eof() {
	if r.response == nil {
		r.fail(io.EOF)
		return
	}
	r.finish(r.wrap(r.body.eof()))
}

// fail ends the request without a whole answer.
func (r *Request) fail(err error) { r.finish(r.wrap(err)) }

// wrap says what failed.
func (r *Request) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", r.method, r.address, err)
}

// finish ends the request and tells who waits for it.
func (r *Request) finish(err error) {
	if r.finished {
		return
	}
	r.finished = true
	r.timer.stop()
	delete(r.host.requests, r)
	r.result.Err = err
	r.result.Total = r.host.since(r.began)
	r.release(err)
	if r.done != nil {
		r.done(r.Result())
	}
}

// release keeps the connection for the next request, or closes it.
func (r *Request) release(err error) {
	switch {
	case r.conn == nil:
	case err == nil && r.options.KeepAlive == Reusable && !r.response.Close && !r.body.toEOF && len(r.in) == 0:
		r.host.keepIdle(r.remote, r.conn)
	default:
		r.conn.Close()
	}
}

// keepIdle keeps a connection until the peer closes it.
func (h *Host) keepIdle(remote netip.AddrPort, c *Conn) {
	h.idle[remote] = append(h.idle[remote], c)
	c.Handle(func(c *Conn) {
		if c.readable() == ErrAgain {
			return
		}
		h.idle[remote] = slices.DeleteFunc(h.idle[remote], func(o *Conn) bool { return o == c })
		c.Close()
	})
}

// takeIdle takes the connection used last, or gives nil.
func (h *Host) takeIdle(remote netip.AddrPort) *Conn {
	idle := h.idle[remote]
	if len(idle) == 0 {
		return nil
	}
	c := idle[len(idle)-1]
	h.idle[remote] = idle[:len(idle)-1]
	return c
}
