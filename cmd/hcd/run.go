package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"

	"hpnn/datapath"
	"hpnn/internal/api"
	"hpnn/internal/health"
	"hpnn/internal/node"
	"hpnn/model"
)

// site is a switch and the way to its members.
type site struct {
	bridge datapath.Bridge
	dial   health.Dial
	run    func(context.Context) error // beside the node; nil if there is nothing to run
	routes map[string]http.HandlerFunc // more calls of the API
	footer func() string               // of what --show shows
}

// run is the daemon: a list of tasks that end together.
func run(ctx context.Context, o options, log *slog.Logger) error {
	t, err := model.Load(o.topology)
	if err != nil {
		return inputError{err}
	}
	s, err := open(ctx, o, t, log)
	if err != nil {
		return err
	}
	defer func() { _ = s.bridge.Close() }()
	metrics := api.NewMetrics(version())
	if o.show {
		log = slog.New(slog.DiscardHandler)
	}
	n, err := node.New(ctx, node.Config{
		Topology: t, Bridge: s.bridge, Dial: s.dial, StateFile: o.state, Log: log, Observer: metrics,
	})
	if err != nil {
		return err
	}
	server := api.New(n, metrics, log)
	for pattern, h := range s.routes {
		server.Handle(pattern, h)
	}
	return tasks(ctx, o, log, s, n, server)
}

func tasks(ctx context.Context, o options, log *slog.Logger, s site, n *node.Node, server *api.Server) error {
	listeners, err := listen(o)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return n.Run(ctx) })
	if s.run != nil {
		g.Go(func() error { return s.run(ctx) })
	}
	for _, l := range listeners {
		log.Info("listening", "address", l.Addr())
		g.Go(func() error { return serve(ctx, server.HTTP(), l) })
	}
	g.Go(func() error { return reloads(ctx, o.topology, n, log) })
	if o.show {
		g.Go(func() error { return show(ctx, os.Stdout, n, s.footer) })
	}
	if err := g.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	log.Info("ended; the rules stay in the switch")
	return nil
}

// open finds the switch.
func open(ctx context.Context, o options, t model.Topology, log *slog.Logger) (site, error) {
	switch o.backend {
	case "sim":
		return openSim(t)
	case "ovs":
		return openOVS(ctx, o, t, log)
	case "simswitch":
		return openSimswitch(ctx, o, t, log)
	}
	return site{}, inputError{fmt.Errorf("backend %q: use ovs, sim or simswitch", o.backend)}
}

// listen opens the API's addresses. A socket that a dead daemon left behind is taken over.
func listen(o options) (all []net.Listener, err error) {
	if o.listen != "" {
		l, err := net.Listen("tcp", o.listen)
		if err != nil {
			return nil, inputError{fmt.Errorf("listen: %w: is another hcd running? use --listen", err)}
		}
		all = append(all, l)
	}
	if o.socket == "" {
		return all, nil
	}
	if c, err := net.Dial("unix", o.socket); err == nil {
		_ = c.Close()
		return nil, inputError{fmt.Errorf("listen on %s: another process answers there", o.socket)}
	}
	if err := os.Remove(o.socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, inputError{fmt.Errorf("listen: %w", err)}
	}
	l, err := net.Listen("unix", o.socket)
	if err != nil {
		return nil, inputError{fmt.Errorf("listen: %w", err)}
	}
	return append(all, l), nil
}

// serve answers calls until the context is over.
func serve(ctx context.Context, s *http.Server, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() {
		late, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
		defer cancel()
		_ = s.Shutdown(late) // calls that take longer are cut
	})
	defer stop()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %v: %w", l.Addr(), err)
	}
	return nil
}

// reloads reads the topology again at each SIGHUP. A file with faults changes nothing.
func reloads(ctx context.Context, file string, n *node.Node, log *slog.Logger) error {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-hup:
		}
		t, err := model.Load(file)
		if err != nil {
			log.Error("topology refused; the old one stays", "error", err)
			continue
		}
		if err := n.Reload(ctx, t); err != nil {
			log.Error("reload failed", "error", err)
		}
	}
}
