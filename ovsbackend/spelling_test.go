package ovsbackend

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath/openflow"
)

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
