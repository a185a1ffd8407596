package simhost

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Web is an HTTP/1.1 server on a host. It answers
//
//	/                a line that says who answers whom: backend, time, client, served, req
//	/healthz         200 "ok", or 503 while SetHealth says Unhealthy
//	/slow?seconds=N  a line a second, N times
//
// and what Handle adds; other paths are 404.
type Web struct {
	host     *Host
	port     uint16
	health   Health
	handlers map[string]func(*Exchange)
	counts   map[string]int // requests by path, since the start
	requests int            // for "/", the req= of the answer
}

// Health is what a server says of itself.
type Health uint8

// Possible values.
const (
	Healthy Health = iota
	Unhealthy
)

// ServeWeb starts a web server. Revive starts it again, with its counters at 0.
func (h *Host) ServeWeb(port uint16) (*Web, error) {
	w := &Web{host: h, port: port}
	w.handlers = map[string]func(*Exchange){"/": w.root, "/healthz": w.healthz, "/slow": w.slow}
	err := h.serve(service{name: fmt.Sprintf("web on tcp/%d", port), start: func() error {
		w.counts, w.requests = map[string]int{}, 0
		_, err := h.Listen(port, func(c *Conn) { c.Handle((&webConn{web: w, conn: c}).turn) })
		return err
	}})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// SetHealth changes what /healthz says.
func (w *Web) SetHealth(h Health) { w.health = h }

// Health is what /healthz says.
func (w *Web) Health() Health { return w.health }

// Handle sets who answers a path. The function calls Reply, or Write and End, at once or later.
func (w *Web) Handle(path string, f func(*Exchange)) { w.handlers[path] = f }

// Requests is how many requests for a path have arrived since the server started.
func (w *Web) Requests(path string) int { return w.counts[path] }

// String is one line: who serves where, and how many requests.
func (w *Web) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "web %s:%d", w.host.config.Name, w.port)
	for _, path := range sortedKeys(w.counts) {
		fmt.Fprintf(&b, " %s %d", path, w.counts[path])
	}
	return b.String()
}

// root answers as the prototype's backend does.
func (w *Web) root(x *Exchange) {
	w.requests++
	x.Reply(http.StatusOK, fmt.Sprintf("backend=%s  time=%s client=%s  served=%s  req=%d\n",
		w.host.config.Name, w.host.world.Wall().Format("2006-01-02 15:04:05 MST"), x.Client(), x.conn.local, w.requests))
}

func (w *Web) healthz(x *Exchange) {
	if w.health == Unhealthy {
		x.Reply(http.StatusServiceUnavailable, "unhealthy\n")
		return
	}
	x.Reply(http.StatusOK, "ok\n")
}

func (w *Web) slow(x *Exchange) {
	n, err := strconv.Atoi(cmp.Or(x.Request.URL.Query().Get("seconds"), "10"))
	if err != nil || n < 1 || n > 86400 {
		x.Reply(http.StatusBadRequest, "seconds: give a number from 1 to 86400\n")
		return
	}
	var tick func(i int)
	tick = func(i int) {
		if i > n {
			x.End()
			return
		}
		x.Write(fmt.Appendf(nil, "tick %d/%d backend=%s\n", i, n, w.host.config.Name))
		x.After(time.Second, func() { tick(i + 1) })
	}
	tick(1)
}

// webConn is a connection to a Web: one exchange after another.
type webConn struct {
	web  *Web
	conn *Conn
	in   []byte
	now  *Exchange // being answered
	eof  bool
}

// turn reads and answers what has arrived.
func (w *webConn) turn(c *Conn) {
	data, err := c.Take()
	for ; err == nil; data, err = c.Take() {
		w.in = append(w.in, data...)
	}
	w.eof = w.eof || errors.Is(err, io.EOF)
	if !w.eof && !errors.Is(err, ErrAgain) {
		c.Close()
		return
	}
	w.serve()
}

// serve begins with the next request, if it is there and none is being answered.
func (w *webConn) serve() {
	for w.now == nil {
		h, err := head(w.in)
		if err == nil && h == nil {
			if w.eof {
				w.conn.Close()
			}
			return
		}
		var r *http.Request
		if err == nil {
			r, err = w.web.host.heads.request(h)
		}
		if err != nil {
			w.refuse(err)
			return
		}
		size := len(h) + int(r.ContentLength)
		if len(w.in) < size {
			return
		}
		body := w.in[len(h):size:size]
		w.in = w.in[size:]
		w.answer(&Exchange{Request: r, Body: body, server: w, conn: w.conn})
	}
}

// refuse answers what is no request, and hangs up.
func (w *webConn) refuse(err error) {
	w.in = nil
	x := &Exchange{Request: &http.Request{Close: true, ProtoMajor: 1, ProtoMinor: 1}, server: w, conn: w.conn}
	w.now = x
	x.Reply(http.StatusBadRequest, err.Error()+"\n")
}

func (w *webConn) answer(x *Exchange) {
	w.now = x
	path := x.Request.URL.Path
	f := w.web.handlers[path]
	if f == nil {
		x.Reply(http.StatusNotFound, "404 page not found\n")
		return
	}
	w.web.counts[path]++
	f(x)
}

// Exchange is a request and its answer.
type Exchange struct {
	Request *http.Request // the header; Body holds the body
	Body    []byte
	server  *webConn
	conn    *Conn
	begun   bool // the header is sent
	ended   bool
}

// Client is the client's address as the server sees it.
func (x *Exchange) Client() string { return x.conn.remote.String() }

// After calls f when d has passed, unless the connection has ended by then.
func (x *Exchange) After(d time.Duration, f func()) {
	x.conn.host.appTimer(func() {
		if !x.conn.orphan && x.conn.state != Closed {
			f()
		}
	}).reset(d)
}

// Reply sends the whole answer.
func (x *Exchange) Reply(status int, text string) {
	if x.begun {
		return
	}
	b := x.header(status, fmt.Sprintf("Content-Length: %d\r\n", len(text)))
	if x.Request.Method != http.MethodHead {
		b = append(b, text...)
	}
	x.begun = true
	x.conn.Write(b)
	x.finish()
}

// Write sends a part of an answer of unknown length, with status 200.
func (x *Exchange) Write(data []byte) {
	if x.ended || len(data) == 0 {
		return
	}
	var b []byte
	switch {
	case !x.begun && x.chunked():
		b = x.header(http.StatusOK, "Transfer-Encoding: chunked\r\n")
	case !x.begun:
		b = x.header(http.StatusOK, "")
	}
	x.begun = true
	if x.chunked() {
		data = fmt.Appendf(nil, "%x\r\n%s\r\n", len(data), data)
	}
	x.conn.Write(append(b, data...))
}

// chunked reports whether the client understands chunks; before HTTP/1.1 the end of the
// connection was the end of the answer.
func (x *Exchange) chunked() bool { return x.Request.ProtoAtLeast(1, 1) }

// End ends an answer that Write began.
func (x *Exchange) End() {
	if !x.begun || x.ended {
		return
	}
	if x.chunked() {
		x.conn.Write([]byte("0\r\n\r\n"))
	}
	x.finish()
}

// header is the status line and the header, with one line for the length.
func (x *Exchange) header(status int, length string) []byte {
	b := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nDate: %s\r\n%s",
		status, http.StatusText(status), x.conn.host.world.Wall().UTC().Format(http.TimeFormat), length)
	if x.last() {
		b = append(b, "Connection: close\r\n"...)
	}
	return append(b, "\r\n"...)
}

// last reports whether the connection ends with this exchange.
func (x *Exchange) last() bool { return x.Request.Close || !x.chunked() }

// finish ends the exchange and lets the next begin.
func (x *Exchange) finish() {
	x.ended = true
	x.server.now = nil
	if x.last() {
		x.conn.Close()
		return
	}
	if len(x.server.in) > 0 || x.server.eof {
		x.conn.wake()
	}
}
