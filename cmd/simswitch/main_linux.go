// Command simswitch is a switch for tests: the simulator among real network devices, in a process of its own. A daemon uses it
// instead of Open vSwitch:
//
//	simswitch --socket /run/simswitch.sock --port pub0=1,be1=10 --internal probe0=4
//	hcd --topology site.yaml --backend simswitch --simswitch /run/simswitch.sock
//
// It needs CAP_NET_RAW and, for internal ports, CAP_NET_ADMIN. Flows and connections end with it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"hpnn/datapath/openflow"
	"hpnn/internal/bridgerpc"
	"hpnn/testbed/simswitch"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "simswitch:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	var socket, reports string
	var devices, internal map[string]int
	c := &cobra.Command{
		Use:           "simswitch --socket PATH --port NAME=NUMBER,...",
		Short:         "A switch for tests: the simulator among real network devices",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := ports(devices, internal)
			if err != nil {
				return err
			}
			return run(c.Context(), socket, reports, all)
		},
	}
	f := c.Flags()
	f.StringVar(&socket, "socket", "", "`PATH` of the unix socket by which it is told what to do")
	f.StringVar(&reports, "reports", "", "`PATH` of a unix socket that tells what becomes of each frame; empty: none")
	f.StringToIntVar(&devices, "port", nil, "ports on devices that are there: `NAME=NUMBER`,...")
	f.StringToIntVar(&internal, "internal", nil, "ports on devices that it makes for this host: `NAME=NUMBER`,...")
	_ = c.MarkFlagRequired("socket") // the flag exists
	return c
}

// lastPort is the highest number that a port can have (OFPP_MAX of OpenFlow 1.0, below the reserved ones).
const lastPort = 0xfeff

// ports are those of the two flags, each in order of names.
func ports(devices, internal map[string]int) (all []simswitch.Port, err error) {
	for _, f := range []struct {
		flag    string
		numbers map[string]int
	}{{"port", devices}, {"internal", internal}} {
		for _, name := range slices.Sorted(maps.Keys(f.numbers)) {
			n := f.numbers[name]
			if n < 1 || n > lastPort {
				return nil, fmt.Errorf("--%s %s=%d: ports have numbers from 1 to %d", f.flag, name, n, lastPort)
			}
			all = append(all, simswitch.Port{Name: name, Number: openflow.PortNo(n), Internal: f.flag == "internal"})
		}
	}
	return all, nil
}

func run(ctx context.Context, socket, reports string, ports []simswitch.Port) error {
	calls, err := listen(socket)
	if err != nil {
		return err
	}
	defer calls.Close()
	var watchers net.Listener
	if reports != "" {
		if watchers, err = listen(reports); err != nil {
			return err
		}
		defer watchers.Close()
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	s, err := simswitch.New(ports, log)
	if err != nil {
		return err
	}
	log.Info("switch is ready", "socket", socket, "ports", len(ports))
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.Run(ctx) })
	g.Go(func() error { return bridgerpc.Serve(ctx, calls, s.Bridge()) })
	if watchers != nil {
		g.Go(func() error { return s.Report(ctx, watchers) })
	}
	return g.Wait()
}

// listen opens the socket. One that a dead process left behind is taken over.
func listen(path string) (net.Listener, error) {
	if c, err := net.Dial("unix", path); err == nil {
		_ = c.Close()
		return nil, fmt.Errorf("listen on %s: another process answers there", path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return net.Listen("unix", path)
}
