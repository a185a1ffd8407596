package docker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFirstFrameFollowsTheTopology(t *testing.T) {
	for _, c := range []struct{ src, port, vip, want string }{
		{"", "", "", "in_port=pub0,tcp,nw_src=192.168.5.13,nw_dst=192.168.5.21,tp_dst=80"},
		{"192.168.5.77", "", "", "in_port=pub0,tcp,nw_src=192.168.5.77,nw_dst=192.168.5.21,tp_dst=80"},
		{"10.20.0.10", "", "", "in_port=cli2,tcp,nw_src=10.20.0.10,nw_dst=10.20.0.100,tp_dst=80"},
		{"10.30.0.3", "", "", "in_port=be4,tcp,nw_src=10.30.0.3,nw_dst=10.30.0.100,tp_dst=80"},
		{"10.20.0.10", "p2", "192.168.5.21", "in_port=p2,tcp,nw_src=10.20.0.10,nw_dst=192.168.5.21,tp_dst=80"},
	} {
		got, err := FirstFrame(example(t), c.src, c.port, c.vip)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	_, err := FirstFrame(example(t), "client", "", "")
	require.ErrorContains(t, err, "say a client's address, SRC=192.168.5.13")
	_, err = FirstFrame(example(t), "", "", "192.168.5.99")
	require.ErrorContains(t, err, `find a listener for segment pub, VIP "192.168.5.99": the topology has none`)
}
