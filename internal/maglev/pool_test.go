package maglev

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValidateNamesEveryFault(t *testing.T) {
	p := Pool{ID: 3, Slots: 65537, Algorithm: 9, Members: []Member{
		{Key: "10.0.0.1:80", Weight: 101},
		{Key: "10.0.0.1:80", Weight: -1},
		{Key: ""},
		{Key: "10.0.0.2:80 "},
		{Key: "-"},
	}}
	_, err := Build(p)
	require.EqualError(t, err, `build slot table: pool 3: slots 65537 out of range: use 1 to 65536
pool 3: unknown layout algorithm(9): use maglev or maglev-stable
pool 3: member 0 (10.0.0.1:80): weight 101 out of range: use 0 to 100
pool 3: member 1: key "10.0.0.1:80" appears twice: remove one
pool 3: member 1 (10.0.0.1:80): weight -1 out of range: use 0 to 100
pool 3: member 2: key "": use address:port without spaces
pool 3: member 3: key "10.0.0.2:80 ": use address:port without spaces
pool 3: member 4: key "-": use address:port without spaces`)
}

func TestValidateBounds(t *testing.T) {
	for _, c := range []struct {
		name string
		pool Pool
		ok   bool
	}{
		{"no slots", Pool{Slots: 0, Algorithm: Maglev}, false},
		{"negative slots", Pool{Slots: -1, Algorithm: Maglev}, false},
		{"one slot", Pool{Slots: 1, Algorithm: Maglev}, true},
		{"most slots", Pool{Slots: MaxSlots, Algorithm: Maglev}, true},
		{"no algorithm", Pool{Slots: 1}, false},
		{"weight 0", Pool{Slots: 1, Algorithm: Default, Members: []Member{{Key: "a:1"}}}, true},
		{"weight 100", Pool{Slots: 1, Algorithm: Default, Members: []Member{{Key: "a:1", Weight: 100}}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.ok, c.pool.Validate() == nil)
		})
	}
}

func TestAlgorithmNames(t *testing.T) {
	for _, a := range []Algorithm{Maglev, MaglevStable} {
		parsed, err := ParseAlgorithm(a.String())
		require.NoError(t, err)
		require.Equal(t, a, parsed)
	}
	_, err := ParseAlgorithm("ring")
	require.EqualError(t, err, `parse layout algorithm: unknown name "ring": use maglev or maglev-stable`)
}

func TestBuildLeavesThePoolAlone(t *testing.T) {
	p := Pool{ID: 1, Slots: 7, Algorithm: Maglev, Members: []Member{{"b:1", 1, true}, {"a:1", 1, true}}}
	table := build(t, p)
	require.Equal(t, "b:1", p.Members[0].Key)
	table.Pool().Members[0].Key = "x"
	require.Equal(t, "a:1", table.Pool().Members[0].Key)
}
