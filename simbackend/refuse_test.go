package simbackend_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend"
)

// TestCommitNamesWhatItCannotDo gives the switch flows that OVS accepts and the simulator does not.
func TestCommitNamesWhatItCannotDo(t *testing.T) {
	for flow, want := range map[string]string{
		"actions=NORMAL":                                                      "NORMAL",
		"actions=group:7":                                                     "group:7",
		"actions=meter:1,output:2":                                            "meter:1",
		"actions=set_queue:5,output:2":                                        "set_queue:5",
		"actions=enqueue:2:3":                                                 "enqueue:2:3",
		"tcp,actions=fin_timeout(idle_timeout=5)":                             "fin_timeout(idle_timeout=5)",
		"actions=check_pkt_larger(60)->NXM_NX_REG0[0]":                        "check_pkt_larger(60)",
		"tcp,actions=ct(commit,alg=ftp)":                                      "alg",
		"ip,actions=ct(commit,nat)":                                           "bare nat",
		"ip,actions=ct(commit,nat(dst=10.0.0.1-10.0.0.9))":                    "address range",
		"tcp,actions=ct(commit,nat(dst=10.0.0.1:80-90))":                      "port range",
		"ipv6,actions=ct(commit,nat(dst=fd00::1))":                            "IPv6",
		"actions=learn(table=1,delete_learned,cookie=1)":                      "delete_learned",
		"actions=learn(table=1,fin_idle_timeout=1,eth_type=0x800,nw_proto=6)": "fin",
		"actions=clone(NORMAL)":                                               "NORMAL",
		"actions=write_actions(group:1)":                                      "group:1",
	} {
		t.Run(flow, func(t *testing.T) {
			f, err := openflow.ParseFlow(flow)
			require.NoError(t, err)
			sw, err := simbackend.New(simbackend.Config{Ports: labPorts})
			require.NoError(t, err)
			err = sw.Commit(t.Context(), openflow.Bundle{{Flow: f}})
			var refused *datapath.CommitError
			require.ErrorAs(t, err, &refused)
			require.ErrorIs(t, err, datapath.ErrNotSupported)
			require.ErrorContains(t, err, want)
			flows, err := sw.Flows(t.Context())
			require.NoError(t, err)
			require.Empty(t, flows)
		})
	}
}

func TestNewRefusesPortsThatClash(t *testing.T) {
	for _, ports := range [][]simbackend.Port{
		{{Number: 1, Name: "a"}, {Number: 1, Name: "b"}},
		{{Number: 1, Name: "a"}, {Number: 2, Name: "a"}},
		{{Number: 0, Name: "a"}},
		{{Number: openflow.PortIn, Name: "a"}},
	} {
		_, err := simbackend.New(simbackend.Config{Ports: ports})
		require.ErrorContains(t, err, "use distinct numbers")
	}
}
