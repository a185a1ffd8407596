package flow

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDigits(t *testing.T) {
	for v := range uint64(1_200_000) {
		if v > 110_000 && v < 990_000 {
			continue
		}
		require.Equal(t, "x"+strconv.FormatUint(v, 10), string(appendDecimal([]byte("x"), v)))
	}
	for v := uint64(1); v != 0; v <<= 1 {
		for _, v := range []uint64{v - 1, v, v | 1} {
			require.Equal(t, strconv.FormatUint(v, 10), string(appendDecimal(nil, v)))
			require.Equal(t, strconv.FormatUint(v, 16), string(AppendHex(nil, v)))
		}
	}
}
