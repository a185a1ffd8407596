// Command backend is a web server to be balanced: it says who answers whom.
//
//	/                a line: backend, time, client, served, req
//	/healthz         200 "ok"
//	/slow?seconds=N  a line a second, N times (10 if not said)
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	name := flag.String("name", hostname(), "the `NAME` it answers with")
	listen := flag.String("listen", ":8080", "the `ADDRESS` to serve on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := &http.Server{Addr: *listen, Handler: newBackend(*name, time.Second), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		fmt.Fprintln(os.Stderr, "backend:", err)
		os.Exit(1)
	}
}

// hostname is the machine's, or "backend".
func hostname() string {
	if name, err := os.Hostname(); err == nil {
		return name
	}
	return "backend"
}
