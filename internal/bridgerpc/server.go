package bridgerpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"hpnn/datapath"
)

// Serve lets clients use a Bridge until the context is over or the listener fails. It reads the Bridge's events, which nobody
// else may.
func Serve(ctx context.Context, l net.Listener, b datapath.Bridge) error {
	s := &subscribers{all: map[*subscriber]bool{}}
	server := &http.Server{Handler: handler(b, s), ReadHeaderTimeout: callTimeout}
	ctx, end := context.WithCancel(ctx)
	defer end()
	go s.pass(ctx, b.Events())
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // calls under way are cut: their clients see it
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve bridge at %v: %w", l.Addr(), err)
	}
	return nil
}

// callTimeout bounds a call, whatever its context allows.
const callTimeout = 10 * time.Second

func handler(b datapath.Bridge, s *subscribers) http.Handler {
	mux := http.NewServeMux()
	handle(mux, commitPath, func(ctx context.Context, lines []string) (nothing, error) {
		bundle, err := parseMods(lines)
		if err != nil {
			return nothing{}, err
		}
		return nothing{}, b.Commit(ctx, bundle)
	})
	handle(mux, flowsPath, func(ctx context.Context, _ nothing) (lines []flowEntry, err error) {
		flows, err := b.Flows(ctx)
		for _, f := range flows {
			lines = append(lines, entryText(f))
		}
		return lines, err
	})
	handle(mux, portsPath, func(ctx context.Context, _ nothing) ([]datapath.Port, error) { return b.Ports(ctx) })
	handle(mux, tracePath, b.Trace)
	handle(mux, packetOutPath, func(ctx context.Context, p packetOut) (nothing, error) {
		actions, err := p.actions()
		if err != nil {
			return nothing{}, err
		}
		return nothing{}, b.PacketOut(ctx, p.In, actions)
	})
	handle(mux, connectionsPath, b.Conntrack().Connections)
	handle(mux, flushPath, func(ctx context.Context, f datapath.ConnFilter) (nothing, error) {
		return nothing{}, b.Conntrack().Flush(ctx, f)
	})
	mux.HandleFunc("POST "+eventsPath, s.serve)
	return mux
}

// handle answers calls of a path.
func handle[Q, A any](mux *http.ServeMux, path string, call func(context.Context, Q) (A, error)) {
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		var question Q
		var a answer[A]
		err := json.NewDecoder(r.Body).Decode(&question)
		if err == nil {
			a.Result, err = call(r.Context(), question)
		}
		if err != nil {
			a = answer[A]{Fault: faultOf(err)}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(a) // nobody is left to tell
	})
}
