package scenarios

import (
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"hpnn/model"
)

func TestOverlay(t *testing.T) {
	for _, test := range []struct{ name, base, over, want string }{
		{"a key", `{a: 1, b: 2}`, `{b: 3}`, `{a: 1, b: 3}`},
		{"a new key", `{a: 1}`, `{b: {c: 2}}`, `{a: 1, b: {c: 2}}`},
		{"a key goes", `{a: 1, b: 2}`, `{a: null}`, `{b: 2}`},
		{"a key that is not there goes", `{b: 2}`, `{a: null}`, `{b: 2}`},
		{"a mapping", `{a: {b: 1, c: 2}}`, `{a: {c: 3}}`, `{a: {b: 1, c: 3}}`},
		{"a thing of a name", `{l: [{name: x, v: 1}, {name: y, v: 2}]}`, `{l: [{name: y, v: 3}]}`, `{l: [{name: x, v: 1}, {name: y, v: 3}]}`},
		{"a new thing", `{l: [{name: x}]}`, `{l: [{name: y}]}`, `{l: [{name: x}, {name: y}]}`},
		{"a thing goes", `{l: [{name: x}, {name: y}]}`, `{l: [{name: x, remove: true}]}`, `{l: [{name: y}]}`},
		{"a thing that is not there goes", `{l: [{name: y}]}`, `{l: [{name: x, remove: true}]}`, `{l: [{name: y}]}`},
		{"a member by its host", `{l: [{host: x, v: 1}]}`, `{l: [{host: x, v: 2}]}`, `{l: [{host: x, v: 2}]}`},
		{"a list of no things", `{l: [1, 2]}`, `{l: [3]}`, `{l: [3]}`},
		{"a mapping for a number", `{a: 1}`, `{a: {b: 2}}`, `{a: {b: 2}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var base, over, want any
			require.NoError(t, yaml.Unmarshal([]byte(test.base), &base))
			require.NoError(t, yaml.Unmarshal([]byte(test.over), &over))
			require.NoError(t, yaml.Unmarshal([]byte(test.want), &want))
			require.Equal(t, want, overlay(base, over))
		})
	}
}

// TestEmptyPatch lays nothing over each example: the topology is that of the file.
func TestEmptyPatch(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "examples", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		want, err := model.Load(path)
		require.NoError(t, err)
		got, err := patch(path, "{}")
		require.NoError(t, err)
		require.Equal(t, want, got, path)
	}
}
