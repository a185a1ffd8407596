package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hpnn/internal/api"
	"hpnn/internal/node"
	"hpnn/internal/pipeline"
)

func (a *app) slots() *cobra.Command {
	var d daemon
	c := &cobra.Command{
		Use: "slots", Short: "Show the slot tables of a running node: shares, packets, digest, and the owners as a strip",
		Long: `slots lays the slots out from the node's topology and the state of its members, as the node itself does, and compares the
digest with the node's. Packets are those that the slots of a member received.`,
		Example: "  lbctl slots\n  lbctl slots --watch",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.again(c.Context(), &d, func() error { return a.showSlots(c.Context(), &d) })
		},
	}
	d.bind(c)
	d.bindWatch(c)
	c.Flags().BoolVar(&d.asJSON, "json", false, "print JSON")
	return c
}

func (a *app) showSlots(ctx context.Context, d *daemon) error {
	t, err := d.topology(ctx)
	if err != nil {
		return err
	}
	s, err := get[node.Status](ctx, d, "/status", nil)
	if err != nil {
		return err
	}
	down := map[pipeline.MemberName]bool{}
	for _, p := range s.Pools {
		for _, m := range p.Members {
			down[pipeline.MemberName{Pool: p.Name, Member: m.Name}] = !m.Up
		}
	}
	traffic, err := get[[]api.PoolTraffic](ctx, d, "/traffic", nil)
	if err != nil {
		return err
	}
	pools := layouts(t, pipeline.State{Down: down})
	if d.asJSON {
		return a.json(map[string]any{"pools": pools, "traffic": traffic})
	}
	for i, p := range pools {
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		a.showLayout(p)
		a.showTraffic(traffic, p.Pool)
		if i < len(s.Pools) && s.Pools[i].Digest != p.Digest {
			fmt.Fprintf(a.stdout, "\nthe node has %s: it is about to change, or keeps its last layout\n", s.Pools[i].Digest)
		}
	}
	return nil
}

// showTraffic prints what a pool's slots received.
func (a *app) showTraffic(all []api.PoolTraffic, pool string) {
	for _, p := range all {
		if p.Pool != pool {
			continue
		}
		fmt.Fprintln(a.stdout)
		g := newGrid("MEMBER", ">PACKETS TO ITS SLOTS", ">BYTES", ">CONNECTIONS")
		for _, m := range p.Members {
			g.add(m.Member, m.Packets, m.Bytes, m.Connections)
		}
		if p.Dropped > 0 {
			g.add("nobody", p.Dropped, "", "")
		}
		g.write(a.stdout, a.paint)
	}
}
