package model

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func examples(t testing.TB) []string {
	files, err := filepath.Glob("../examples/*.yaml")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 3)
	return files
}

func TestExamplesLoadAndPrintThemselves(t *testing.T) {
	for _, file := range examples(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			topology, err := Load(file)
			require.NoError(t, err)
			require.NoError(t, Validate(topology))
			again, err := Parse("effective", topology.YAML())
			require.NoError(t, err, "%s", topology.YAML())
			require.Equal(t, topology, again)
			require.Equal(t, topology, WithDefaults(topology))
		})
	}
}

func TestLoadNamesTheFileItCannotRead(t *testing.T) {
	_, err := Load("no/such.yaml")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "load topology: open no/such.yaml")
}
