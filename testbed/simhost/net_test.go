package simhost_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/testbed/simhost"
)

// live runs a world until the test ends.
func live(t *testing.T, b *bed) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
}

// inBubble runs a test whose time is that of a bubble: sleeping costs nothing.
func inBubble(t *testing.T, f func(t *testing.T, b *bed, server, client *simhost.Host)) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, simhost.Config{})
		server, client := b.host("server", 2), b.host("client", 3)
		live(t, b)
		f(t, b, server, client)
	})
}

// serveHTTP runs a net/http server on a host.
func serveHTTP(t *testing.T, h *simhost.Host, handler http.Handler) {
	l, err := h.Listener(80)
	require.NoError(t, err)
	server := &http.Server{Handler: handler}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-done; !errors.Is(err, net.ErrClosed) { // the host was killed
			require.ErrorIs(t, err, http.ErrServerClosed)
		}
	})
}

// httpClient is a net/http client on a host.
func httpClient(t *testing.T, h *simhost.Host) *http.Client {
	transport := &http.Transport{DialContext: h.Dialer(simhost.DialOptions{}).DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// backend answers who asked, and streams a line a second at /slow.
func backend() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s from %s at %s, %d bytes", r.Method, r.URL.Path, r.RemoteAddr, r.Context().Value(http.LocalAddrContextKey), len(body))
	})
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		for i := range 10 {
			fmt.Fprintf(w, "tick %d\n", i)
			w.(http.Flusher).Flush()
			time.Sleep(time.Second)
		}
	})
	return mux
}

func fetch(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	r, err := c.Get(url)
	require.NoError(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(body)
}

// talk is what net/http does on two hosts, in whatever time.
func talk(t *testing.T, server, client *simhost.Host) {
	serveHTTP(t, server, backend())
	c := httpClient(t, client)
	require.Equal(t, "GET /a from 10.0.0.3:32768 at 10.0.0.2:80, 0 bytes", fetch(t, c, "http://10.0.0.2/a"))
	r, err := c.Post("http://10.0.0.2/b", "text/plain", bytes.NewReader(make([]byte, 1<<20)))
	require.NoError(t, err)
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	r.Body.Close()
	require.Equal(t, "POST /b from 10.0.0.3:32768 at 10.0.0.2:80, 1048576 bytes", string(body), "on the same connection")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { fetch(t, c, "http://10.0.0.2/c") })
	}
	all.Wait()
}

func TestNetHTTPInVirtualTime(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bed, server, client *simhost.Host) {
		talk(t, server, client)
		began := time.Now()
		require.Contains(t, fetch(t, httpClient(t, client), "http://10.0.0.2/slow"), "tick 9")
		require.InDelta(t, 10, time.Since(began).Seconds(), 0.01)
		require.Empty(t, b.wrong)
	})
}

func TestNetHTTPInRealTime(t *testing.T) {
	b := newBed(t, simhost.Config{})
	server, client := b.host("server", 2), b.host("client", 3)
	live(t, b)
	talk(t, server, client)
}

// TestNetHTTPAndOwnHTTP lets each talk to the other.
func TestNetHTTPAndOwnHTTP(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bed, server, client *simhost.Host) {
		serveHTTP(t, server, backend())
		results := make(chan simhost.Result, 1)
		b.Do(func() {
			client.Get("http://10.0.0.2/slow", simhost.GetOptions{}, func(r simhost.Result) { results <- r })
		})
		r := <-results
		require.NoError(t, r.Err)
		require.Contains(t, string(r.Body), "tick 9")

		var web *simhost.Web
		b.Do(func() {
			var err error
			web, err = server.ServeWeb(8080)
			require.NoError(t, err)
		})
		c := httpClient(t, client)
		require.Contains(t, fetch(t, c, "http://10.0.0.2:8080/"), "backend=server")
		require.Equal(t, "ok\n", fetch(t, c, "http://10.0.0.2:8080/healthz"))
		require.Contains(t, fetch(t, c, "http://10.0.0.2:8080/slow?seconds=3"), "tick 3/3")
		b.Do(func() { require.Equal(t, "web server:8080 / 1 /healthz 1 /slow 1", web.String()) })
	})
}

func TestNetErrors(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bed, server, client *simhost.Host) {
		dial := client.Dialer(simhost.DialOptions{}).DialContext
		_, err := dial(t.Context(), "tcp", "10.0.0.2:81")
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		_, err = dial(t.Context(), "tcp", "10.0.0.99:81")
		require.ErrorIs(t, err, syscall.EHOSTUNREACH)
		_, err = dial(t.Context(), "tcp", "8.8.8.8:81")
		require.ErrorIs(t, err, syscall.ENETUNREACH)
		_, err = dial(t.Context(), "tcp", "example.com:81")
		require.ErrorContains(t, err, "give an IPv4 address")
		_, err = dial(t.Context(), "unix", "10.0.0.2:81")
		require.ErrorContains(t, err, "unknown network unix")

		b.Do(server.Cut)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = dial(ctx, "tcp", "10.0.0.2:81")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = dial(t.Context(), "tcp", "10.0.0.2:81")
		var timeout net.Error
		require.ErrorAs(t, err, &timeout)
		require.True(t, timeout.Timeout() || errors.Is(err, syscall.EHOSTUNREACH))

		_, err = server.Listener(90)
		require.NoError(t, err)
		_, err = server.Listener(90)
		require.ErrorIs(t, err, syscall.EADDRINUSE)
	})
}

// pipe is a connection between two hosts.
func pipe(t *testing.T, server, client *simhost.Host) (atServer, atClient net.Conn) {
	l, err := server.Listener(7)
	require.NoError(t, err)
	accepted := make(chan net.Conn)
	go func() {
		c, err := l.Accept()
		require.NoError(t, err)
		accepted <- c
	}()
	atClient, err = client.Dialer(simhost.DialOptions{}).DialContext(t.Context(), "tcp", "10.0.0.2:7")
	require.NoError(t, err)
	return <-accepted, atClient
}

func TestConnDeadlinesAndClose(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bed, server, client *simhost.Host) {
		s, c := pipe(t, server, client)
		began := time.Now()
		require.NoError(t, c.SetReadDeadline(began.Add(5*time.Second)))
		_, err := c.Read(make([]byte, 1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, 5*time.Second, time.Since(began))
		_, err = c.Read(make([]byte, 1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.NoError(t, c.SetReadDeadline(time.Time{}))

		_, err = s.Write([]byte("hello"))
		require.NoError(t, err)
		p := make([]byte, 3)
		_, err = io.ReadFull(c, p)
		require.NoError(t, err)
		require.Equal(t, "hel", string(p))

		require.NoError(t, s.(interface{ CloseWrite() error }).CloseWrite())
		rest, err := io.ReadAll(c)
		require.NoError(t, err)
		require.Equal(t, "lo", string(rest))

		go func() {
			time.Sleep(time.Second)
			s.Close()
		}()
		_, err = s.Read(p)
		require.ErrorIs(t, err, net.ErrClosed)
		require.ErrorIs(t, s.Close(), net.ErrClosed)
		_, err = s.Write(p)
		require.ErrorIs(t, err, net.ErrClosed)
	})
}

// TestWriteWaitsForTheReader fills the buffers of both ends.
func TestWriteWaitsForTheReader(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bed, server, client *simhost.Host) {
		s, c := pipe(t, server, client)
		require.NoError(t, c.SetWriteDeadline(time.Now().Add(time.Second)))
		data := bytes.Repeat([]byte("0123456789"), 100_000)
		n, err := c.Write(data)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Less(t, n, 500_000)
		require.NoError(t, c.SetWriteDeadline(time.Time{}))
		go func() {
			_, err := c.Write(data[n:])
			require.NoError(t, err)
			c.Close()
		}()
		got, err := io.ReadAll(s)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, got))
	})
}

// TestPauseStopsGoroutines: a paused host's processes read and accept nothing, and a killed
// one's are cut off.
func TestPauseStopsGoroutines(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bed, server, client *simhost.Host) {
		serveHTTP(t, server, backend())
		c := httpClient(t, client)
		c.Timeout = time.Second
		fetch(t, c, "http://10.0.0.2/")
		b.Do(func() { server.Pause(simhost.Processes) })
		_, err := c.Get("http://10.0.0.2/")
		var timeout net.Error
		require.ErrorAs(t, err, &timeout)
		require.True(t, timeout.Timeout())
		b.Do(server.Resume)
		fetch(t, c, "http://10.0.0.2/")
		b.Do(server.Kill)
		_, err = c.Get("http://10.0.0.2/")
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
	})
}

func TestRunEndsAndWakesWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, simhost.Config{})
		l, err := b.host("server", 2).Listener(80)
		require.NoError(t, err)
		accepted := make(chan error)
		go func() {
			_, err := l.Accept()
			accepted <- err
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.NoError(t, b.Run(ctx))
		require.Equal(t, time.Minute, b.Now())
		require.ErrorIs(t, <-accepted, net.ErrClosed)
	})
}

// TestPostFromASwitchWithLocks outputs frames from elsewhere without waiting for the world.
func TestPostFromASwitchWithLocks(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bed, server, client *simhost.Host) {
		b.Do(func() {
			b.Post(func() { b.Output(3, []byte("from inside")) }) // Do would never return
		})
		b.Post(func() { b.Output(3, []byte("from outside")) })
		time.Sleep(time.Second)
		b.Do(func() { require.EqualValues(t, 2, client.Counters().In.Total()) })
	})
}

func TestUDPForGoroutines(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bed, server, client *simhost.Host) {
		b.Do(func() { require.NoError(t, server.EchoUDP(7)) })
		dial := client.Dialer(simhost.DialOptions{}).DialContext
		c, err := dial(t.Context(), "udp", "10.0.0.2:7")
		require.NoError(t, err)
		_, err = c.Write([]byte("hello"))
		require.NoError(t, err)
		p := make([]byte, 100)
		n, err := c.Read(p)
		require.NoError(t, err)
		require.Equal(t, "hello", string(p[:n]))
		require.NoError(t, c.SetDeadline(time.Now().Add(time.Second)))
		_, err = c.Read(p)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.NoError(t, c.Close())
		_, err = c.Read(p)
		require.ErrorIs(t, err, net.ErrClosed)

		c, err = dial(t.Context(), "udp", "10.0.0.2:9")
		require.NoError(t, err)
		_, err = c.Write([]byte("hello"))
		require.NoError(t, err)
		_, err = c.Read(p)
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		_, err = dial(t.Context(), "udp", "8.8.8.8:9")
		require.ErrorIs(t, err, syscall.ENETUNREACH)
	})
}
