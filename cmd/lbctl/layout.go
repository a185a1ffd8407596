package main

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"hpnn/internal/maglev"
	"hpnn/internal/pipeline"
	"hpnn/model"
)

func (a *app) layout() *cobra.Command {
	var o origin
	asJSON := false
	c := &cobra.Command{
		Use:   "layout --topology FILE",
		Short: "Show which member owns how many slots, and what a failure would move",
		Long: `layout shows the slot table of every pool: how many slots each member owns, and the digest that nodes compare.

It then says what the state asked for changes against all members taking connections. A moved slot is necessary if it left a
member that takes less now, or went to one that takes more; any other is foreign: connections lost for no reason of theirs.`,
		Example: `  lbctl layout --topology examples/hpnn.yaml
  lbctl layout --topology examples/hpnn.yaml --down be1 --drain web/be2
  lbctl layout --topology examples/hpnn.yaml --down be1 --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			t, s, err := o.load(c)
			if err != nil {
				return err
			}
			pools := layouts(t, s)
			if asJSON {
				return a.json(pools)
			}
			for i, p := range pools {
				if i > 0 {
					fmt.Fprintln(a.stdout)
				}
				a.showLayout(p)
			}
			return nil
		},
	}
	o.bindTopology(c)
	o.bindMembers(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// poolLayout is the slot table of a pool, and how it differs from the one with all members up.
type poolLayout struct {
	Pool      string          `json:"pool"`
	ID        uint16          `json:"id"`
	Algorithm model.Algorithm `json:"algorithm"`
	Slots     int             `json:"slots"`
	Digest    string          `json:"digest"` // SHA-256
	Members   []memberLayout  `json:"members"`
	Unowned   int             `json:"unowned"` // slots that nobody owns
	Moved     int             `json:"moved"`
	Necessary int             `json:"necessary"`
	Foreign   int             `json:"foreign"`

	table maglev.Table
	keys  []string // of the members, in the order of the topology
}

// memberLayout is what a member has of a slot table.
type memberLayout struct {
	Name    string  `json:"name"`
	Address string  `json:"address"`
	Weight  int     `json:"weight"`
	State   string  `json:"state"`
	Slots   int     `json:"slots"`
	Share   float64 `json:"share"`  // of the slots, 0 to 1
	Fair    float64 `json:"fair"`   // slots by weight
	Before  int     `json:"before"` // slots with all members up
}

// layouts lays out every pool.
func layouts(t model.Topology, s pipeline.State) []poolLayout {
	now, before := pipeline.Layout(t, s), pipeline.Layout(allUp(t), pipeline.State{})
	pools := []poolLayout{}
	for _, p := range t.Pools {
		table := now[p.ID]
		digest := table.Digest()
		moved := maglev.Disruption(before[p.ID], table)
		l := poolLayout{
			Pool: p.Name, ID: p.ID, Algorithm: p.Algorithm, Slots: table.Slots(), Digest: hex.EncodeToString(digest[:]),
			Unowned: table.Slots(), Moved: moved.Moved, Necessary: moved.Necessary, Foreign: moved.Foreign, table: table,
		}
		shares, full := sharesOf(table), sharesOf(before[p.ID])
		for _, m := range p.Members {
			own := shares[m.Key()]
			l.Unowned -= own.Slots
			l.keys = append(l.keys, m.Key())
			l.Members = append(l.Members, memberLayout{
				Name: m.Name, Address: m.Key(), Weight: m.Weight, State: stateOf(s, p.Name, m), Slots: own.Slots,
				Share: float64(own.Slots) / float64(table.Slots()), Fair: own.Fair, Before: full[m.Key()].Slots,
			})
		}
		pools = append(pools, l)
	}
	return pools
}

// allUp is the topology with no member drained.
func allUp(t model.Topology) model.Topology {
	t.Pools = slices.Clone(t.Pools)
	for i := range t.Pools {
		t.Pools[i].Members = slices.Clone(t.Pools[i].Members)
		for j := range t.Pools[i].Members {
			t.Pools[i].Members[j].Admin = model.Enabled
		}
	}
	return t
}

func sharesOf(t maglev.Table) map[string]maglev.Share {
	m := map[string]maglev.Share{}
	for _, s := range t.Shares() {
		m[s.Key] = s
	}
	return m
}

func stateOf(s pipeline.State, pool string, m model.Member) string {
	name := pipeline.MemberName{Pool: pool, Member: m.Name}
	switch {
	case s.Down[name]:
		return "down"
	case !s.Takes(pool, m):
		return "drained"
	case m.Weight == 0:
		return "weight 0"
	}
	return "up"
}

func (a *app) showLayout(p poolLayout) {
	fmt.Fprintf(a.stdout, "pool %s (id %d): %v, %s, digest %s\n\n", p.Pool, p.ID, p.Algorithm, plural(p.Slots, "slot"), p.Digest)
	g := newGrid("", "MEMBER", "ADDRESS", ">WEIGHT", "STATE", ">SLOTS", ">SHARE", ">FAIR", ">ALL UP")
	for i, m := range p.Members {
		g.add(mark(i), m.Name, m.Address, m.Weight, m.State, m.Slots, fmt.Sprintf("%.1f %%", 100*m.Share), fmt.Sprintf("%.1f", m.Fair), m.Before)
	}
	if p.Unowned > 0 {
		g.add(string(nobody), "nobody", "", "", "", p.Unowned, fmt.Sprintf("%.1f %%", 100*float64(p.Unowned)/float64(p.Slots)), "", "")
	}
	g.write(a.stdout, a.paint)
	if p.Moved == 0 {
		fmt.Fprint(a.stdout, "\nno slot is elsewhere than with all members up\n\n")
	} else {
		fmt.Fprintf(a.stdout, "\nagainst all members up: %s moved, %d necessary, %d foreign\n\n", plural(p.Moved, "slot"), p.Necessary, p.Foreign)
	}
	a.strip(p)
}
