package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"hpnn/datapath/openflow"
	"hpnn/internal/replay"
)

func (a *app) render() *cobra.Command {
	var o origin
	var summary, asJSON bool
	c := &cobra.Command{
		Use:   "render --topology FILE",
		Short: "Print the rules of a topology",
		Long: `render prints the flows that make a switch the node of a topology, one a line, in the syntax of ovs-ofctl add-flows
and always in the same order. With --summary it counts them by table and says what each table is for.`,
		Example: `  lbctl render --topology examples/hpnn.yaml
  lbctl render --topology examples/hpnn.yaml --down be1 --drain web/be2 > flows.txt
  lbctl render --topology examples/hpnn.yaml --summary`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			t, s, err := o.load(c)
			if err != nil {
				return err
			}
			n := replay.FromTopology(t, s)
			switch {
			case summary && asJSON:
				return a.json(tables(n))
			case asJSON:
				return usage(c, "--json goes with --summary: flows have a syntax of their own")
			case summary:
				a.summarise(o.topology, n)
				return nil
			}
			_, err = fmt.Fprint(a.stdout, n.Program)
			return err
		},
	}
	o.bindTopology(c)
	o.bindMembers(c)
	c.Flags().BoolVar(&summary, "summary", false, "count the flows of each table and say what it is for")
	c.Flags().BoolVar(&asJSON, "json", false, "with --summary: print JSON")
	return c
}

// tableSummary is what a table is for and how many flows it has.
type tableSummary struct {
	Table   openflow.TableID `json:"table"`
	Name    string           `json:"name"`
	Flows   int              `json:"flows"`
	Purpose string           `json:"purpose"`
}

func tables(n replay.Node) []tableSummary {
	flows := map[openflow.TableID]int{}
	for f := range n.Program.All() {
		flows[f.Table]++
	}
	var list []tableSummary
	for _, t := range n.Tables {
		list = append(list, tableSummary{t.ID, t.Name, flows[t.ID], t.Purpose})
	}
	return list
}

func (a *app) summarise(name string, n replay.Node) {
	fmt.Fprintf(a.stdout, "%s: %s in %s\n\n", name, plural(n.Program.Len(), "flow"), plural(len(n.Tables), "table"))
	g := newGrid(">TABLE", "", ">FLOWS", "PURPOSE")
	for _, t := range tables(n) {
		g.add(t.Table, t.Name, t.Flows, shorten(t.Purpose, a.width()-36))
	}
	g.write(a.stdout, a.paint)
}
