package pipeline

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
	"hpnn/model"
)

// owners counts the slots that each member owns in a layout of the one pool of an example.
func owners(t model.Topology, s State) map[string]int {
	table := Layout(t, s)[t.Pools[0].ID]
	counts := map[string]int{}
	for slot := range table.Slots() {
		owner, _ := table.Owner(slot)
		counts[owner]++
	}
	return counts
}

func members(names ...string) map[MemberName]bool {
	set := map[MemberName]bool{}
	for _, n := range names {
		set[MemberName{"web", n}] = true
	}
	return set
}

func TestLayoutFollowsTheState(t *testing.T) {
	topology := load(t, "hpnn")
	const be1, be2, be3, be4 = "10.20.0.2:8080", "10.30.0.2:8080", "10.20.0.3:8080", "10.30.0.3:8080"
	require.Equal(t, map[string]int{be1: 256, be2: 256, be3: 256, be4: 256}, owners(topology, State{}))

	down := owners(topology, State{Down: members("be1")})
	require.NotContains(t, down, be1)
	require.Len(t, down, 3)
	require.Equal(t, down, owners(topology, State{Drained: members("be1")}), "drained and down are the same to a layout")
	require.Equal(t, map[string]int{be4: 1024}, owners(topology, State{Down: members("be1", "be2"), Drained: members("be3")}))
	require.Equal(t, map[string]int{"": 1024}, owners(topology, State{Down: members("be1", "be2", "be3", "be4")}))
	require.Len(t, owners(topology, State{Down: members("nobody")}), 4)

	topology.Pools[0].Members[3].Admin = model.Drained
	require.NotContains(t, owners(topology, State{}), be4)
	topology.Pools[0].Members[2].Weight = 0
	require.ElementsMatch(t, []string{be1, be2}, slices.Collect(maps.Keys(owners(topology, State{}))))
}

func TestMembersAreFoundByName(t *testing.T) {
	topology := load(t, "two-pools")
	both, err := FindMembers(topology, "large")
	require.NoError(t, err)
	require.Equal(t, []MemberName{{"web", "large"}, {"chat", "large"}}, both)
	one, err := FindMembers(topology, "chat/large")
	require.NoError(t, err)
	require.Equal(t, []MemberName{{"chat", "large"}}, one)
	for _, name := range []string{"", "huge", "web/remote", "/large", "chat/"} {
		_, err = FindMembers(topology, name)
		require.ErrorContains(t, err, `no pool has it: use chat/large, chat/remote, web/large, web/medium, web/small`, name)
	}
}

// slotFlows are the flows of the slot table, by key.
func slotFlows(p of.Program) []of.Flow {
	var slots []of.Flow
	for f := range p.All() {
		if f.Table == tableSlots && f.Priority == slotOwned {
			slots = append(slots, f)
		}
	}
	return slots
}

func TestOnlySlotsDependOnTheLayout(t *testing.T) {
	someTopologies(t, 60, func(seed uint64, topology model.Topology) {
		r := rand.New(rand.NewPCG(seed, 2))
		state := State{Down: map[MemberName]bool{}}
		slots := 0
		for _, p := range topology.Pools {
			for _, m := range p.Members {
				state.Down[MemberName{p.Name, m.Name}] = r.IntN(3) == 0
			}
		}
		layouts := Layout(topology, state)
		for _, p := range topology.Pools {
			takes := func(m model.Member) bool { return state.Takes(p.Name, m) && m.Weight > 0 }
			if slices.ContainsFunc(p.Members, takes) {
				slots += int(p.Slots)
			}
		}
		program := Render(topology, layouts)
		require.Len(t, slotFlows(program), slots, "seed %d", seed)
		require.Empty(t, Lint(program), "seed %d", seed)
		bare := Render(topology, nil)
		require.Equal(t, bare.Len()+slots, program.Len(), "seed %d", seed)
		for f := range bare.All() {
			same, ok := program.Get(f.Key())
			require.True(t, ok && same.Equal(f), "seed %d: %v", seed, f)
		}
	})
}

func TestAForeignLayoutGivesNoSlots(t *testing.T) {
	topology := load(t, "hpnn")
	other := load(t, "minimal")
	require.Empty(t, slotFlows(Render(topology, Layout(other, State{}))), "owners that are no members")
	topology.Pools[0].Slots = 7
	require.Len(t, slotFlows(Render(topology, Layout(load(t, "hpnn"), State{}))), 7, "slots that the hash never chooses")
}

func TestOrderOfTheTopologyDoesNotMatter(t *testing.T) {
	someTopologies(t, 60, func(seed uint64, topology model.Topology) {
		want := allUp(topology).String()
		r := rand.New(rand.NewPCG(seed, 3))
		shuffle(r, topology.Segments)
		shuffle(r, topology.Hosts)
		shuffle(r, topology.Routes)
		shuffle(r, topology.Pools)
		shuffle(r, topology.Listeners)
		for _, p := range topology.Pools {
			shuffle(r, p.Members)
		}
		require.Equal(t, want, allUp(topology).String(), "seed %d", seed)
	})
}

func shuffle[T any](r *rand.Rand, list []T) {
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

func TestRandomTopologiesAreOfManyKinds(t *testing.T) {
	seen := map[string]int{}
	count := func(what string, is bool) {
		if is {
			seen[what]++
		}
	}
	someTopologies(t, 300, func(_ uint64, topology model.Topology) {
		n := survey(topology, nil)
		vips := map[string]int{}
		for _, s := range n.segments {
			count("served from another segment", len(s.served) > len(s.vips))
			for _, l := range s.listeners {
				vips[l.VIP.String()]++
			}
		}
		for _, s := range n.services {
			count("member beyond a router", !s.onLink)
			count("member in a public segment", !s.hop.in.private())
		}
		for _, h := range n.hosts {
			count("host behind an uplink", h.behindUplink())
			count("router of several prefixes", len(h.routes) > 1)
		}
		for _, k := range vips {
			count("several listeners on a VIP", k > 1)
		}
		count("several pools", len(n.pools) > 1)
		count("no pool", len(n.pools) == 0)
	})
	for _, what := range []string{
		"served from another segment", "member beyond a router", "member in a public segment", "host behind an uplink",
		"router of several prefixes", "several listeners on a VIP", "several pools", "no pool",
	} {
		require.Greater(t, seen[what], 20, what)
	}
}

func TestEveryDropSaysWhy(t *testing.T) {
	why, ok := Why(tableRoute, 0)
	require.True(t, ok)
	require.Equal(t, "no route", why)
	why, ok = Why(tableSource, sourceReach+2*24)
	require.True(t, ok)
	require.Equal(t, "a source that belongs behind another segment", why)
	for _, l := range []level{{tableRoute, 99}, {tableSource, sourceReach - 1}, {7, 0}, {tableSource, sourceReach + 65}} {
		_, ok = Why(l.table, l.priority)
		require.False(t, ok, "%v", l)
	}
}

func TestRulesHaveNames(t *testing.T) {
	names := map[string]bool{}
	for r := RuleTable; r <= RuleDrop; r++ {
		require.NotEmpty(t, r.String())
		require.False(t, names[r.String()])
		names[r.String()] = true
	}
}
