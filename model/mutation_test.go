package model

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMutatedFilesAreAnswered damages files a little, as a hand would, and checks that each is loaded or refused well.
func TestMutatedFilesAreAnswered(t *testing.T) {
	faults, err := filepath.Glob("testdata/faults/*.yaml")
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	for _, file := range append(examples(t), faults...) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for range 40 {
			damaged := damage(r, data)
			got, err := Parse("f", damaged)
			if err != nil {
				requireUsable(t, damaged, err)
				continue
			}
			again, err := Parse("again", got.YAML())
			require.NoError(t, err, "%s", damaged)
			require.Equal(t, got, again)
		}
	}
}

// damage changes, adds, removes or repeats a few bytes.
func damage(r *rand.Rand, data []byte) []byte {
	const marks = "{}[]:,-?&*!|>'\"#% \n\t01aé.~<"
	out := slices.Clone(data)
	for range 1 + r.IntN(5) {
		if len(out) == 0 {
			return out
		}
		i, mark := r.IntN(len(out)), marks[r.IntN(len(marks))]
		switch r.IntN(4) {
		case 0:
			out[i] = mark
		case 1:
			out = slices.Insert(out, i, mark)
		case 2:
			out = slices.Delete(out, i, i+1)
		case 3:
			piece := slices.Clone(out[i:min(len(out), i+r.IntN(40))])
			out = slices.Insert(out, r.IntN(len(out)), piece...)
		}
	}
	return out
}
