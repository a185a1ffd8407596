package openflow_test

import (
	"math/big"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	. "hpnn/datapath/openflow"
	"hpnn/datapath/openflow/openflowtest"
)

// number is v as a big integer, the slow twin.
func number(v Value) *big.Int {
	n := new(big.Int).SetUint64(v.Hi)
	return n.Or(n.Lsh(n, 64), new(big.Int).SetUint64(v.Lo))
}

func TestValueAgreesWithBigIntegers(t *testing.T) {
	g := openflowtest.New(30)
	limit := new(big.Int).Lsh(big.NewInt(1), 128)
	for range 2000 {
		a, b, n := g.Bits(128), g.Bits(128), g.IntN(129)
		x, y := number(a), number(b)
		require.Zero(t, new(big.Int).And(x, y).Cmp(number(a.And(b))))
		require.Zero(t, new(big.Int).Or(x, y).Cmp(number(a.Or(b))))
		require.Zero(t, new(big.Int).AndNot(x, y).Cmp(number(a.AndNot(b))))
		require.Zero(t, new(big.Int).Rsh(x, uint(n)).Cmp(number(a.Shr(n))))
		require.Zero(t, new(big.Int).Mod(new(big.Int).Lsh(x, uint(n)), limit).Cmp(number(a.Shl(n))))
		require.Equal(t, x.Cmp(y), a.Cmp(b))
		require.Equal(t, x.BitLen(), a.BitLen())
		require.Equal(t, x.Sign() == 0, a.IsZero())
	}
}

func TestPrefixes(t *testing.T) {
	for _, width := range []int{1, 8, 32, 48, 64, 128} {
		for n := range width + 1 {
			got, ok := PrefixMask(n, width).PrefixLen(width)
			require.True(t, ok)
			require.Equal(t, n, got)
			require.Equal(t, n, PrefixMask(n, width).BitLen()-(width-n)*min(1, n))
		}
	}
	_, ok := U64(0xff00ff00).PrefixLen(32)
	require.False(t, ok)
}

func TestAddresses(t *testing.T) {
	require.Equal(t, U64(0x0a000001), Addr(netip.MustParseAddr("10.0.0.1")))
	require.Equal(t, Value{0xfd00 << 48, 1}, Addr(netip.MustParseAddr("fd00::1")))
	require.Equal(t, Value{}, Addr(netip.Addr{}))
	require.Equal(t, U64(0x0242c0a80514), MAC([6]byte{2, 0x42, 0xc0, 0xa8, 5, 0x14}))
}
