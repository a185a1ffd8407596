// Command backend is a web server to be balanced: it says who answers whom.
//
//	/                a line: backend, time, client, served, req
//	/healthz         200 "ok"
//	/slow?seconds=N  a line a second, N times (10 if not said)
//	/big?bytes=N     N random bytes (a million if not said), the same each time
//
// From the machine itself it takes orders: POST /sicken and /heal, and GET /served?path=P says how often P was asked for.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	name := flag.String("name", hostname(), "the `NAME` it answers with")
	listen := flag.String("listen", ":8080", "the `ADDRESSES` to serve on, separated by commas")
	healthy := flag.String("healthy", "", "more `PATHS` that answer as /healthz does, separated by commas")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	handler := newBackend(*name, time.Second, list(*healthy)...)
	ends := make(chan error)
	for _, address := range list(*listen) {
		server := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: 10 * time.Second}
		context.AfterFunc(ctx, func() { _ = server.Close() })
		go func() { ends <- server.ListenAndServe() }()
	}
	if err := <-ends; !errors.Is(err, http.ErrServerClosed) {
		fmt.Fprintln(os.Stderr, "backend:", err)
		os.Exit(1)
	}
}

// list takes a list apart, which may be empty.
func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

// hostname is the machine's, or "backend".
func hostname() string {
	if name, err := os.Hostname(); err == nil {
		return name
	}
	return "backend"
}
