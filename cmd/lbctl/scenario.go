package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hpnn/scenarios"
)

func (a *app) scenario() *cobra.Command {
	c := &cobra.Command{
		Use:   "scenario",
		Short: "Tell stories: do something to a site, in memory, and check what comes of it",
		Long: `scenario runs stories: text files with commands and what they print. Hosts, switch and node are in memory and time is
virtual, so a failover takes milliseconds; with --bed, they may be more real. docs/scenarios.md explains the language;
scenarios/testdata has many stories.`,
		Args: noCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.scenarioRun(), a.scenarioCommands())
	return c
}

func (a *app) scenarioRun() *cobra.Command {
	var config scenarios.Config
	asJSON := false
	c := &cobra.Command{
		Use:   "run FILE...",
		Short: "Run stories",
		Long: `run tells the stories of the FILEs, one after another. A story fails at the first block of commands that prints something
else than the file has, at a command that cannot be done, or when a rule is broken that holds after every command.`,
		Example: `  lbctl scenario run scenarios/testdata/member-frozen.txt
  lbctl scenario run --topology site.yaml what-if.txt
  lbctl scenario run --update what-if.txt
  lbctl scenario run --bed dummy scenarios/testdata/drain.txt`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, files []string) error { return a.runScenarios(files, config, asJSON) },
	}
	c.Flags().StringVar(&config.Bed, "bed", "sim", "`where` the stories happen: "+strings.Join(scenarios.Beds(), ", "))
	c.Flags().StringVar(&config.Topology, "topology", "", "the `FILE` with the topology of stories that name none")
	c.Flags().BoolVar(&config.Update, "update", false, "write what the commands print into the files")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: an object for each story")
	return c
}

// told is a story that was told, for programs.
type told struct {
	File    string `json:"file"`
	Skipped string `json:"skipped,omitempty"`
	Steps   int    `json:"steps"`
	Took    int64  `json:"took_ns"` // of the bed's time
	Error   string `json:"error,omitempty"`
}

func (a *app) runScenarios(files []string, config scenarios.Config, asJSON bool) error {
	failed, unusable := 0, false
	for _, file := range files {
		result, err := scenarios.Run(file, config)
		if err != nil {
			failed++
			unusable = unusable || errors.As(err, new(*scenarios.SyntaxError)) || errors.As(err, new(*fs.PathError))
		}
		switch {
		case asJSON:
			t := told{file, result.Skipped, result.Steps, int64(result.Took), ""}
			if err != nil {
				t.Error = err.Error()
			}
			if err := a.json(t); err != nil {
				return err
			}
		case err != nil:
			fmt.Fprintf(a.stdout, "%s  %s\n%v\n", a.paint.in(red, "FAILED"), file, err)
		default:
			fmt.Fprintln(a.stdout, result)
		}
	}
	if failed == 0 {
		return nil
	}
	err := fmt.Errorf("%d of %d stories failed", failed, len(files))
	if unusable {
		return err
	}
	return badAnswer{err}
}

func (a *app) scenarioCommands() *cobra.Command {
	return &cobra.Command{
		Use:               "commands [COMMAND]",
		Short:             "Explain the commands of stories",
		Example:           "  lbctl scenario commands\n  lbctl scenario commands until",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.FixedCompletions(scenarioWords(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				a.listScenarioCommands()
				return nil
			}
			all := scenarios.Commands()
			i := slices.IndexFunc(all, func(s scenarios.Command) bool { return s.Name == args[0] })
			if i < 0 {
				return usage(c, "%q is no command of stories", args[0])
			}
			fmt.Fprint(a.stdout, all[i])
			if strings.Contains(all[i].Usage, "FRAME") {
				fmt.Fprint(a.stdout, "\n", scenarios.Frames)
			}
			return nil
		},
	}
}

func scenarioWords() (names []string) {
	for _, c := range scenarios.Commands() {
		names = append(names, c.Name)
	}
	return names
}

func (a *app) listScenarioCommands() {
	family := ""
	for _, c := range scenarios.Commands() {
		if c.Family != family {
			family = c.Family
			fmt.Fprintf(a.stdout, "%s\n", a.paint.in(bold, family))
		}
		fmt.Fprintf(a.stdout, "  %s\n", c.Usage)
	}
}
