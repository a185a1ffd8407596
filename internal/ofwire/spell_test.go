package ofwire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
	"hpnn/internal/ofwire"
)

// This is how OpenFlow 1.5 keeps a flow, as ovs-ofctl parse-flows of 3.1 says.
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
		f, err := of.ParseFlow("table=0," + written)
		require.NoError(t, err, written)
		require.Equal(t, stored, of.FormatActions(ofwire.Spell(f.Match, f.Actions)), written)
	}
}
