package ovsbackend

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath/openflow"
)

// stored is how OpenFlow 1.5 keeps a flow, as ovs-ofctl parse-flows of 3.1 says.
func TestActionsAsStored(t *testing.T) {
	for written, stored := range map[string]string{
		"priority=1,in_port=1 actions=mod_vlan_vid:5":                  "push_vlan:0x8100,set_field:4101->vlan_vid",
		"priority=1,dl_vlan=9 actions=mod_vlan_vid:5":                  "set_field:4101->vlan_vid",
		"priority=1,dl_vlan=9 actions=pop_vlan,mod_vlan_vid:5":         "pop_vlan,push_vlan:0x8100,set_field:4101->vlan_vid",
		"priority=1 actions=mod_vlan_vid:5,mod_vlan_pcp:3":             "push_vlan:0x8100,set_field:4101->vlan_vid,set_field:3->vlan_pcp",
		"priority=1 actions=push_vlan:0x88a8,mod_vlan_pcp:3":           "push_vlan:0x88a8,set_field:3->vlan_pcp",
		"priority=1 actions=enqueue:2:3,output:1":                      "set_queue:3,output:2,pop_queue,output:1",
		"priority=1 actions=clone(mod_vlan_vid:5),output:1":            "clone(push_vlan:0x8100,set_field:4101->vlan_vid),output:1",
		"priority=1 actions=write_actions(mod_vlan_vid:5)":             "write_actions(push_vlan:0x8100,set_field:4101->vlan_vid)",
		"priority=1,ip actions=dec_ttl,set_field:5->reg1,goto_table:7": "dec_ttl,set_field:0x5->reg1,goto_table:7",
	} {
		f, err := openflow.ParseFlow("table=0," + written)
		require.NoError(t, err, written)
		require.Equal(t, stored, openflow.FormatActions(storedActions(f.Match, f.Actions)), written)
	}
}

func TestSpellingRemembersOnlyWhatIsThere(t *testing.T) {
	bundle := func(text string) openflow.Bundle {
		b, err := openflow.ParseBundle("b", strings.NewReader(text))
		require.NoError(t, err)
		return b
	}
	entry := func(text string) []openflow.FlowEntry {
		e, err := openflow.ParseFlowEntry(text)
		require.NoError(t, err)
		return []openflow.FlowEntry{e}
	}
	s := spelling{}
	s.note(bundle("flow add table=0,priority=5,in_port=1 actions=mod_vlan_vid:7\nflow add table=0,priority=6,in_port=1 actions=output:1\nflow delete table=3"))
	require.Len(t, s, 1, "flows that are stored as written need no memory")

	same := entry("table=0,priority=5,in_port=1 actions=push_vlan:0x8100,set_field:4103->vlan_vid")
	s.restore(same)
	require.Equal(t, "mod_vlan_vid:7", openflow.FormatActions(same[0].Actions))
	other := entry("table=0,priority=5,in_port=1 actions=push_vlan:0x8100,set_field:4104->vlan_vid")
	s.restore(other)
	require.Equal(t, "push_vlan:0x8100,set_field:4104->vlan_vid", openflow.FormatActions(other[0].Actions))

	s.note(bundle("flow modify_strict table=0,priority=5,in_port=1 actions=output:2"))
	require.Empty(t, s)
}
