package health

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"hpnn/model"
)

// headerLimit bounds what is read of an answer before its body, so that a member cannot fill the node's memory.
const headerLimit = 64 << 10

// HTTP probes with a GET: the member passes if the status lies in the expected range and the answer arrives in time, its
// body up to the limit.
//
// Each probe is one connection and one request, HTTP/1.1 with Connection: close, written and read here rather than by an
// http.Client: a probe must not follow a redirect (the target of one is not the member), must not reuse a connection (a
// member that accepts no new ones is dead for new clients), must not go through a proxy the environment names, and must
// have no goroutine that outlives it.
type HTTP struct {
	Dial      Dial              // nil stands for NetDial
	Path      string            // the request target; empty stands for /
	Host      string            // the Host header; empty stands for the target's address:port
	Expect    model.StatusRange // the zero range expects none that exists
	BodyLimit int               // bytes of the body to read; what follows is not waited for
	TLS       *tls.Config       // nil speaks plain HTTP; see [UnverifiedTLS]
}

// UnverifiedTLS returns a configuration that speaks TLS without checking the certificate: the probe asks whether the member
// serves, and a certificate that ran out is no reason to take the last members away from clients that can check it
// themselves. It sends the name of a Host header as server name, unless that is an address.
func UnverifiedTLS(host string) *tls.Config {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	if _, err := netip.ParseAddr(name); err == nil {
		name = ""
	}
	return &tls.Config{InsecureSkipVerify: true, ServerName: name, NextProtos: []string{"http/1.1"}}
}

// Probe implements [Prober].
func (p HTTP) Probe(ctx context.Context, t Target) Result {
	return timed(ctx, t, func(ctx context.Context) error {
		request, err := p.request(t)
		if err != nil {
			return err
		}
		conn, closeConn, err := p.Dial.open(ctx, "tcp", t)
		if err != nil {
			return err
		}
		defer closeConn()
		if conn, err = p.secure(ctx, conn); err != nil {
			return err
		}
		if _, err := io.WriteString(conn, request); err != nil {
			return during("request not taken", err)
		}
		return p.judge(conn)
	})
}

func (p HTTP) request(t Target) (string, error) {
	path, host := p.Path, p.Host
	if path == "" {
		path = "/"
	}
	if host == "" {
		host = t.Address.String()
	}
	if strings.ContainsAny(path+host, " \r\n") {
		return "", unprobed("blank in path %q or host %q", path, host)
	}
	return "GET " + path + " HTTP/1.1\r\nHost: " + host +
		"\r\nUser-Agent: hpnn-health\r\nAccept: */*\r\nConnection: close\r\n\r\n", nil
}

// secure speaks TLS on the connection, if it is wanted. Closing the connection below is enough to let go of it.
func (p HTTP) secure(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if p.TLS == nil {
		return conn, nil
	}
	c := tls.Client(conn, p.TLS)
	err := c.HandshakeContext(ctx)
	var notTLS tls.RecordHeaderError
	switch {
	case errors.As(err, &notTLS):
		return nil, broken("no TLS spoken there")
	case err != nil:
		return nil, during("no TLS handshake", err)
	}
	return c, nil
}

// judge reads the answer.
func (p HTTP) judge(conn net.Conn) error {
	bounded := &io.LimitedReader{R: conn, N: headerLimit}
	answer, err := p.header(bufio.NewReader(bounded))
	if err != nil {
		if bounded.N <= 0 {
			return broken("header of the answer longer than %d bytes", headerLimit)
		}
		return err
	}
	if !p.Expect.Contains(answer.StatusCode) {
		return unwanted("status %d, want %s", answer.StatusCode, p.Expect)
	}
	bounded.N = math.MaxInt64 // the body has its own bound
	if _, err = io.CopyN(io.Discard, answer.Body, int64(p.BodyLimit)); err != nil && err != io.EOF {
		return malformed("body unfinished", err)
	}
	return nil
}

// header reads the answer up to its body, and skips interim answers (RFC 9110, section 15.2) that are not expected.
func (p HTTP) header(r *bufio.Reader) (*http.Response, error) {
	for {
		if _, err := r.Peek(1); err != nil {
			return nil, during("no answer", err)
		}
		answer, err := http.ReadResponse(r, &http.Request{Method: http.MethodGet})
		if err != nil {
			return nil, malformed("no answer", err)
		}
		interim := answer.StatusCode < 200 && answer.StatusCode != http.StatusSwitchingProtocols
		if !interim || p.Expect.Contains(answer.StatusCode) {
			return answer, nil
		}
	}
}

// malformed tells an answer that is not HTTP from one that did not come through, and then says what was missing.
func malformed(missing string, err error) error {
	var network net.Error
	if errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) {
		return during(missing, err)
	}
	return broken("no HTTP spoken there: %s", innermost(err))
}
