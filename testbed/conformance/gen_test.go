package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSameNumberSameCase(t *testing.T) {
	for seed := range uint64(50) {
		a, b := Generate(seed, nil), Generate(seed, nil)
		require.Equal(t, File{Case: a}.String(), File{Case: b}.String())
	}
}

func BenchmarkGenerate(b *testing.B) {
	seed := uint64(0)
	for b.Loop() {
		Generate(seed, nil)
		seed++
	}
}
