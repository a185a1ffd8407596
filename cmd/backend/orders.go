package main

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// orders are what the machine's owner may ask of the server, from the machine itself:
//
//	POST /sicken          health is 503 from now on
//	POST /heal            and 200 again
//	GET  /served?path=P   how many requests for P have come since the start
type orders struct {
	sick   atomic.Bool
	mu     sync.Mutex
	served map[string]int // by path
}

// count counts requests for a handler, and carries out orders.
func (o *orders) count(next http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", next)
	mux.HandleFunc("POST /sicken", func(http.ResponseWriter, *http.Request) { o.sick.Store(true) })
	mux.HandleFunc("POST /heal", func(http.ResponseWriter, *http.Request) { o.sick.Store(false) })
	mux.HandleFunc("GET /served", func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		defer o.mu.Unlock()
		fmt.Fprintln(w, o.served[r.FormValue("path")])
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fromHere(r) {
			mux.ServeHTTP(w, r)
			return
		}
		o.mu.Lock()
		if o.served == nil {
			o.served = map[string]int{}
		}
		if _, known := o.served[r.URL.Path]; known || len(o.served) < maxPaths {
			o.served[r.URL.Path]++
		}
		o.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

// maxPaths bounds how many paths are counted.
const maxPaths = 1000

// fromHere reports whether both ends of the connection have the same address.
func fromHere(r *http.Request) bool {
	here, _, err := net.SplitHostPort(served(r))
	there, _, err2 := net.SplitHostPort(r.RemoteAddr)
	return err == nil && err2 == nil && here == there
}

func (o *orders) health(w http.ResponseWriter, _ *http.Request) {
	if o.sick.Load() {
		http.Error(w, "unhealthy", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}
