package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"hpnn/internal/node"
)

// Limits of a request.
const (
	maxBody        = 64 << 10 // bytes
	maxHeader      = 16 << 10 // bytes
	headerTimeout  = 5 * time.Second
	requestTimeout = 10 * time.Second
	writeTimeout   = 30 * time.Second
	idleTimeout    = time.Minute
)

// Server serves one node.
type Server struct {
	node    *node.Node
	log     *slog.Logger
	metrics *Metrics
	mux     *http.ServeMux
}

// New makes a server. The metrics must be the node's Observer, or nothing is counted. log may be nil.
func New(n *node.Node, m *Metrics, log *slog.Logger) *Server {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Server{node: n, log: log, metrics: m, mux: http.NewServeMux()}
	m.attach(n)
	s.routes()
	return s
}

// Handle adds a call, such as "POST /sim/{verb}". It is behind the same checks as the others.
func (s *Server) Handle(pattern string, h http.HandlerFunc) { s.mux.HandleFunc(pattern, h) }

// HTTP is an http.Server with the limits set, for one or more listeners.
func (s *Server) HTTP() *http.Server {
	return &http.Server{
		Handler: s, ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
}

// ServeHTTP checks where a request comes from and what it may cost, and answers it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := allowed(r); err != nil {
		fail(w, http.StatusForbidden, err)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
	defer cancel()
	s.mux.ServeHTTP(w, r.WithContext(ctx))
}

// allowed refuses requests that a page of another origin, or a name that was made to point here,
// has a browser send.
func allowed(r *http.Request) error {
	if !local(r.Host) {
		return fmt.Errorf("host %q is not this daemon: call it by its address or as localhost", r.Host)
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	if u, err := url.Parse(origin); err != nil || u.Host != r.Host {
		return fmt.Errorf("origin %q may not call this daemon", origin)
	}
	return nil
}

// local reports whether a Host header is an address or localhost; a name could be anybody's.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, err := netip.ParseAddr(host)
	return err == nil || host == "localhost" || host == "hcd"
}

// handler answers a request, or says why not.
type handler func(w http.ResponseWriter, r *http.Request) error

// route registers a handler that knows the given parameters and no others.
func (s *Server) route(pattern string, h handler, params ...string) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		for name := range r.URL.Query() {
			if !slices.Contains(params, name) {
				fail(w, http.StatusBadRequest, fmt.Errorf("parameter %q is unknown: %s takes %v", name, r.URL.Path, params))
				return
			}
		}
		if err := h(w, r); err != nil {
			fail(w, code(err), err)
		}
	})
}

// badRequest is an error that is the caller's.
type badRequest struct{ error }

func code(err error) int {
	var bad badRequest
	switch {
	case errors.As(err, &bad):
		return http.StatusBadRequest
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

func fail(w http.ResponseWriter, code int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()}) // nobody is left to tell
}

// reply sends a value as JSON. If the caller has gone, nobody is left to tell.
func reply(w http.ResponseWriter, v any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b.Bytes())
	return nil
}

func text(w http.ResponseWriter, s string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(s))
	return nil
}
