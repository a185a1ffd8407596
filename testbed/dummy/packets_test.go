package dummy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestListenerHearsWhatGoesToTheController(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(2)}), t.Context()
	require.NoError(t, sw.ReplaceFlows(ctx, "in_port=1,actions=controller\nin_port=2,ip,nw_ttl=64,actions=mod_nw_ttl:1,dec_ttl"))
	_, err := sw.PacketIns(ctx)
	require.ErrorContains(t, err, "nobody listens")

	require.NoError(t, sw.Listen(ctx))
	require.NoError(t, sw.Receive(ctx, "p1", numbered(1)))
	require.NoError(t, sw.Receive(ctx, "p2", tcp(t, client, vip, "S")))
	packets, err := sw.PacketIns(ctx)
	require.NoError(t, err)
	require.Len(t, packets, 2)
	require.Equal(t, PacketIn{Port: 1, Reason: 1, Frame: numbered(1)}, packets[0])
	require.Equal(t, uint32(2), packets[1].Port)
	require.Equal(t, uint8(2), packets[1].Reason)

	packets, err = sw.PacketIns(ctx)
	require.NoError(t, err)
	require.Empty(t, packets)
	require.NoError(t, sw.Warp(ctx, time.Hour))
	require.NoError(t, sw.Listen(ctx))
	require.NoError(t, sw.Receive(ctx, "p1", numbered(2)))
	packets, err = sw.PacketIns(ctx)
	require.NoError(t, err)
	require.Len(t, packets, 1)
}
