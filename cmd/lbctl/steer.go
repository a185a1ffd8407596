package main

import (
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"hpnn/testbed"
)

func (a *app) drain() *cobra.Command {
	return a.steer("drain MEMBER", "Give a member no new connections", "/drain",
		`drain takes a member's slots away at once. Its connections live on, and it is still probed.`, "drained; its connections live on")
}

func (a *app) enable() *cobra.Command {
	return a.steer("enable MEMBER", "Give a drained member connections again", "/enable",
		`enable gives a member its slots back, if its monitor says that it is up.`, "enabled")
}

// steer makes a command that sets a member.
func (a *app) steer(use, short, path, long, done string) *cobra.Command {
	var d daemon
	c := &cobra.Command{
		Use: use, Short: short,
		Long:    long + "\n\nMEMBER is a name, in every pool that has it, or pool/name.",
		Example: "  lbctl " + use[:len(use)-len("MEMBER")] + "be1\n  lbctl " + use[:len(use)-len("MEMBER")] + "web/be1",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.post(c.Context(), &d, path, url.Values{"member": {args[0]}}, func(answer map[string]any) {
				members, _ := answer["members"].([]any)
				for _, m := range members {
					fmt.Fprintf(a.stdout, "%v %s\n", m, done)
				}
			})
		},
	}
	d.bind(c)
	c.Flags().BoolVar(&d.asJSON, "json", false, "print JSON")
	return c
}

func (a *app) reapply() *cobra.Command {
	var d daemon
	c := &cobra.Command{
		Use: "reapply", Short: "Compare the switch with what it should hold, now",
		Long:    "reapply has the daemon compare the switch's flows with those that should be there, and commit what differs.\nIt does so by itself every second.",
		Example: "  lbctl reapply",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.post(c.Context(), &d, "/reapply", nil, func(map[string]any) { fmt.Fprintln(a.stdout, "asked for") })
		},
	}
	d.bind(c)
	c.Flags().BoolVar(&d.asJSON, "json", false, "print JSON")
	return c
}

// sim is the commands that play with the hosts of a simulated site.
func (a *app) sim() *cobra.Command {
	root := &cobra.Command{
		Use: "sim", Short: "Play with the hosts of a simulated site (hcd --backend sim)",
		Example: "  lbctl sim hosts\n  lbctl sim kill be2\n  lbctl sim revive be2",
		Args:    noCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	hosts := &cobra.Command{Use: "hosts", Short: "List the hosts and how they are", Example: "  lbctl sim hosts"}
	root.AddCommand(asking(a, hosts, "/sim/hosts", a.showHosts))
	meanings := map[string]string{
		"kill": "End a host's processes: its ports refuse", "revive": "Start them again",
		"pause": "Freeze a host's processes, as docker pause does", "resume": "Let them go on",
		"cut": "Unplug a host's cable", "mend": "Plug it in again",
	}
	for _, verb := range testbed.Verbs() {
		root.AddCommand(a.play(verb, meanings[verb]))
	}
	return root
}

func (a *app) play(verb, short string) *cobra.Command {
	var d daemon
	c := &cobra.Command{
		Use: verb + " HOST", Short: short, Example: "  lbctl sim " + verb + " be2", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var hosts []testbed.HostState
			if err := d.client().Post(c.Context(), "/sim/"+verb, url.Values{"host": {args[0]}}, &hosts); err != nil {
				return badAnswer{err}
			}
			if d.asJSON {
				return a.json(hosts)
			}
			for _, h := range hosts {
				if h.Name == args[0] {
					fmt.Fprintf(a.stdout, "%s is %s\n", h.Name, h.Condition)
				}
			}
			return nil
		},
	}
	d.bind(c)
	c.Flags().BoolVar(&d.asJSON, "json", false, "print JSON")
	return c
}

func (a *app) showHosts(hosts []testbed.HostState) {
	g := newGrid("HOST", "ADDRESS", ">PORT", "CONDITION")
	for _, h := range hosts {
		g.add(h.Name, h.Address, h.Port, h.Condition)
	}
	g.write(a.stdout, a.paint)
}
