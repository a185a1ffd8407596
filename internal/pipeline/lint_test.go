package pipeline

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
	"hpnn/model"
)

func TestExamplesKeepTheRules(t *testing.T) {
	for _, name := range examples(t) {
		topology := load(t, name)
		require.Empty(t, Lint(allUp(topology)), name)
		require.Empty(t, Lint(Render(topology, nil)), name)
	}
}

func TestRandomTopologiesKeepTheRules(t *testing.T) {
	someTopologies(t, 300, func(seed uint64, topology model.Topology) {
		require.Empty(t, Lint(allUp(topology)), "seed %d", seed)
	})
}

// planted are flows that break one rule, added to a program without faults.
var planted = []struct {
	rule Rule
	flow string
	says string
}{
	{RuleTable, "table=7,priority=9,actions=drop", "table 7 is not declared"},
	{RuleMatch, "table=2,priority=9,tcp,tp_dst=80,actions=goto_table:10", "table source does not match"},
	{RuleMatch, "table=25,priority=9,ct_state=+trk,actions=output:1", "does not match ct_state"},
	{RuleSet, "table=1,priority=9,actions=load:1->NXM_NX_REG0[],goto_table:2", "table classify does not change reg0"},
	{RuleSet, "table=5,priority=9,arp,actions=load:2->NXM_OF_ARP_OP[],IN_PORT", "a short frame may crash the switch"},
	{RuleSet, "table=15,priority=9,ip,actions=dec_ttl,goto_table:20", "does not change nw_ttl"},
	{RuleSet, "table=12,priority=9,tcp,actions=ct(commit,zone=1,table=13,exec(load:1->NXM_NX_CT_MARK[]))", "does not change ct_mark"},
	{RuleJump, "table=1,priority=9,actions=goto_table:12", "table classify does not lead to table 12"},
	{RuleJump, "table=16,priority=9,tcp,actions=ct(zone=2,table=20)", "table routed undone does not lead to table 20"},
	{RuleJump, "table=15,priority=9,tcp,actions=ct(zone=1,table=14)", "table 14 is not after table 15"},
	{RuleJump, "table=15,priority=9,tcp,actions=ct(zone=1,table=15)", "table 15 is not after table 15"},
	{RuleEnd, "table=13,priority=9,actions=set_field:02:00:00:00:00:01->eth_dst", "the last one sends the frame on"},
	{RuleEnd, "table=16,priority=9,tcp,actions=ct(zone=2,table=17),goto_table:20", "the last one sends the frame on"},
	{RuleAction, "table=25,priority=9,actions=CONTROLLER:65535", "tells the daemon nothing"},
	{RuleAction, "table=25,priority=9,actions=NORMAL", "NORMAL is no port of the topology"},
	{RuleAction, "table=25,priority=9,actions=output:1,FLOOD", "FLOOD is no port"},
	{RuleAction, "table=13,priority=9,ip,actions=write_actions(output:3),goto_table:20", "write_actions(output:3) is no action"},
	{RuleAction, "table=1,priority=9,actions=resubmit(,2),output:1", "is no action of the pipeline"},
	{RuleAction, "table=20,priority=9,ip,actions=dec_ttl(1,2),goto_table:21", "would send frames to controllers"},
	{RuleAction, "table=15,priority=9,tcp,actions=ct(commit,zone=2)", "its verdict would be lost"},
	{RuleAction, "table=15,priority=9,tcp,actions=ct(zone=9,table=16)", "use a named zone"},
	{RuleAction, "table=15,priority=9,tcp,actions=ct(commit,force,zone=2,table=16)", "neither force nor alg"},
	{RuleNAT, "table=15,priority=9,icmp,actions=ct(zone=1,nat,table=16)", "an ICMP error may crash"},
	{RuleNAT, "table=15,priority=9,ip,actions=ct(zone=1,nat,table=16)", "an ICMP error may crash"},
	{RuleNAT, "table=12,priority=9,tcp,actions=ct(commit,zone=1,nat,table=13)", "commit with an address"},
	{RuleNAT, "table=12,priority=9,tcp,actions=ct(commit,zone=1,nat(dst=10.0.0.1-10.0.0.2),table=13)", "use one address"},
	{RuleNAT, "table=12,priority=9,tcp,actions=ct(commit,zone=1,nat(dst=10.0.0.1:80-81),table=13)", "at most one port"},
	{RuleNAT, "table=12,priority=9,tcp,actions=ct(commit,zone=1,nat(src),table=13)", "name the address"},
	{RuleNAT, "table=12,priority=9,tcp,actions=ct(commit,zone=1,nat(dst=10.0.0.1:80,random),table=13)", "use no options"},
	{RuleLearn, "table=0,priority=9,in_port=9,actions=learn(table=21,hard_timeout=1,limit=1,cookie=0xfdb00000001,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[]),goto_table:1", "does not learn into table 21"},
	{RuleLearn, "table=0,priority=9,in_port=9,actions=learn(table=25,limit=1,cookie=0xfdb00000001,NXM_NX_REG0[]),goto_table:1", "a hard timeout and a limit"},
	{RuleLearn, "table=0,priority=9,in_port=9,actions=learn(table=25,hard_timeout=1,cookie=0xfdb00000001,NXM_NX_REG0[]),goto_table:1", "a hard timeout and a limit"},
	{RuleLearn, "table=0,priority=9,in_port=9,actions=learn(table=25,hard_timeout=1,limit=1,NXM_NX_REG0[]),goto_table:1", "of no known kind"},
	{RuleLearn, "table=0,priority=9,in_port=9,actions=learn(table=25,hard_timeout=1,limit=1,cookie=0xfdb00000001,NXM_OF_ETH_SRC[]),goto_table:1", "uses eth_src, which table switch does not declare"},
	{RuleLearn, "table=0,priority=9,in_port=9,actions=learn(table=25,hard_timeout=1,limit=1,cookie=0xfdb00000001,load:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[]),goto_table:1", "uses eth_dst"},
	{RuleLearn, "table=25,priority=50,reg0=77,actions=output:1", "learned into table switch with the same priority"},
	{RuleIdentity, "cookie=1,table=25,priority=9,actions=output:1", "has a cookie or a timeout"},
	{RuleIdentity, "idle_timeout=1,table=25,priority=9,actions=output:1", "has a cookie or a timeout"},
	{RuleDrop, "table=20,priority=9,ip,actions=drop", "table route does not declare why"},
	{RuleOverlap, "table=20,priority=124,ip,nw_dst=10.20.0.128/25,actions=output:1", "a frame may match both"},
	{RuleOverlap, "table=0,priority=105,in_port=77,actions=drop", "a frame may match both"},
	{RuleOverlap, "table=11,priority=100,reg1=5,actions=goto_table:12", "a frame may match both"},
}

func TestPlantedFaultsAreFound(t *testing.T) {
	sound := slices.Collect(allUp(load(t, "hpnn")).All())
	for _, p := range planted {
		t.Run(p.flow, func(t *testing.T) {
			flow, err := of.ParseFlow(p.flow)
			require.NoError(t, err)
			program, err := of.NewProgram(append(slices.Clone(sound), flow)...)
			require.NoError(t, err)
			findings := Lint(program)
			require.NotEmpty(t, findings)
			for _, f := range findings {
				require.Equal(t, p.rule, f.Rule, "%v", f)
				require.Contains(t, f.Problem, p.says)
				require.True(t, slices.ContainsFunc(f.Flows, flow.Equal), "%v", f)
				require.Contains(t, f.String(), flow.String())
			}
		})
	}
}

func TestMissingAndWrongMissesAreFound(t *testing.T) {
	sound := slices.Collect(allUp(load(t, "hpnn")).All())
	for _, table := range Tables() {
		key := of.Flow{Table: table.ID}.Key()
		i := slices.IndexFunc(sound, func(f of.Flow) bool { return f.Key().Compare(key) == 0 })
		without := slices.Delete(slices.Clone(sound), i, i+1)
		requireOne(t, without, RuleMiss, "has no flow of priority 0")
		if len(table.Next) > 0 {
			other := of.Flow{Table: table.ID, Actions: []of.Action{jump(table.Next[0])}}
			requireOne(t, append(without, other), RuleMiss, "declares "+table.Miss.String())
		}
	}
}

func requireOne(t *testing.T, flows []of.Flow, rule Rule, says string) {
	t.Helper()
	program, err := of.NewProgram(flows...)
	require.NoError(t, err)
	findings := Lint(program)
	require.Len(t, findings, 1)
	require.Equal(t, rule, findings[0].Rule)
	require.Contains(t, findings[0].String(), says)
}

func TestEveryRuleHasAPlantedFault(t *testing.T) {
	for r := RuleTable; r <= RuleDrop; r++ {
		if r == RuleMiss {
			continue // tested above
		}
		require.True(t, slices.ContainsFunc(planted, func(p struct {
			rule Rule
			flow string
			says string
		}) bool {
			return p.rule == r
		}), "%v", r)
	}
}

// randomMatch has few fields, values and masks, so that many overlap.
func randomMatch(r *rand.Rand) when {
	m := always
	for _, f := range []of.Field{of.Reg0, of.Reg1, of.EthDst, of.IPDst} {
		if r.IntN(2) == 0 {
			mask := []uint64{1, 2, 3, 7}[r.IntN(4)]
			m = m.masked(f, of.U64(r.Uint64N(8)), of.U64(mask))
		}
	}
	return m
}

func TestOverlapsAgreeWithComparingAllPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	sizes := map[bool]int{}
	for range 3000 {
		var flows []of.Flow
		for range 2 + r.IntN(6) {
			m := randomMatch(r).Match
			if !slices.ContainsFunc(flows, func(f of.Flow) bool { return f.Match.Equal(m) }) {
				flows = append(flows, of.Flow{Match: m})
			}
		}
		overlap := false
		for i, a := range flows {
			for _, b := range flows[:i] {
				overlap = overlap || a.Match.Overlaps(b.Match)
			}
		}
		var l linter
		l.overlaps(flows)
		require.Equal(t, overlap, len(l.findings) > 0, "%v", flows)
		for _, f := range l.findings {
			require.True(t, f.Flows[0].Match.Overlaps(f.Flows[1].Match), "%v", f)
		}
		sizes[overlap]++
	}
	require.Greater(t, min(sizes[true], sizes[false]), 200, "both answers occur: %v", sizes)
}

func TestTablesAreDeclaredInOrder(t *testing.T) {
	led := map[of.TableID]bool{tableIngress: true}
	names := map[string]bool{}
	for i, table := range Tables() {
		require.True(t, led[table.ID], "no table leads to %d", table.ID)
		require.True(t, i == 0 || Tables()[i-1].ID < table.ID)
		require.False(t, names[table.Name], table.Name)
		require.True(t, strings.HasSuffix(table.Purpose, ".") && strings.Count(table.Purpose, ". ") == 0, "one sentence: %s", table.Purpose)
		names[table.Name] = true
		next := slices.Concat(table.Next, table.Tracked)
		if to, ok := table.Miss.Next(); ok {
			next = append(next, to)
		}
		for _, to := range next {
			require.Greater(t, to, table.ID)
			led[to] = true
		}
	}
}
