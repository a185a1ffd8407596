package docker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadAnswer(t *testing.T) {
	a, err := readAnswer("backend=be3  time=2026-11-29 21:33:19 UTC client=192.168.5.13:35406  served=10.20.0.3:8080  req=438\n")
	require.NoError(t, err)
	require.Equal(t, answer{"be3", "192.168.5.13", "35406", "10.20.0.3:8080"}, a)
	_, err = readAnswer("tick 1/3 backend=be3\n")
	require.ErrorContains(t, err, "no answer of a backend")
}

func TestReadIPCounters(t *testing.T) {
	counts, err := readIP("Ip: Forwarding DefaultTTL ForwDatagrams\nIp: 2 64 13\nIcmp: InMsgs\nIcmp: 0\n")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"Forwarding": "2", "DefaultTTL": "64", "ForwDatagrams": "13"}, counts)
	for _, text := range []string{"", "Ip: Forwarding\n", "Ip: Forwarding DefaultTTL\nIp: 2\n"} {
		_, err := readIP(text)
		require.Error(t, err, text)
	}
}

func TestStatusSaysWhatIsMissing(t *testing.T) {
	var st status
	require.Equal(t, "the switch does not hold the rules yet", st.missing())
	st.Control.InSync = true
	require.Empty(t, st.missing())
	st.Pools = []pool{{Name: "web", Members: []member{{Name: "be1", Address: "10.20.0.2:8080", Probes: 3}}}}
	require.Equal(t, "member be1 (10.20.0.2:8080) of pool web is down after 3 probes", st.missing())
	st.Pools[0].Members[0].Up = true
	require.Equal(t, "member be1 (10.20.0.2:8080) of pool web has no verdict after 3 probes", st.missing())
	st.Pools[0].Members[0].Evidence = probed
	require.Empty(t, st.missing())
	require.Equal(t, 0, st.Pools[0].member("be1"))
	require.Equal(t, -1, st.Pools[0].member("be9"))
}
