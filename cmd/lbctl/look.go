package main

import (
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"hpnn/datapath"
	"hpnn/internal/api"
	"hpnn/internal/node"
	"hpnn/internal/pipeline"
)

func (a *app) health() *cobra.Command {
	c := &cobra.Command{
		Use: "health", Short: "Show the pools of a running node and the health of their members",
		Example: "  lbctl health\n  lbctl health --watch",
	}
	return asking(a, c, "/status", func(s node.Status) { fmt.Fprint(a.stdout, s.Health()) })
}

func (a *app) status() *cobra.Command {
	c := &cobra.Command{
		Use: "status", Short: "Show how a running node fares: its control loop and its pools",
		Example: "  lbctl status\n  lbctl status --json",
	}
	return asking(a, c, "/status", a.showStatus)
}

func (a *app) showStatus(s node.Status) {
	step := a.paint.in(green, "the switch holds what it should")
	if !s.Control.InSync {
		step = a.paint.in(red, "the switch is not in step")
		if s.Control.Failure != "" {
			step += ": " + s.Control.Failure
		}
	}
	fmt.Fprintf(a.stdout, "%s, up for %v: %s\n", s.Node, s.Now.Sub(s.Started).Round(time.Second), step)
	fmt.Fprintf(a.stdout, "%s, %s, %s since the start\n\n", plural(s.Control.Commits, "bundle"), plural(s.Control.Repairs, "repair"), plural(s.Control.Failures, "failed step"))
	g := newGrid("POOL", ">ID", "LIVE", ">SLOTS", "LAYOUT", "DIGEST", "LAST CHANGE", ">MOVED", ">FOREIGN")
	for _, p := range s.Pools {
		changed := "never"
		if !p.Changed.IsZero() {
			changed = p.Changed.Format(time.DateTime)
		}
		g.add(p.Name, p.ID, fmt.Sprintf("%d of %d", p.Live, len(p.Members)), p.Slots, p.Algorithm, p.Digest[:min(16, len(p.Digest))], changed, p.Moved, p.Foreign)
	}
	g.write(a.stdout, a.paint)
}

func (a *app) flows() *cobra.Command {
	var d daemon
	c := &cobra.Command{
		Use: "flows [TABLE]", Short: "Show the flows of a running node's switch, with their counters",
		Example: "  lbctl flows 10\n  lbctl flows --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			params := url.Values{}
			if len(args) == 1 {
				if _, err := strconv.ParseUint(args[0], 10, 8); err != nil {
					return usage(c, "table %q is no number", args[0])
				}
				params.Set("table", args[0])
			}
			return a.again(c.Context(), &d, func() error {
				flows, err := get[[]api.Flow](c.Context(), &d, "/flows", params)
				if err != nil {
					return err
				}
				if d.asJSON {
					return a.json(flows)
				}
				a.showFlows(flows)
				return nil
			})
		},
	}
	d.bind(c)
	d.bindWatch(c)
	c.Flags().BoolVar(&d.asJSON, "json", false, "print JSON")
	return c
}

func (a *app) showFlows(flows []api.Flow) {
	g := newGrid(">PACKETS", ">BYTES", ">IDLE", "FLOW")
	for _, f := range flows {
		g.add(f.Packets, f.Bytes, idleFor(f.Idle), f.Flow)
	}
	g.write(a.stdout, a.paint)
}

// idleFor is a number of seconds in short: "7s", "2m10s".
func idleFor(s float64) string {
	return (time.Duration(s) * time.Second).String()
}

func (a *app) ports() *cobra.Command {
	c := &cobra.Command{Use: "ports", Short: "Show the ports of a running node's switch", Example: "  lbctl ports"}
	return asking(a, c, "/ports", func(ports []datapath.Port) {
		g := newGrid("PORT", ">NUMBER", ">FRAMES IN", ">BYTES IN", ">FRAMES OUT", ">BYTES OUT")
		for _, p := range ports {
			g.add(p.Name, p.Number, p.RxFrames, p.RxBytes, p.TxFrames, p.TxBytes)
		}
		g.write(a.stdout, a.paint)
	})
}

func (a *app) conns() *cobra.Command {
	c := &cobra.Command{Use: "conns", Short: "Show the connections that a running node's switch tracks", Example: "  lbctl conns"}
	return asking(a, c, "/conns", func(conns []datapath.Conn) {
		zones := map[uint16]string{}
		for _, z := range pipeline.Zones() {
			zones[z.ID] = z.Name
		}
		g := newGrid("ZONE", "FROM", "TO", "ANSWERED BY", "STATE", ">FORGOTTEN IN")
		for _, c := range conns {
			g.add(zones[c.Zone], end(c.Orig.Src, c.Orig.SrcPort), end(c.Orig.Dst, c.Orig.DstPort), end(c.Reply.Src, c.Reply.SrcPort), c.State, c.Timeout)
		}
		g.write(a.stdout, a.paint)
		fmt.Fprintln(a.stdout, plural(len(conns), "connection"))
	})
}

// end is an end of a connection.
func end(a fmt.Stringer, port uint16) string {
	if port == 0 {
		return a.String()
	}
	return fmt.Sprintf("%v:%d", a, port)
}

func (a *app) fdb() *cobra.Command {
	c := &cobra.Command{Use: "fdb", Short: "Show the addresses that a running node's switch has learned", Example: "  lbctl fdb"}
	return asking(a, c, "/fdb", func(all []pipeline.Neighbour) {
		g := newGrid("SEGMENT", "MAC", "ADDRESS", ">PORT", ">HEARD", ">FORGOTTEN IN", ">PACKETS TO IT")
		for _, n := range all {
			g.add(n.Segment, n.MAC, n.Address, n.Port, n.Age.Round(time.Second), n.Left.Round(time.Second), n.Packets)
		}
		g.write(a.stdout, a.paint)
		fmt.Fprintf(a.stdout, "%d learned\n", len(all))
	})
}

func (a *app) metrics() *cobra.Command {
	var d daemon
	c := &cobra.Command{
		Use: "metrics", Short: "Print a running node's metrics, as Prometheus reads them", Example: "  lbctl metrics | grep hpnn_member",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			text, err := get[string](c.Context(), &d, "/metrics", nil)
			fmt.Fprint(a.stdout, text)
			return err
		},
	}
	d.bind(c)
	return c
}
