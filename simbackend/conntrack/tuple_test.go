package conntrack

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHashIsSymmetric(t *testing.T) {
	k := key{src: newEndpoint(0x0a000001, 1000), dst: newEndpoint(0x0a000101, 80), zone: 7, proto: protoTCP}
	back := k.reverse()
	require.NotEqual(t, k, back)
	require.Equal(t, k.hash(), back.hash())
	other := k
	other.zone++
	require.NotEqual(t, k.hash(), other.hash())
}

// TestKeyOfTuple: keys survive the way through their public form.
func TestKeyOfTuple(t *testing.T) {
	ping := key{src: newEndpoint(1, 9).withType(8), dst: newEndpoint(2, 9).withType(0), zone: 3, proto: protoICMP}
	for _, k := range []key{
		ping,
		ping.reverse(),
		{src: newEndpoint(1, 1000), dst: newEndpoint(2, 80), zone: 3, proto: protoTCP},
		{src: newEndpoint(1, 0), dst: newEndpoint(2, 0), zone: 3, proto: 47},
	} {
		got, ok := keyOf(k.tuple(), 3)
		require.True(t, ok)
		require.Equal(t, k, got)
	}
	_, ok := keyOf(Tuple{Proto: protoICMP, SrcPort: 3}, 0)
	require.False(t, ok)
}
