package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func get(t *testing.T, server *httptest.Server, path string) (status int, body string) {
	t.Helper()
	r, err := server.Client().Get(server.URL + path)
	require.NoError(t, err)
	defer r.Body.Close()
	all, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return r.StatusCode, string(all)
}

func TestAnswers(t *testing.T) {
	server := httptest.NewServer(newBackend("be1", time.Millisecond))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")

	for _, n := range []string{"1", "2"} { // only requests for / count
		status, body := get(t, server, "/")
		require.Equal(t, http.StatusOK, status)
		require.Regexp(t, `^backend=be1  time=\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+ client=127\.0\.0\.1:\d+  served=`+address+`  req=`+n+"\n$", body)
		status, body = get(t, server, "/healthz")
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "ok\n", body)
	}
	_, body := get(t, server, "/slow?seconds=3")
	require.Equal(t, "tick 1/3 backend=be1\ntick 2/3 backend=be1\ntick 3/3 backend=be1\n", body)
	for path, want := range map[string]int{"/none": 404, "/slow?seconds=0": 400, "/slow?seconds=x": 400, "/slow?seconds=86401": 400, "/big?bytes=-1": 400, "/big?bytes=x": 400} {
		status, _ := get(t, server, path)
		require.Equal(t, want, status, path)
	}
	_, body = get(t, server, "/big?bytes=100000")
	require.Len(t, body, 100000)
	_, again := get(t, server, "/big?bytes=100000")
	require.Equal(t, body, again)
}

// client calls a server from another address than its own, as long as the loopback has several.
func client(t *testing.T, from string) *http.Client {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c := &http.Client{Transport: &http.Transport{DialContext: d.DialContext, DisableKeepAlives: true}}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func TestOrders(t *testing.T) {
	server := httptest.NewServer(newBackend("be1", time.Millisecond, "/ready"))
	defer server.Close()
	ask := func(c *http.Client, method, path string) (status int, body string) {
		request, err := http.NewRequest(method, server.URL+path, http.NoBody)
		require.NoError(t, err)
		r, err := c.Do(request)
		if err != nil {
			t.Skipf("the loopback has one address only: %v", err)
		}
		defer r.Body.Close()
		all, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		return r.StatusCode, strings.TrimSpace(string(all))
	}
	owner, stranger := server.Client(), client(t, "127.0.0.2")
	for _, path := range []string{"/healthz", "/ready"} {
		status, _ := ask(stranger, "GET", path)
		require.Equal(t, http.StatusOK, status)
	}
	status, _ := ask(owner, "POST", "/sicken")
	require.Equal(t, http.StatusOK, status)
	for _, path := range []string{"/healthz", "/ready"} {
		status, _ := ask(stranger, "GET", path)
		require.Equal(t, http.StatusServiceUnavailable, status)
	}
	status, _ = ask(stranger, "POST", "/heal")
	require.Equal(t, http.StatusNotFound, status, "strangers give no orders")
	status, _ = ask(owner, "POST", "/heal")
	require.Equal(t, http.StatusOK, status)
	status, _ = ask(stranger, "GET", "/ready")
	require.Equal(t, http.StatusOK, status)
	_, n := ask(owner, "GET", "/served?path=/ready")
	require.Equal(t, "3", n)
}
