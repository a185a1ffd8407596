package conformance

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/testbed/dummy"
)

func oracleForTest(t *testing.T) *Oracle {
	oracle, err := NewOracle(t.Context(), dummy.ForTest(t, OracleConfig()))
	require.NoError(t, err)
	return oracle
}

// TestFixedCases is a short campaign that is the same every time.
func TestFixedCases(t *testing.T) {
	oracle := oracleForTest(t)
	c := Campaign{Seed: 1, Cases: 200}
	for first := c.Seed; first < c.Seed+c.Cases; first += batch {
		findings, err := c.compare(t.Context(), oracle, first, batch)
		require.NoError(t, err)
		for _, f := range findings {
			t.Errorf("case %d: %s\n%s", f.Seed, f.Difference, f.File)
		}
	}
}

// testFiles reads the cases in testdata, by name.
func testFiles(t *testing.T) map[string]File {
	names, err := filepath.Glob("testdata/*.case")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	files := map[string]File{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		f, err := ParseFile(string(text))
		require.NoError(t, err, name)
		files[name] = f
	}
	return files
}

// TestPastMismatches replays what has differed once on the simulator.
func TestPastMismatches(t *testing.T) {
	for name, f := range testFiles(t) {
		t.Run(name, func(t *testing.T) {
			require.NotEmpty(t, f.Case.Note, "a case says what it is about")
			got, err := Simulate(f.Case)
			require.NoError(t, err)
			require.Empty(t, Compare(f.Record, got))
		})
	}
}

// TestRecordsAreTrue asks the real switch whether the records in testdata are its own.
func TestRecordsAreTrue(t *testing.T) {
	oracle := oracleForTest(t)
	for name, f := range testFiles(t) {
		answers, err := oracle.Run(t.Context(), f.Case)
		require.NoError(t, err)
		require.NoError(t, answers[0].Err)
		require.Empty(t, Compare(f.Record, answers[0].Record), name)
	}
}
