package main

import (
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
)

// options are the command's flags.
type options struct {
	topology string
	backend  string
	listen   string
	socket   string
	state    string
	logJSON  bool
	show     bool
	rundir   string
	datapath string
	sim      string // the socket of a simswitch
}

func command() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "hcd --topology FILE",
		Short: "Probe the members, keep the slot tables, repair the switch",
		Long: `hcd keeps an Open vSwitch node in step with its topology: it probes the members, lays out the slot
tables, commits what differs in one bundle, and repairs what the switch loses. Its rules stay in the
switch when it ends, and a restart changes nothing for traffic.

SIGHUP reads the topology again; if the file has faults, they are logged and the old one stays.
SIGTERM and SIGINT end the daemon.

Exit codes: 0 ended as told; 1 failed; 2 usage, or input that cannot be used.`,
		Example: `  hcd --topology examples/hpnn.yaml
  hcd --topology examples/hpnn.yaml --backend sim --show`,
		Args:          cobra.NoArgs,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error {
			return run(c.Context(), o, logger(o))
		},
	}
	f := c.Flags()
	f.StringVar(&o.topology, "topology", "", "the topology `FILE` (YAML)")
	f.StringVar(&o.backend, "backend", "ovs", "the switch: ovs; sim for a simulated site; simswitch for a simulator among real devices")
	f.StringVar(&o.listen, "listen", "127.0.0.1:9111", "`ADDRESS` of the API; empty for none")
	f.StringVar(&o.socket, "socket", "", "`PATH` of a unix socket for the API")
	f.StringVar(&o.state, "state", "", "`FILE` that keeps drained members over a restart")
	f.BoolVar(&o.logJSON, "log-json", false, "log as JSON")
	f.BoolVar(&o.show, "show", false, "show the members on the terminal, refreshed")
	f.StringVar(&o.rundir, "ovs-rundir", "/var/run/openvswitch", "`DIR` of the sockets of Open vSwitch")
	f.StringVar(&o.datapath, "datapath", "", "`TYPE` of a new bridge's datapath: system or netdev; empty: what the host has")
	f.StringVar(&o.sim, "simswitch", "/run/simswitch.sock", "`PATH` of the socket of a simswitch")
	_ = c.MarkFlagRequired("topology") // the flag exists
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return inputError{err} })
	return c
}

func logger(o options) *slog.Logger {
	if o.logJSON {
		return slog.New(slog.NewJSONHandler(os.Stderr, nil))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, nil))
}

// version is the module's version and revision, as the build recorded it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			v = fmt.Sprintf("%s (%s)", v, s.Value[:12])
		}
	}
	return v
}

// shutdownTimeout bounds how long calls under way may take when the daemon ends.
const shutdownTimeout = 3 * time.Second
