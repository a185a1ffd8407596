package maglev

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/require"
)

// drawn is a table with given owners: one letter per slot, "-" for nobody. Members are live with
// weight 1 unless weights say otherwise.
func drawn(slots string, members map[string]int) Table {
	table := Table{pool: Pool{ID: 1, Slots: len(slots), Algorithm: Maglev}, owner: make([]int32, len(slots))}
	index := map[byte]int32{'-': empty}
	for _, key := range []string{"a", "b", "c", "d"} {
		if w, ok := members[key]; ok {
			index[key[0]] = int32(len(table.pool.Members))
			table.pool.Members = append(table.pool.Members, Member{Key: key, Weight: w, Live: true})
		}
	}
	for slot := range slots {
		table.owner[slot] = index[slots[slot]]
	}
	return table
}

func TestDisruptionTellsNecessaryFromForeign(t *testing.T) {
	abc := map[string]int{"a": 1, "b": 1, "c": 1}
	for _, c := range []struct {
		name          string
		before, after Table
		want          Report
	}{
		{"nothing changes", drawn("abcabc", abc), drawn("abcabc", abc), Report{6, 0, 0, 0}},
		{"a member leaves", drawn("abcabc", abc), drawn("bbcbbc", map[string]int{"b": 1, "c": 1}), Report{6, 2, 2, 0}},
		{"and another slot moves along", drawn("abcabc", abc), drawn("bbcccc", map[string]int{"b": 1, "c": 1}), Report{6, 3, 2, 1}},
		{"weight 0 is leaving", drawn("abcabc", abc), drawn("bbccbc", map[string]int{"a": 0, "b": 1, "c": 1}), Report{6, 2, 2, 0}},
		{"a member arrives", drawn("bbccbb", map[string]int{"b": 1, "c": 1}), drawn("abcabb", abc), Report{6, 2, 2, 0}},
		{"one that stays takes from another", drawn("bbccbb", map[string]int{"b": 1, "c": 1}), drawn("abcacb", abc), Report{6, 3, 2, 1}},
		{"turned down", drawn("abcabc", map[string]int{"a": 2, "b": 1, "c": 1}), drawn("abcbbc", abc), Report{6, 1, 1, 0}},
		{"turned up", drawn("abcabc", abc), drawn("abcaba", map[string]int{"a": 2, "b": 1, "c": 1}), Report{6, 1, 1, 0}},
		{"turned up but loses", drawn("abcabc", abc), drawn("bbcabc", map[string]int{"a": 2, "b": 1, "c": 1}), Report{6, 1, 0, 1}},
		{"the last one leaves", drawn("aaaaaa", map[string]int{"a": 1}), drawn("------", nil), Report{6, 6, 6, 0}},
		{"the first one arrives", drawn("------", nil), drawn("aaaaaa", map[string]int{"a": 1}), Report{6, 6, 6, 0}},
		{"a replacement", drawn("ababab", map[string]int{"a": 1, "b": 1}), drawn("cbcbcb", map[string]int{"b": 1, "c": 1}), Report{6, 3, 3, 0}},
		{"other order of members, same keys", drawn("bcbcbc", map[string]int{"b": 1, "c": 1}), drawn("bcbcbc", abc), Report{6, 0, 0, 0}},
		{"another size", drawn("abcabc", abc), drawn("abc", abc), Report{3, 3, 0, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, Disruption(c.before, c.after))
		})
	}
}

func TestDisruptionOfAnotherPool(t *testing.T) {
	a, b := build(t, stand(Maglev)), stand(Maglev)
	b.ID = 2
	require.Equal(t, Report{1024, 1024, 0, 1024}, Disruption(a, build(t, b)))
	require.Equal(t, "moved 1024 of 1024: necessary 0, foreign 1024", Disruption(a, build(t, b)).String())
}

// A change of a pool whose foreign moves are measured, for pools of more than so many members.
type change struct {
	name string
	over int
	make func(r *rand.Rand, p Pool) (before, after Pool)
}

// kill marks n random live members dead.
func kill(r *rand.Rand, p Pool, n int) Pool {
	p = alive(p, -1)
	for _, i := range r.Perm(len(p.Members))[:n] {
		p.Members[i].Live = false
	}
	return p
}

// next is the change from so many random dead members to one more.
func nextDeath(dead int) change {
	return change{fmt.Sprintf("death %d", dead+1), dead + 1, func(r *rand.Rand, p Pool) (Pool, Pool) {
		after := kill(r, p, dead+1)
		before := alive(after, -1)
		left := dead
		for i, m := range after.Members {
			if !m.Live && left > 0 {
				before.Members[i].Live = false
				left--
			}
		}
		return before, after
	}}
}

// reconfigured is a change of the configuration while so many members are dead.
func reconfigured(name string, dead int, edit func(p *Pool)) change {
	return change{fmt.Sprintf("%s, %d dead", name, dead), dead, func(r *rand.Rand, p Pool) (Pool, Pool) {
		before := kill(r, p, dead)
		after := before
		after.Members = append([]Member(nil), before.Members...)
		edit(&after)
		return before, after
	}}
}

func add(p *Pool) {
	p.Members = append(p.Members, Member{Key: "10.99.99.99:8080", Weight: 1, Live: true})
}

func double(p *Pool) { p.Members[0].Weight = 2 }

// TestDisruptionFigures measures foreign moves in per cent of 1024 slots (mean, and the worst seen),
// and the worst distance of a share from the fair one, in slots. Run with -v to see the table.
func TestDisruptionFigures(t *testing.T) {
	changes := []change{
		nextDeath(0), nextDeath(1), nextDeath(2), nextDeath(4),
		reconfigured("added", 0, add), reconfigured("added", 1, add),
		reconfigured("doubled", 0, double), reconfigured("doubled", 1, double),
	}
	const tries = 15
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "members\tlayout\t")
	for _, c := range changes {
		fmt.Fprintf(w, "%s\t", c.name)
	}
	fmt.Fprint(w, "unfair\t\n")
	for _, members := range []int{2, 3, 4, 6, 8, 10, 16, 32, 64} {
		for _, a := range []Algorithm{Maglev, MaglevStable} {
			r := rand.New(rand.NewPCG(7, uint64(members)))
			unfair := 0.0
			fmt.Fprintf(w, "%d\t%v\t", members, a)
			for _, c := range changes {
				if members <= c.over {
					fmt.Fprint(w, "-\t")
					continue
				}
				sum, worst := 0, 0
				for range tries {
					p := uniform(a, 1024, members)
					p.ID = uint16(r.Uint32())
					before, after := c.make(r, kill(r, p, 0))
					from, to := build(t, before), build(t, after)
					foreign := Disruption(from, to).Foreign
					sum, worst = sum+foreign, max(worst, foreign)
					for _, s := range append(from.Shares(), to.Shares()...) {
						unfair = max(unfair, math.Abs(float64(s.Slots)-s.Fair))
					}
				}
				fmt.Fprintf(w, "%.2f %.2f\t", 100*float64(sum)/tries/1024, 100*float64(worst)/1024)
			}
			fmt.Fprintf(w, "%.1f\t\n", unfair)
		}
	}
	w.Flush()
	t.Log("\n" + out.String())
}
