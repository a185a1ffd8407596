package main

import (
	"context"
	"encoding/json"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// app is what the commands share: where they read and write.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	paint          paint // for stdout
}

// run executes a command line and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, paint: paint(isTerminal(stdout) && coloursWanted())}
	root := a.root()
	root.SetArgs(args)
	return a.conclude(root.ExecuteContext(ctx))
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "lbctl",
		Short: "Inspect and steer an OpenFlow router and load balancer, with a node or without one",
		Long: `lbctl asks and steers a running node. Without any node it renders the rules of a topology and runs frames and captures
through them, in memory.

Exit codes: 0 fine; 1 the answer is bad, such as a capture that breaks off; 2 usage, or input that cannot be used.
Set NO_COLOR to do without colours.`,
		Example: `  lbctl render --topology examples/hpnn.yaml --summary
  lbctl layout --topology examples/hpnn.yaml --down be1
  lbctl trace --topology examples/hpnn.yaml in_port=pub0,tcp,nw_dst=192.168.5.21,tp_dst=80
  lbctl replay --topology examples/hpnn.yaml --in-port pub0 examples/captures/client-pub0.pcap`,
		Version:                    version(),
		Args:                       noCommand,
		SilenceUsage:               true,
		SilenceErrors:              true,
		SuggestionsMinimumDistance: 2,
		RunE:                       func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usage(c, "%v", err) })
	root.SetVersionTemplate("lbctl {{.Version}}\n")
	root.AddGroup(&cobra.Group{ID: offline, Title: "Without a node:"}, &cobra.Group{ID: online, Title: "On a running node (hcd):"})
	group(root, offline, a.config(), a.layout(), a.render(), a.replay(), a.scenario(), a.trace())
	group(root, online, a.health(), a.slots(), a.status(), a.drain(), a.enable(), a.reapply(),
		a.flows(), a.ports(), a.conns(), a.fdb(), a.metrics(), a.sim())
	return root
}

// Groups of commands.
const (
	offline = "offline"
	online  = "online"
)

func group(root *cobra.Command, id string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = id
		root.AddCommand(c)
	}
}

// noCommand refuses a word that is no command.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if similar := c.SuggestionsFor(args[0]); len(similar) > 0 {
		return usage(c, "%q is no command: did you mean %s?", args[0], strings.Join(similar, " or "))
	}
	return usage(c, "%q is no command", args[0])
}

// version is the module's version and the revision it was built from, as far as the build knows.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	v := info.Main.Version
	if v == "" {
		v = "(devel)"
	}
	return v + " " + info.GoVersion
}

// json prints a value for programs.
func (a *app) json(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
