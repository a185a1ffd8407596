package openflow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "hpnn/datapath/openflow"
)

func TestSelects(t *testing.T) {
	ip := "cookie=0x15, table=1, priority=5,ip,nw_dst=10.0.0.0/24 actions=output:2"
	for _, row := range []struct {
		change string
		flow   string
		want   bool
	}{
		{"add table=1,priority=5,ip,nw_dst=10.0.0.0/24 actions=drop", ip, true},
		{"add table=1,priority=6,ip,nw_dst=10.0.0.0/24 actions=drop", ip, false},
		{"add table=2,priority=5,ip,nw_dst=10.0.0.0/24 actions=drop", ip, false},
		{"add table=1,priority=5,ip,nw_dst=10.0.0.0/25 actions=drop", ip, false},
		{"delete_strict table=1,priority=5,ip,nw_dst=10.0.0.0/24", ip, true},
		{"delete_strict priority=5,ip,nw_dst=10.0.0.0/24", ip, true},
		{"delete_strict table=1,priority=5,ip", ip, false},
		{"delete_strict table=1,ip,nw_dst=10.0.0.0/24", ip, false},
		{"modify_strict table=1,priority=5,ip,nw_dst=10.0.0.0/24 actions=drop", ip, true},
		{"modify table=1,ip,nw_dst=10.0.0.0/16 actions=drop", ip, true},
		{"modify table=1,ip,nw_dst=10.0.0.0/25 actions=drop", ip, false},
		{"modify table=0,ip actions=drop", ip, false},
		{"delete", ip, true},
		{"delete ip", ip, true},
		{"delete tcp", ip, false},
		{"delete ip,nw_dst=10.0.1.0/24", ip, false},
		{"delete table=2", ip, false},
		{"delete cookie=0x15/-1", ip, true},
		{"delete cookie=0x5/0xf", ip, true},
		{"delete cookie=0x14/-1", ip, false},
		{"modify table=1,cookie=0x14/-1 actions=drop", ip, false},
		{"delete_strict cookie=0x14/-1,table=1,priority=5,ip,nw_dst=10.0.0.0/24", ip, false},
		{"delete out_port=2", ip, true},
		{"delete out_port=3", ip, false},
		{"delete out_port=4", "actions=clone(output:4)", true},
		{"delete out_port=4", "actions=write_actions(output:4)", true},
		{"delete out_port=4", "actions=enqueue:4:1", true},
		{"delete out_port=4", "actions=resubmit(4,5)", false},
		{"delete out_port=CONTROLLER", "actions=controller(id=3)", true},
		{"delete out_port=LOCAL", "actions=NORMAL", false},
		{"delete out_port=IN_PORT", "actions=learn(table=3,output:NXM_OF_IN_PORT[]),IN_PORT", true},
	} {
		m, err := ParseFlowMod("flow " + row.change)
		require.NoError(t, err)
		f, err := ParseFlow(row.flow)
		require.NoError(t, err)
		require.Equal(t, row.want, m.Selects(f), "%s of %s", row.change, row.flow)
	}
}

func TestApply(t *testing.T) {
	p := program(t,
		"cookie=0x5, table=1, idle_timeout=7, priority=5,ip actions=output:2",
		"table=1, priority=6,ip,nw_dst=10.0.0.1 actions=output:2",
		"table=1, priority=7 actions=drop",
		"table=2, priority=7,tcp actions=set_field:3->tcp_dst")
	for _, row := range []struct{ name, bundle, want string }{
		{"a modify changes actions only, of what is equal or more specific", "modify table=1,ip actions=output:4",
			"table=1, priority=7 actions=drop\n" +
				"table=1, priority=6,ip,nw_dst=10.0.0.1 actions=output:4\n" +
				"cookie=0x5, table=1, idle_timeout=7, priority=5,ip actions=output:4\n" +
				"table=2, priority=7,tcp actions=set_field:3->tcp_dst\n"},
		{"a modify adds nothing", "modify_strict table=1,priority=55,ip actions=output:4", p.String()},
		{"a delete takes every table", "delete ip",
			"table=1, priority=7 actions=drop\n"},
		{"a strict delete takes one", "delete_strict table=1,priority=5,ip",
			"table=1, priority=7 actions=drop\n" +
				"table=1, priority=6,ip,nw_dst=10.0.0.1 actions=output:2\n" +
				"table=2, priority=7,tcp actions=set_field:3->tcp_dst\n"},
		{"an add replaces all of a flow", "add table=1,priority=5,ip actions=drop",
			"table=1, priority=7 actions=drop\n" +
				"table=1, priority=6,ip,nw_dst=10.0.0.1 actions=output:2\n" +
				"table=1, priority=5,ip actions=drop\n" +
				"table=2, priority=7,tcp actions=set_field:3->tcp_dst\n"},
	} {
		m, err := ParseFlowMod("flow " + row.bundle)
		require.NoError(t, err)
		got, err := p.Apply(Bundle{m})
		require.NoError(t, err)
		require.Equal(t, row.want, got.String(), row.name)
	}
}

func TestApplyIsAllOrNothing(t *testing.T) {
	p := program(t, "table=1, priority=5,ip actions=output:2")
	overlap := FlowMod{Flow: Flow{Table: 1, Priority: 5, Flags: CheckOverlap, Match: Match{}.With(InPort, U64(1))}}
	got, err := p.Apply(Bundle{{Command: Delete, Flow: Flow{Table: 3}}, overlap})
	var fault *OverlapError
	require.ErrorAs(t, err, &fault)
	require.EqualError(t, err, "change 2: add flow: table=1, check_overlap priority=5,in_port=1 actions=drop overlaps table=1, priority=5,ip actions=output:2")
	require.Equal(t, p, got)

	_, err = p.Apply(Bundle{{Flow: Flow{Actions: []Action{DecTTL{}}}}})
	require.EqualError(t, err, `change 1: "dec_ttl": needs ip or ipv6: add ip or ipv6 to the match`)

	same := FlowMod{Flow: Flow{Table: 1, Priority: 5, Flags: CheckOverlap, Match: Match{}.With(EthType, U64(EthTypeIPv4))}}
	_, err = p.Apply(Bundle{same})
	require.NoError(t, err, "an identical match is a replacement")
}
