package health

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"hpnn/model"
)

var success = model.StatusRange{From: 200, To: 299}

func web(path string) HTTP { return HTTP{Path: path, Expect: success, BodyLimit: 4096} }

// served starts a server whose handlers end with the test, and with the request.
func served(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

func TestHTTPPasses(t *testing.T) {
	var got *http.Request
	s := served(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		io.WriteString(w, "fine")
	})
	p := web("/healthz?deep=1&x=%zz")
	r := p.Probe(t.Context(), target(t, s.URL, patient))
	requireResult(t, Passed, "", r)
	require.Positive(t, r.Latency)
	require.Equal(t, "GET /healthz?deep=1&x=%zz HTTP/1.1", got.Method+" "+got.RequestURI+" "+got.Proto, "as it is written, byte by byte")
	require.Equal(t, s.Listener.Addr().String(), got.Host)
	require.True(t, got.Close, "no connection is kept")

	p.Host = "web.example"
	requireResult(t, Passed, "", p.Probe(t.Context(), target(t, s.URL, patient)))
	require.Equal(t, "web.example", got.Host)
	p.Path = ""
	requireResult(t, Passed, "", p.Probe(t.Context(), target(t, s.URL, patient)))
	require.Equal(t, "/", got.RequestURI)
}

func TestHTTPStatus(t *testing.T) {
	s := served(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/503":
			http.Error(w, "no", http.StatusServiceUnavailable)
		case "/204":
			w.WriteHeader(http.StatusNoContent)
		}
	})
	requireResult(t, Unwanted, "status 503, want 200-299", web("/503").Probe(t.Context(), target(t, s.URL, patient)))
	requireResult(t, Passed, "", web("/204").Probe(t.Context(), target(t, s.URL, patient)))
	p := web("/503")
	p.Expect = model.StatusRange{From: 503, To: 503}
	requireResult(t, Passed, "", p.Probe(t.Context(), target(t, s.URL, patient)))
	p.Path = "/204"
	requireResult(t, Unwanted, "status 204, want 503", p.Probe(t.Context(), target(t, s.URL, patient)))
}

func TestHTTPFollowsNoRedirect(t *testing.T) {
	var paths []string
	s := served(t, func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.URL.Path)
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new", http.StatusFound)
		}
	})
	requireResult(t, Unwanted, "status 302, want 200-299", web("/old").Probe(t.Context(), target(t, s.URL, patient)))
	p := web("/old")
	p.Expect = model.StatusRange{From: 200, To: 399}
	requireResult(t, Passed, "", p.Probe(t.Context(), target(t, s.URL, patient)))
	require.Equal(t, []string{"/old", "/old"}, paths)
}

func TestHTTPGoesThroughNoProxy(t *testing.T) {
	proxied := false
	proxy := served(t, func(http.ResponseWriter, *http.Request) { proxied = true })
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	s := served(t, func(http.ResponseWriter, *http.Request) {})
	requireResult(t, Passed, "", web("/").Probe(t.Context(), target(t, s.URL, patient)))
	require.False(t, proxied)
}

// over returns a prober of a member that is a function.
func over(member func(net.Conn)) HTTP {
	p := web("/")
	p.Dial = piped(member)
	return p
}

// saying answers a request with a text, and then waits until the client gives up.
func saying(text string) func(net.Conn) {
	return func(c net.Conn) {
		readRequest(c)
		io.WriteString(c, text)
		mute(c)
	}
}

func TestHTTPTimeoutCoversTheWholeProbe(t *testing.T) {
	requireTimeout(t, "request not taken", over(func(c net.Conn) { <-time.After(2 * time.Second) }))
	requireTimeout(t, "no answer", over(mute))
	requireTimeout(t, "no answer", over(saying("HTTP/1.1 200 O")))
	requireTimeout(t, "body unfinished", over(saying("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123")))
	requireTimeout(t, "body unfinished", over(saying("HTTP/1.1 200 OK\r\n\r\nuntil it closes")))

	// A byte now and then keeps a timeout per read from ever running out.
	requireTimeout(t, "no answer", over(func(c net.Conn) {
		readRequest(c)
		for _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n"); err == nil; _, err = io.WriteString(c, "X-Drip: y\r\n") {
			<-time.After(100 * time.Millisecond)
		}
	}))
}

// hang waits until the client gives up.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func TestHTTPBodyBeyondTheLimitIsNotWaitedFor(t *testing.T) {
	huge := served(t, func(w http.ResponseWriter, r *http.Request) {
		w.Write(make([]byte, 8<<10))
		w.(http.Flusher).Flush()
		hang(w, r)
	})
	for _, limit := range []int{0, 1, 4096, 8 << 10} {
		p := web("/")
		p.BodyLimit = limit
		requireResult(t, Passed, "", p.Probe(t.Context(), target(t, huge.URL, patient)))
	}
	p := over(saying("HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 8<<10)))
	p.BodyLimit = 8<<10 + 1
	requireTimeout(t, "body unfinished", p)
}

// A member that sends for ever costs the node no more than the limit.
func TestHTTPReadsNoMoreThanItMust(t *testing.T) {
	sent := make(chan int, 1)
	endless := answering(t, func(c net.Conn) {
		c.(*net.TCPConn).SetWriteBuffer(4 << 10)
		bufio.NewReader(c).ReadString('\n')
		n, _ := io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		for chunk := make([]byte, 1<<10); ; {
			m, err := c.Write(chunk)
			if n += m; err != nil || n > 64<<20 {
				break
			}
		}
		sent <- n
	})
	requireResult(t, Passed, "", web("/").Probe(t.Context(), target(t, endless, patient)))
	require.Less(t, <-sent, 16<<20, "all but a few kB is what the system buffers")
}

func TestHTTPBrokenAnswers(t *testing.T) {
	for _, row := range []struct{ answer, detail string }{
		{"", "connection closed without an answer"},
		{"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n", "answer broke off"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123", "answer broke off"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "answer broke off"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "no HTTP spoken there: invalid byte in chunk length"},
		{"220 mail.example ESMTP\r\n", `no HTTP spoken there: malformed HTTP status code "mail.example"`},
		{"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", headerLimit), "header of the answer longer than 65536 bytes"},
		{strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 4000), "header of the answer longer than 65536 bytes"},
	} {
		address := answering(t, func(c net.Conn) {
			readRequest(c)
			io.WriteString(c, row.answer)
			c.(*net.TCPConn).CloseWrite()
			io.Copy(io.Discard, c)
		})
		requireResult(t, Broken, row.detail, web("/").Probe(t.Context(), target(t, address, patient)))
	}
	reset := answering(t, func(c net.Conn) {
		readRequest(c)
		c.(*net.TCPConn).SetLinger(0)
	})
	requireResult(t, Broken, "connection reset", web("/").Probe(t.Context(), target(t, reset, patient)))
}

func readRequest(c net.Conn) { http.ReadRequest(bufio.NewReader(c)) }

func TestHTTPInterimAnswersAreSkipped(t *testing.T) {
	address := answering(t, func(c net.Conn) {
		readRequest(c)
		io.WriteString(c, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	})
	requireResult(t, Passed, "", web("/").Probe(t.Context(), target(t, address, patient)))
	p := web("/")
	p.Expect = model.StatusRange{From: 500, To: 599}
	requireResult(t, Unwanted, "status 200, want 500-599", p.Probe(t.Context(), target(t, address, patient)))
	p.Expect = model.StatusRange{From: 103, To: 103}
	requireResult(t, Passed, "", p.Probe(t.Context(), target(t, address, patient)))
}

func TestHTTPSDoesNotCheckTheCertificate(t *testing.T) {
	var name, proto string
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, proto = r.TLS.ServerName, r.Proto
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = silent()
	s.StartTLS()
	t.Cleanup(s.Close)
	p := web("/")
	p.Host, p.TLS = "web.example:8443", UnverifiedTLS("web.example:8443")
	requireResult(t, Passed, "", p.Probe(t.Context(), target(t, s.URL, patient)))
	require.Equal(t, "web.example HTTP/1.1", name+" "+proto)

	p.TLS = &tls.Config{ServerName: "web.example"}
	got := p.Probe(t.Context(), target(t, s.URL, patient))
	require.Equal(t, Failed, got.Outcome)
	require.Contains(t, got.Detail, "certificate")
}

func TestHTTPSNeedsTLS(t *testing.T) {
	plain := answering(t, func(c net.Conn) {
		io.WriteString(c, "220 mail.example ESMTP\r\n")
		io.Copy(io.Discard, c)
	})
	p := web("/")
	p.TLS = UnverifiedTLS("")
	requireResult(t, Broken, "no TLS spoken there", p.Probe(t.Context(), target(t, plain, patient)))

	silence := over(mute)
	silence.TLS = UnverifiedTLS("")
	requireTimeout(t, "no TLS handshake", silence)

	for version, alert := range map[uint16]string{tls.VersionTLS12: "handshake failure", tls.VersionTLS13: "certificate required"} {
		picky := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		picky.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: version}
		picky.Config.ErrorLog = silent()
		picky.StartTLS()
		t.Cleanup(picky.Close)
		requireResult(t, Broken, "TLS alert: "+alert, p.Probe(t.Context(), target(t, picky.URL, patient)))
	}
}

func TestServerNameIsNoAddress(t *testing.T) {
	for host, want := range map[string]string{
		"": "", "web.example": "web.example", "web.example:8443": "web.example", "10.20.0.2": "", "10.20.0.2:8443": "",
	} {
		require.Equal(t, want, UnverifiedTLS(host).ServerName, host)
	}
}

// What a member says goes into logs and tables: a bounded piece of it, and no control characters.
func TestDetailsAreBriefAndPrintable(t *testing.T) {
	long := over(func(c net.Conn) { readRequest(c); io.WriteString(c, strings.Repeat("y", 1000)+"\r\n") })
	require.Equal(t, `no HTTP spoken there: malformed HTTP response "`+strings.Repeat("y", 153)+"…",
		long.Probe(t.Context(), target(t, "10.20.0.2:8080", patient)).Detail)
	require.Equal(t, "a\ufffd[31mb\ufffd", brief("a\x1b[31mb\n"))
	require.Equal(t, "naïve, want \"x\"", brief("naïve, want \"x\""))
}

// Whatever a member answers, there is a verdict, and it is one of three.
func FuzzHTTPAnswer(f *testing.F) {
	for _, seed := range []string{
		"", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 503 No\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.0 200\n\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "\x16\x03\x01\x02\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		p := over(func(c net.Conn) {
			readRequest(c)
			io.WriteString(c, answer)
		})
		got := p.Probe(t.Context(), target(t, "10.20.0.2:8080", patient))
		require.Contains(t, []Outcome{Passed, Unwanted, Broken}, got.Outcome, got.Detail)
		require.Equal(t, got.Outcome == Passed, got.Detail == "")
		require.LessOrEqual(t, utf8.RuneCountInString(got.Detail), 201)
	})
}

// A request that would be two requests is not sent.
func TestHTTPSendsNoBlanks(t *testing.T) {
	for _, p := range []HTTP{{Path: "/ HTTP/1.1\r\nX: y"}, {Host: "a\r\nX: y"}, {Path: "/a b"}} {
		p.Dial = dialing(nil)
		got := p.Probe(t.Context(), target(t, "127.0.0.1:1", patient))
		require.Equal(t, NotProbed, got.Outcome)
		require.Contains(t, got.Detail, "not probed: blank in path")
	}
}

// Probes leave nothing behind, however they end.
func TestProbesLeaveNoGoroutine(t *testing.T) {
	s := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			hang(w, r)
		}
	})
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 20 {
		web("/").Probe(ctx, target(t, s.URL, patient))
		web("/hang").Probe(ctx, target(t, s.URL, 5*time.Millisecond))
	}
	s.CloseClientConnections()
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+2 }, patient, time.Millisecond)
}
