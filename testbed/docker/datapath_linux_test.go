package docker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDatapathsThatThereAre(t *testing.T) {
	require.Empty(t, LacksDatapath("netdev"))
	require.Equal(t, []string{"DATAPATH=kernel: there is no such datapath: use netdev, in userspace, or system, the kernel's"}, LacksDatapath("kernel"))
	for _, l := range LacksDatapath("system") { // where the kernel has none
		require.Contains(t, l, "modprobe openvswitch")
	}
}
