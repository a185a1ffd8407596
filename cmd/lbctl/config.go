package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"hpnn/model"
)

func (a *app) config() *cobra.Command {
	var o origin
	var effective, asJSON bool
	c := &cobra.Command{
		Use:   "config --topology FILE",
		Short: "Check a topology, or print it with every default written out",
		Long: `config checks a topology. It prints every fault with its place and what to do about it, one a line, and exits with 2.

With --effective it prints the topology as it is understood: all keys, in their order, every default written out.`,
		Example: `  lbctl config --topology examples/hpnn.yaml
  lbctl config --topology examples/minimal.yaml --effective
  lbctl config --topology examples/hpnn.yaml --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			t, _, err := o.load(c)
			var faults model.Faults
			if asJSON && (err == nil || errors.As(err, &faults)) {
				return errors.Join(a.json(newChecked(o.topology, faults)), err)
			}
			if err != nil {
				return err
			}
			if effective {
				_, err = a.stdout.Write(t.YAML())
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "%s is valid: %s\n", o.topology, contents(t))
			return err
		},
	}
	o.bindTopology(c)
	c.Flags().BoolVar(&effective, "effective", false, "print the topology with every default written out")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: whether it is valid, and the faults")
	c.MarkFlagsMutuallyExclusive("effective", "json")
	return c
}

// checked is what is known of a topology's file.
type checked struct {
	File   string         `json:"file"`
	Valid  bool           `json:"valid"`
	Faults []checkedFault `json:"faults"`
}

// checkedFault is a model.Fault.
type checkedFault struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Path    string `json:"path,omitempty"`
	Problem string `json:"problem"`
	Remedy  string `json:"remedy"`
}

func newChecked(file string, faults model.Faults) checked {
	c := checked{File: file, Valid: faults == nil, Faults: []checkedFault{}}
	for _, f := range faults {
		c.Faults = append(c.Faults, checkedFault{f.Line, f.Column, f.Path, f.Problem, f.Remedy})
	}
	return c
}

// contents counts what a topology declares.
func contents(t model.Topology) string {
	members := 0
	for _, p := range t.Pools {
		members += len(p.Members)
	}
	return fmt.Sprintf("%s, %s, %s, %s with %s, %s", plural(len(t.Segments), "segment"), plural(len(t.Hosts), "host"),
		plural(len(t.Routes), "route"), plural(len(t.Pools), "pool"), plural(members, "member"), plural(len(t.Listeners), "listener"))
}
