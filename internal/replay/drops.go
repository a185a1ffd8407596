package replay

import (
	"cmp"
	"slices"

	"hpnn/datapath/openflow"
	"hpnn/simbackend"
)

// drops counts the frames of which nothing left, by reason and rule.
type drops struct {
	groups []*dropGroup
	index  map[dropKey][]*dropGroup // more than one where only the match or error differs
}

// dropKey tells rules apart without looking at their match.
type dropKey struct {
	reason   Reason
	table    openflow.TableID
	priority uint16
	cookie   uint64
}

// dropGroup is a Drop being counted.
type dropGroup struct {
	Drop
	flow openflow.Flow
}

// add counts a frame.
func (d *drops) add(v *simbackend.Verdict, reason Reason, f *Frame, n *Node) {
	k := dropKey{reason: reason, table: v.Table}
	if v.Matched {
		k.priority, k.cookie = v.Flow.Priority, v.Flow.Cookie
	}
	d.group(k, v, f, n).add(len(f.Data))
}

func (d *drops) group(k dropKey, v *simbackend.Verdict, f *Frame, n *Node) *dropGroup {
	for _, g := range d.index[k] {
		if g.holds(v) {
			return g
		}
	}
	g := &dropGroup{flow: v.Flow, Drop: Drop{Reason: k.reason, Table: k.table, Example: place(f, *n)}}
	if v.Matched {
		g.Rule = v.Flow.String()
	}
	if v.Err != nil {
		g.Error = v.Err.Error()
	}
	if d.index == nil {
		d.index = map[dropKey][]*dropGroup{}
	}
	d.index[k] = append(d.index[k], g)
	d.groups = append(d.groups, g)
	return g
}

// holds reports whether a verdict belongs to the group. Flows that time out were learned: what
// they were learned from would make a group of each.
func (g *dropGroup) holds(v *simbackend.Verdict) bool {
	if v.Err != nil {
		return g.Error == v.Err.Error()
	}
	learned := v.Flow.HardTimeout != 0 || v.Flow.IdleTimeout != 0
	return learned || g.flow.Match.Equal(v.Flow.Match)
}

// report lists the groups, the largest first, and those of one size in the order of the tables.
func (d *drops) report(n Node) []Drop {
	list := []Drop{}
	for _, g := range d.groups {
		if t, ok := n.Table(g.Table); ok {
			g.Name, g.Purpose = t.Name, t.Purpose
		}
		list = append(list, g.Drop)
	}
	slices.SortStableFunc(list, func(a, b Drop) int {
		return cmp.Or(cmp.Compare(b.Frames, a.Frames), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Rule, b.Rule))
	})
	return list
}
