package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"hpnn/internal/api"
	"hpnn/model"
)

// defaultAPI is where hcd listens unless it is told otherwise.
const defaultAPI = "127.0.0.1:9111"

// daemon is the flags of a command that asks a running node.
type daemon struct {
	address string
	asJSON  bool
	watch   bool
}

// bind adds the flags.
func (d *daemon) bind(c *cobra.Command) {
	c.Flags().StringVar(&d.address, "api", cmp.Or(os.Getenv("HPNN_API"), defaultAPI), "`ADDRESS` of hcd, or the path of its socket; also HPNN_API")
}

// bindWatch adds --watch.
func (d *daemon) bindWatch(c *cobra.Command) {
	c.Flags().BoolVar(&d.watch, "watch", false, "show it again every second")
}

func (d *daemon) client() *api.Client { return api.NewClient(d.address) }

// get asks for a value.
func get[T any](ctx context.Context, d *daemon, path string, params url.Values) (v T, err error) {
	if err := d.client().Get(ctx, path, params, &v); err != nil {
		return v, badAnswer{err}
	}
	return v, nil
}

// post makes a call that changes something, and shows what was answered.
func (a *app) post(ctx context.Context, d *daemon, path string, params url.Values, say func(answer map[string]any)) error {
	var answer map[string]any
	if err := d.client().Post(ctx, path, params, &answer); err != nil {
		return badAnswer{err}
	}
	if d.asJSON {
		return a.json(answer)
	}
	say(answer)
	return nil
}

// watchEvery is how often --watch shows.
const watchEvery = time.Second

// again shows something once, or with --watch until it is interrupted.
func (a *app) again(ctx context.Context, d *daemon, show func() error) error {
	for {
		if d.watch && isTerminal(a.stdout) {
			fmt.Fprint(a.stdout, "\x1b[H\x1b[2J")
		}
		if err := show(); err != nil || !d.watch {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchEvery):
		}
	}
}

// asking makes a command that reads one call and prints it.
func asking[T any](a *app, c *cobra.Command, path string, show func(T)) *cobra.Command {
	var d daemon
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.again(c.Context(), &d, func() error {
			v, err := get[T](c.Context(), &d, path, nil)
			if err != nil {
				return err
			}
			if d.asJSON {
				return a.json(v)
			}
			show(v)
			return nil
		})
	}
	d.bind(c)
	d.bindWatch(c)
	c.Flags().BoolVar(&d.asJSON, "json", false, "print JSON")
	return c
}

// topology is the one that a running node has in force.
func (d *daemon) topology(ctx context.Context) (model.Topology, error) {
	text, err := get[string](ctx, d, "/topology", nil)
	if err != nil {
		return model.Topology{}, err
	}
	return model.Parse("the node's topology", []byte(text))
}
