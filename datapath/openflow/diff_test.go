package openflow_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	. "hpnn/datapath/openflow"
	"hpnn/datapath/openflow/openflowtest"
)

// neighbour is a program that shares some of p's flows, changes some and has some of its own.
func neighbour(g *openflowtest.Gen, p Program) Program {
	var flows []Flow
	for f := range p.All() {
		switch g.IntN(6) {
		case 0:
			continue
		case 1:
			f.Cookie = g.Uint64()
		case 2:
			f.IdleTimeout ^= 1
		case 3:
			f.Actions = g.Actions(f.Match, f.Table, 3)
		}
		flows = append(flows, f)
	}
	for f := range g.Program(3).All() {
		if _, known := p.Get(f.Key()); !known {
			flows = append(flows, f)
		}
	}
	q, err := NewProgram(flows...)
	if err != nil {
		panic(err)
	}
	return q
}

func withoutFlags(p Program) Program {
	var flows []Flow
	for f := range p.All() {
		f.Flags &^= CheckOverlap
		flows = append(flows, f)
	}
	q, err := NewProgram(flows...)
	if err != nil {
		panic(err)
	}
	return q
}

// changesNeeded counts, by looking at every pair, the keys on which have and want differ.
func changesNeeded(have, want Program) int {
	n := 0
	for h := range have.All() {
		same := func(w Flow) bool { return w.Key().Compare(h.Key()) == 0 }
		if i := slices.IndexFunc(slices.Collect(want.All()), same); i < 0 && !want.Learns(h) {
			n++
		}
	}
	for w := range want.All() {
		same := func(h Flow) bool { return w.Equal(h) }
		if !slices.ContainsFunc(slices.Collect(have.All()), same) {
			n++
		}
	}
	return n
}

func TestDiffLeadsFromAnyStateToAny(t *testing.T) {
	g := openflowtest.New(7)
	for range 200 {
		have := withoutFlags(g.Program(g.IntN(12)))
		want := withoutFlags(neighbour(g, have))
		bundle := Diff(slices.Collect(have.All()), want)
		require.Len(t, bundle, changesNeeded(have, want))
		got, err := have.Apply(bundle)
		require.NoError(t, err)
		for f := range got.All() {
			if w, static := want.Get(f.Key()); static {
				require.True(t, f.Equal(w), "%v is not %v", f, w)
			} else {
				require.True(t, want.Learns(f), "%v was left", f)
			}
		}
		for w := range want.All() {
			_, there := got.Get(w.Key())
			require.True(t, there, "%v is missing", w)
		}
		require.Empty(t, Diff(slices.Collect(got.All()), want))
	}
}

func TestDiffOfAProgramWithItselfIsEmpty(t *testing.T) {
	p := openflowtest.New(8).Program(200)
	flows := slices.Collect(p.All())
	slices.Reverse(flows)
	require.Empty(t, Diff(flows, p))
}

func program(t *testing.T, lines ...string) Program {
	t.Helper()
	var flows []Flow
	for _, line := range lines {
		f, err := ParseFlow(line)
		require.NoError(t, err)
		flows = append(flows, f)
	}
	p, err := NewProgram(flows...)
	require.NoError(t, err)
	return p
}

func TestDiffKeepsCountersWhereItCan(t *testing.T) {
	have := program(t,
		"table=1, priority=5,ip actions=output:1",
		"table=1, priority=6,ip actions=output:1",
		"table=1, priority=7,ip actions=output:1",
		"cookie=0x1, table=2, priority=7,ip actions=output:1")
	want := program(t,
		"table=1, priority=5,ip actions=output:2",
		"table=1, priority=6,ip actions=output:1",
		"table=3, priority=1 actions=drop",
		"cookie=0x2, table=2, priority=7,ip actions=output:1")
	require.Equal(t, `flow delete_strict table=1, priority=7,ip
flow modify_strict table=1, priority=5,ip actions=output:2
flow add cookie=0x2, table=2, priority=7,ip actions=output:1
flow add table=3, priority=1 actions=drop
`, Diff(slices.Collect(have.All()), want).String())
}

func TestLearns(t *testing.T) {
	p := program(t,
		"table=0,in_port=1 actions=learn(table=25,hard_timeout=300,priority=50,NXM_NX_REG0[],NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[])",
		"table=0,tcp actions=clone(learn(table=21,idle_timeout=60,fin_idle_timeout=5,cookie=0x9,send_flow_rem,eth_type=0x800,NXM_OF_IP_DST[]=NXM_OF_IP_SRC[],NXM_OF_VLAN_TCI[0..12],NXM_NX_REG1[0..7]=0x5,load:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],load:0x7->NXM_NX_REG2[0..3]))")
	for _, row := range []struct {
		flow    string
		learned bool
	}{
		{"table=25,hard_timeout=300,priority=50,reg0=0x2,dl_dst=02:00:00:00:00:01 actions=output:10", true},
		{"table=25,hard_timeout=300,priority=50,reg0=0,dl_dst=00:00:00:00:00:00 actions=LOCAL", true},
		{"table=24,hard_timeout=300,priority=50,reg0=0x2,dl_dst=02:00:00:00:00:01 actions=output:10", false},
		{"table=25,hard_timeout=301,priority=50,reg0=0x2,dl_dst=02:00:00:00:00:01 actions=output:10", false},
		{"table=25,hard_timeout=300,priority=51,reg0=0x2,dl_dst=02:00:00:00:00:01 actions=output:10", false},
		{"cookie=1,table=25,hard_timeout=300,priority=50,reg0=0x2,dl_dst=02:00:00:00:00:01 actions=output:10", false},
		{"table=25,hard_timeout=300,priority=50,send_flow_rem,reg0=0x2,dl_dst=02:00:00:00:00:01 actions=output:10", false},
		{"table=25,hard_timeout=300,priority=50,reg0=0x2/0xf,dl_dst=02:00:00:00:00:01 actions=output:10", false},
		{"table=25,hard_timeout=300,priority=50,dl_dst=02:00:00:00:00:01 actions=output:10", false},
		{"table=25,hard_timeout=300,priority=50,reg0=0x2,reg1=0x2,dl_dst=02:00:00:00:00:01 actions=output:10", false},
		{"table=25,hard_timeout=300,priority=50,reg0=0x2,dl_dst=02:00:00:00:00:01 actions=drop", true},
		{"table=25,hard_timeout=300,priority=50,reg0=0x2,dl_dst=02:00:00:00:00:01 actions=CONTROLLER:128", false},
		{"table=25,hard_timeout=300,priority=50,reg0=0x2,dl_dst=02:00:00:00:00:01 actions=output:10,output:11", false},
		{"cookie=9,table=21,idle_timeout=60,send_flow_rem,ip,reg1=0x5/0xff,vlan_tci=0x1003/0x1fff,nw_dst=10.0.0.1 actions=fin_timeout(idle_timeout=5),set_field:02:00:00:00:00:01->eth_dst,load:7->NXM_NX_REG2[0..3]", true},
		{"cookie=9,table=21,idle_timeout=5,send_flow_rem,ip,reg1=0x5/0xff,vlan_tci=0/0x1fff,nw_dst=10.0.0.1 actions=fin_timeout(idle_timeout=5),set_field:02:00:00:00:00:01->eth_dst,load:7->NXM_NX_REG2[0..3]", true},
		{"cookie=9,table=21,idle_timeout=60,send_flow_rem,ip,reg1=0x6/0xff,vlan_tci=0x1003/0x1fff,nw_dst=10.0.0.1 actions=fin_timeout(idle_timeout=5),set_field:02:00:00:00:00:01->eth_dst,load:7->NXM_NX_REG2[0..3]", false},
		{"cookie=9,table=21,idle_timeout=60,send_flow_rem,ip,reg1=0x5/0xff,vlan_tci=0x1003/0x1fff,nw_dst=10.0.0.1 actions=fin_timeout(idle_timeout=5),set_field:02:00:00:00:00:01->eth_dst,load:8->NXM_NX_REG2[0..3]", false},
	} {
		e, err := ParseFlowEntry(row.flow) // a learned fin_timeout need not have tcp
		require.NoError(t, err)
		f := e.Flow
		require.Equal(t, row.learned, p.Learns(f), row.flow)
		deleted := len(Diff([]Flow{f}, p)) - p.Len()
		require.Equal(t, row.learned, deleted == 0, row.flow)
	}
}

// What real captures learned is recognised; nothing else of the dump is.
func TestLabLearnedFlows(t *testing.T) {
	p, err := ParseProgram("flows.txt", captures(t, "flows.txt"))
	require.NoError(t, err)
	after, err := ParseDump("flows-after.txt", captures(t, "flows-after.txt"))
	require.NoError(t, err)
	var have []Flow
	learned := 0
	for _, e := range after {
		have = append(have, e.Flow)
		if _, static := p.Get(e.Key()); !static {
			learned++
			require.True(t, p.Learns(e.Flow), "%v", e.Flow)
		}
	}
	require.Equal(t, 9, learned)
	for _, m := range Diff(have, p) {
		require.NotEqual(t, DeleteStrict, m.Command, "%v", m)
	}
}
