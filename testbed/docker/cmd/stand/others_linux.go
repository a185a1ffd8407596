package main

import (
	"fmt"
	"net/netip"

	"github.com/spf13/cobra"

	"hpnn/model"
	"hpnn/testbed/docker"
)

// others are the commands with arguments of their own.
func others(file *string) []*cobra.Command {
	var parent string
	flow := &cobra.Command{Use: "flow [SRC [PORT [VIP]]]", Short: "Print a client's first frame, for lbctl trace", Args: cobra.MaximumNArgs(3), RunE: func(_ *cobra.Command, args []string) error {
		return flow(*file, args)
	}}
	shim := &cobra.Command{Use: "shim --parent INTERFACE [ADDRESS]", Short: "Give the host a way to the public segment", Args: cobra.MaximumNArgs(1), RunE: func(_ *cobra.Command, args []string) error {
		return shim(*file, parent, args)
	}}
	shim.Flags().StringVar(&parent, "parent", "", "the `INTERFACE` of the host that the public segment is on")
	unshim := &cobra.Command{Use: "shim-down", Short: "Take it away", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		return docker.RemoveShim()
	}}
	down := &cobra.Command{Use: "down COMMAND...", Short: "Run the command that removes the containers, say what is left", Args: cobra.MinimumNArgs(1), RunE: func(c *cobra.Command, args []string) error {
		return docker.Down(c.Context(), args)
	}}
	return []*cobra.Command{flow, shim, unshim, down}
}

func flow(file string, args []string) error {
	t, err := model.Load(file)
	if err != nil {
		return err
	}
	args = append(args, "", "", "")
	text, err := docker.FirstFrame(t, args[0], args[1], args[2])
	if err != nil {
		return err
	}
	fmt.Println(text)
	return nil
}

func shim(file, parent string, args []string) error {
	t, err := model.Load(file)
	if err != nil {
		return err
	}
	var own netip.Addr
	if len(args) > 0 {
		if own, err = netip.ParseAddr(args[0]); err != nil {
			return fmt.Errorf("read SHIM: %w", err)
		}
	}
	to, err := docker.Shim(t, parent, own)
	if err != nil {
		return err
	}
	fmt.Printf("the host reaches %v by hpnn-shim on %s\n", to, parent)
	if !docker.ShimFillsChecksums() {
		fmt.Println("only ping gets through with the userspace datapath: TCP leaves checksums to hardware that these frames do not pass; use DATAPATH=system, or a machine of that network")
	}
	return nil
}
