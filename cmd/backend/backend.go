package main

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// backend answers requests. It counts those for "/".
type backend struct {
	name     string
	tick     time.Duration // between the lines of /slow
	requests atomic.Int64
	orders   orders
}

// newBackend makes the handler. Health is asked for at /healthz and the paths of more.
func newBackend(name string, tick time.Duration, more ...string) http.Handler {
	b := &backend{name: name, tick: tick}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", b.root)
	mux.HandleFunc("GET /slow", b.slow)
	mux.HandleFunc("GET /big", big)
	for _, path := range append(more, "/healthz") {
		mux.HandleFunc("GET "+path, b.orders.health)
	}
	return b.orders.count(mux)
}

// root says who answers whom: the addresses are those of the connection as this host sees it.
func (b *backend) root(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "backend=%s  time=%s client=%s  served=%s  req=%d\n",
		b.name, time.Now().Format("2006-01-02 15:04:05 MST"), r.RemoteAddr, served(r), b.requests.Add(1))
}

// served is the connection's address on this side.
func served(r *http.Request) string {
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		return a.String()
	}
	return "unknown"
}

// slow sends a line a tick, until all are sent or the client is gone.
func (b *backend) slow(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(cmp.Or(r.FormValue("seconds"), "10"))
	if err != nil || n < 1 || n > 86400 {
		http.Error(w, "seconds: give a number from 1 to 86400", http.StatusBadRequest)
		return
	}
	out := http.NewResponseController(w)
	ticker := time.NewTicker(b.tick)
	defer ticker.Stop()
	for i := range n {
		fmt.Fprintf(w, "tick %d/%d backend=%s\n", i+1, n, b.name)
		if out.Flush() != nil {
			return
		}
		select {
		case <-ticker.C:
		case <-r.Context().Done():
			return
		}
	}
}

// big sends so many random bytes, the same each time: those of a math/rand/v2.ChaCha8 whose seed is zero.
func big(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.ParseInt(cmp.Or(r.FormValue("bytes"), "1000000"), 10, 64)
	if err != nil || n < 0 {
		http.Error(w, "bytes: give a number from 0 on", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Length", strconv.FormatInt(n, 10))
	_, _ = io.CopyN(w, rand.NewChaCha8([32]byte{}), n) // the client may be gone
}
