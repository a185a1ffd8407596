package conformance

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGeneratedCasesHoldNothingExcluded asks many cases.
func TestGeneratedCasesHoldNothingExcluded(t *testing.T) {
	for seed := range uint64(2000) {
		c := Generate(seed, nil)
		require.Empty(t, Excluded(c), "case %d\n%s", seed, File{Case: c})
		require.False(t, c.overlaps(), "case %d\n%s", seed, File{Case: c})
		for _, f := range c.Flows {
			require.NoError(t, f.Validate())
		}
	}
}

// TestExclusionsKnowTheirOwn gives each exclusion a case that holds it.
func TestExclusionsKnowTheirOwn(t *testing.T) {
	const (
		frame    = "frame 1 020000000002020000000001"
		udp      = "08004500001c0000000040116684" + "0a00000a0a000064" + "0007000900080000"
		fragment = "08004500001c000020014011c683" + "0a00000a0a000064" + "0007000900080000"
		icmp     = "08004500001c000000004001669c" + "0a0000010a000064" + "0b00f4ff00000000"
		ipv6     = "86dd60000000000811400000000000000000000000000000000000000000000000000000000000000000" + "0007000900080000"
		mpls     = "8847" + "000010ff"
		commit   = "commit\n  flow "
	)
	held := map[string][2]string{
		"action-set-at-ct":          {"ip,actions=write_actions(output:1),goto_table:1\ntable=1,ip,actions=ct(table=2)", ""},
		"icmp-error-through-nat":    {"ip,actions=ct(nat,table=1)", frame + icmp},
		"ipv6-tracking":             {"ip,actions=ct()", frame + ipv6},
		"loose-change-after-add":    {"", commit + "add table=1,actions=drop\n  flow delete table=1"},
		"learned-untagged":          {"actions=learn(table=1,NXM_OF_VLAN_TCI[])", commit + "delete table=3"},
		"learned-part-of-pcp":       {"actions=learn(table=1,NXM_OF_VLAN_TCI[0..13])", ""},
		"learned-tcp-flags":         {"tcp,actions=learn(table=1,eth_type=0x800,nw_proto=6,NXM_NX_TCP_FLAGS[])", commit + "add table=1,tcp,tcp_flags=syn|ack,actions=drop"},
		"learned-tagless-tci":       {"actions=multipath(nw_src,0,modulo_n,2,0,OXM_OF_VLAN_VID[]),learn(table=1,NXM_OF_VLAN_TCI[])", ""},
		"nsh":                       {"", frame + "894f00"},
		"learned-mpls":              {"actions=learn(table=1,NXM_OF_ETH_TYPE[])", frame + mpls},
		"part-of-address-after-nat": {"ip,actions=ct(commit,nat(src=10.0.0.9)),move:NXM_OF_IP_SRC[0..7]->NXM_OF_IP_DST[0..7]", ""},
		"part-of-port-of-fragment":  {"udp,actions=multipath(nw_src,0,modulo_n,2,0,NXM_OF_UDP_DST[0..1])", frame + fragment},
		"part-of-large-arp-op":      {"arp,actions=load:1->NXM_OF_ARP_OP[6..7]", frame + "0806000108000604" + "01ff" + strings.Repeat("00", 20)},
		"part-of-arp-op":            {"arp,actions=move:NXM_NX_REG0[0..13]->NXM_OF_ARP_OP[1..14]", ""},
		"tags-by-loose-modify":      {"", commit + "modify table=0,actions=push_vlan:0x8100"},
		"commit-by-loose-modify":    {"ip,ct_state=+inv,actions=drop", commit + "modify table=0,ip,actions=ct(commit)"},
		"oversize":                  {"", frame + udp + strings.Repeat("00", maxFrame)},
	}
	for _, e := range Exclusions() {
		require.NotEmpty(t, e.Why, e.Name)
		if e.In == nil {
			continue
		}
		text, ok := held[e.Name]
		require.True(t, ok, "no case for %s", e.Name)
		f, err := ParseFile("-- program --\n" + text[0] + "\n-- events --\n" + text[1] + "\n")
		require.NoError(t, err, e.Name)
		require.Equal(t, e.Name, Excluded(f.Case))
	}
	require.Empty(t, Excluded(Case{}))
}
