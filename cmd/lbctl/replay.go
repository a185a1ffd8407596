package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"hpnn/internal/replay"
)

// replayFlags are the flags of replay besides those of the node.
type replayFlags struct {
	in, inPort, out string
	json, explain   bool
	cores           int
}

func (a *app) replay() *cobra.Command {
	var o origin
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay (--topology FILE | --flows FILE --ports LIST) (--in DIR | --in-port PORT FILE...)",
		Short: "Run captures through the rules and show what became of every frame",
		Long: `replay runs captured frames through the rules, in memory, and says what became of them.

Each capture holds the frames that enter one port: DIR/<port>.pcap or .pcapng, perhaps with .gz or .zst after it, or the FILEs
named after --in-port, "-" being standard input. They are merged by their time stamps, which are also the clock: learned
flows and connections time out as they would have. Only what enters is input: frames that the node itself sent, where a
capture holds both directions, are dropped as an impostor's would be, and counted as such.

With --out, the frames that leave are written to DIR/<port>.pcap, one file for each port. A capture that breaks off, or is
not of Ethernet, is replayed as far as it can be read; then the fault is reported and the exit code is 1.

Captures of any size are replayed in the same memory. With --cores, frames of different addresses are executed apart where
nothing that the rules remember, such as a connection or a learned flow, can tell the difference; otherwise one core
executes them and replay says why. The result is the same, to the byte.`,
		Example: `  lbctl replay --topology examples/hpnn.yaml --in-port pub0 examples/captures/client-pub0.pcap
  lbctl replay --topology examples/hpnn.yaml --down be1 --in captures --out /tmp/out
  lbctl replay --flows flows.txt --ports pub0=1,be1=10,be2=20 --in captures --explain
  tcpdump -i pub0 -Q in -w - | lbctl replay --topology examples/hpnn.yaml --in-port pub0 -`,
		RunE: func(c *cobra.Command, files []string) error { return a.runReplay(c, &o, f, files) },
	}
	o.bindTopology(c)
	o.bindMembers(c)
	o.bindFlows(c)
	c.Flags().StringVar(&f.in, "in", "", "a `DIR` with a capture for each port that frames enter, <port>.pcap")
	c.Flags().StringVar(&f.inPort, "in-port", "", "the `PORT` that the frames of the captures named enter")
	c.Flags().StringVar(&f.out, "out", "", "write the frames that leave to this `DIR`, <port>.pcap for each port")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON: the report, and before it, with --explain, a line for each frame")
	c.Flags().IntVar(&f.cores, "cores", 1, "execute frames on `N` cores at most")
	c.Flags().BoolVar(&f.explain, "explain", false, "print every frame, the tables it passed and what left where")
	return c
}

func (a *app) runReplay(c *cobra.Command, o *origin, f replayFlags, files []string) error {
	n, err := o.node(c)
	if err != nil {
		return err
	}
	if f.cores < 1 {
		return usage(c, "--cores: %d is no number of cores: use 1 or more", f.cores)
	}
	config := replay.Config{Node: n.Node, Out: f.out, Cores: f.cores}
	if config.Inputs, err = a.inputs(c, n.Node, f, files); err != nil {
		return err
	}
	if f.explain {
		config.Explain = a.explainer(n.Node, f.json)
	}
	bar := a.progress()
	config.Progress = bar.update
	report, err := replay.Run(c.Context(), config)
	bar.finish()
	var faults replay.Faults
	if err != nil && !errors.As(err, &faults) {
		return err
	}
	if err := a.showReplay(n.Node, report, f); err != nil {
		return err
	}
	if f.cores > 1 && report.Together != "" {
		fmt.Fprintf(a.stderr, "note: one core executed the frames: %s\n", report.Together)
	}
	if faults != nil {
		return badAnswer{faults}
	}
	return nil
}

func (a *app) showReplay(n replay.Node, r replay.Report, f replayFlags) error {
	if f.json {
		return a.json(r)
	}
	if f.explain {
		fmt.Fprintln(a.stdout)
	}
	a.summary(n, r)
	if f.out != "" {
		fmt.Fprintf(a.stdout, "The frames that left are in %s.\n", f.out)
	}
	return nil
}

// inputs are the captures that the command line names.
func (a *app) inputs(c *cobra.Command, n replay.Node, f replayFlags, files []string) ([]replay.Input, error) {
	switch {
	case (f.in == "") == (f.inPort == ""):
		return nil, usage(c, "one of --in and --in-port is needed")
	case f.in != "" && len(files) > 0:
		return nil, usage(c, "--in reads a directory: %q goes with --in-port", files[0])
	case f.in != "":
		return replay.InputsIn(f.in, n)
	case len(files) == 0:
		return nil, usage(c, "--in-port needs a capture: name its FILE, or - for standard input")
	}
	port, err := n.Port(f.inPort)
	if err != nil {
		return nil, fmt.Errorf("--in-port: %w", err)
	}
	var inputs []replay.Input
	for _, file := range files {
		in := replay.Input{Port: port, Path: file}
		if file == "-" {
			in.Path, in.Src = "standard input", a.stdin
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}
