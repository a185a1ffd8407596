// Command stand builds and checks the stand in containers; docker.mk calls it.
//
//	stand compose   print the Compose file of a topology
//	stand check     say what this machine lacks for the topology
//	stand attach    wire the containers to the node's ports
//	stand wait      return when every member is up
//	stand verify    run the checks, print what was measured; then tell stories
//	stand stories   tell stories, each on a stand of its own; none need be up
//	stand flow      print a client's first frame, for lbctl trace
//	stand shim      give the host a way to the public segment on one of its interfaces; shim-down takes it away
//	stand down      run the command that removes the containers, say what is left
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"hpnn/model"
	"hpnn/testbed/docker"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "stand:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	var file, parent, datapath string
	var within time.Duration
	var verify docker.VerifyConfig
	var stories telling
	root := &cobra.Command{Use: "stand", Short: "Build and check the stand in containers", SilenceUsage: true, SilenceErrors: true}
	root.PersistentFlags().StringVar(&file, "topology", "examples/hpnn.yaml", "the topology `FILE`")
	add := func(use, short string, run func(context.Context, model.Topology) error) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
			t, err := model.Load(file)
			if err != nil {
				return err
			}
			return run(c.Context(), t)
		}}
		root.AddCommand(c)
		return c
	}
	add("compose", "Print the Compose file of a topology", func(_ context.Context, t model.Topology) error {
		fmt.Print(docker.Compose(t))
		return nil
	})
	add("check", "Say what this machine lacks", func(ctx context.Context, t model.Topology) error {
		return check(ctx, t, datapath)
	}).Flags().StringVar(&datapath, "datapath", "netdev", "the node is to use a datapath of this `TYPE`")
	const parentHelp = "the public port is a macvlan device on this `INTERFACE` of the host"
	add("attach", "Wire the containers to the node's ports", func(ctx context.Context, t model.Topology) error {
		return attach(ctx, t, parent)
	}).Flags().StringVar(&parent, "parent", "", parentHelp)
	add("wait", "Return when every member is up", func(ctx context.Context, t model.Topology) error {
		return wait(ctx, t, within)
	}).Flags().DurationVar(&within, "timeout", time.Minute, "how long to wait")
	run := add("verify", "Run the checks, print what was measured, and tell stories", func(ctx context.Context, t model.Topology) error {
		err := docker.Verify(ctx, t, verify, os.Stdout)
		if ctx.Err() != nil {
			return err
		}
		return errors.Join(err, stories.tell(ctx, os.Stdout))
	})
	run.Flags().BoolVar(&verify.Strict, "strict", false, "let a time that was missed be a failure; the machine must have nothing else to do")
	run.Flags().StringVar(&verify.Parent, "parent", "", parentHelp)
	only := add("stories", "Tell stories, each on a stand of its own", func(ctx context.Context, _ model.Topology) error {
		return stories.tell(ctx, os.Stdout)
	})
	for _, c := range []*cobra.Command{run, only} {
		flags := c.Flags()
		flags.StringVar(&stories.set, "stories", "short", "which stories: short, all, none, or `NAMES` separated by commas")
		flags.StringVar(&stories.dir, "story-dir", "scenarios/testdata", "the `DIRECTORY` of the story files")
		flags.IntVar(&stories.atOnce, "at-once", 4, "how many stories are told at a time")
	}
	root.AddCommand(others(&file)...)
	return root
}

func check(ctx context.Context, t model.Topology, datapath string) error {
	lacks := slices.Concat(docker.Lacks(ctx), docker.LacksDatapath(datapath), docker.LacksMachines(t))
	for _, l := range lacks {
		fmt.Fprintln(os.Stderr, "-", l)
	}
	if len(lacks) > 0 {
		return errors.New("the stand cannot be run like this")
	}
	return nil
}

func attach(ctx context.Context, t model.Topology, parent string) error {
	all, err := docker.Attach(ctx, t, parent)
	for _, a := range all {
		state := "is attached"
		if a.Fresh {
			state = "attached"
		}
		fmt.Printf("%-12s %-11s port %-6s %-16v %v\n", a.Machine.Container, state, a.Machine.Port.Name, a.Machine.Address, a.Machine.MAC)
	}
	return err
}

func wait(ctx context.Context, t model.Topology, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	begun := time.Now()
	if err := docker.Wait(ctx, t); err != nil {
		return fmt.Errorf("not up after %v: %w", within, err)
	}
	fmt.Printf("every member is up after %.1f s\n", time.Since(begun).Seconds())
	return nil
}
