package model

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"
	"github.com/stretchr/testify/require"
)

// values maps the path of every key of a file, without the numbers of list elements, to its values; "" for what is no scalar.
func values(t *testing.T, data []byte) map[string][]string {
	body, fault := syntax(data)
	require.Nil(t, fault)
	found := map[string][]string{}
	var walk func(path string, n ast.Node)
	walk = func(path string, n ast.Node) {
		text := ""
		if m, ok := n.(*ast.MappingNode); ok {
			for _, e := range m.Values {
				walk(join(path, e.Key.GetToken().Value), e.Value)
			}
		} else if list, ok := n.(*ast.SequenceNode); ok {
			for _, element := range list.Values {
				walk(path+"[]", element)
			}
		} else {
			text = n.GetToken().Value
		}
		found[path] = append(found[path], text)
	}
	walk("", body)
	return found
}

func read(t *testing.T, file string) []byte {
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return data
}

func TestEveryKeyOfTheReferenceLoads(t *testing.T) {
	used := values(t, read(t, "testdata/every-key.yaml"))
	for _, key := range Keys() {
		require.Contains(t, used, key.Path, "testdata/every-key.yaml has to use every key")
		require.NotEmpty(t, key.Type, key.Path)
		require.NotEmpty(t, key.Default, key.Path)
		require.Regexp(t, `\.$`, key.Meaning, key.Path)
	}
	listed := map[string]bool{}
	for _, key := range Keys() {
		require.False(t, listed[key.Path], "%s comes twice", key.Path)
		listed[key.Path] = true
	}
	for path := range used {
		require.True(t, path == "" || strings.HasSuffix(path, "[]") || listed[path], "%s loads but is not in the reference", path)
	}
}

func TestDefaultsAreWhatTheReferenceSays(t *testing.T) {
	given := values(t, read(t, "../examples/minimal.yaml"))
	topology, err := Load("../examples/minimal.yaml")
	require.NoError(t, err)
	effective := values(t, topology.YAML())
	checked := 0
	for _, key := range Keys() {
		if key.Default == "required" || key.Default == "none" || strings.HasPrefix(key.Default, "(") {
			continue
		}
		require.NotContains(t, given, key.Path, "the minimal example must leave defaults alone")
		require.NotEmpty(t, effective[key.Path], key.Path)
		for _, value := range effective[key.Path] {
			require.Equal(t, key.Default, value, key.Path)
		}
		checked++
	}
	require.Greater(t, checked, 15)
}

// TestEveryValueIsChecked puts a mapping in the place of each value of a file in turn.
func TestEveryValueIsChecked(t *testing.T) {
	topology, err := Load("testdata/every-key.yaml")
	require.NoError(t, err)
	paths := literals(topologyKeys.encode(&topology), "")
	require.Greater(t, len(paths), 60)
	for _, path := range paths {
		_, err := Parse("", document(replace(topologyKeys.encode(&topology), "", path)))
		require.Error(t, err, path)
		found := false
		for _, fault := range err.(Faults) {
			found = found || fault.Path == path || fault.Path == path+".x"
		}
		require.True(t, found, "%s: %v", path, err)
	}
}

func literals(n node, path string) (paths []string) {
	switch n := n.(type) {
	case literal:
		return []string{path}
	case mapping:
		for _, e := range n.entries {
			paths = append(paths, literals(e.value, join(path, e.key))...)
		}
	case sequence:
		for i, element := range n.items {
			paths = append(paths, literals(element, item(path, i))...)
		}
	}
	return paths
}

func replace(n node, path, target string) node {
	switch n := n.(type) {
	case literal:
		if path == target {
			return literal("{x: y}")
		}
	case mapping:
		for i, e := range n.entries {
			n.entries[i].value = replace(e.value, join(path, e.key), target)
		}
	case sequence:
		for i, element := range n.items {
			n.items[i] = replace(element, item(path, i), target)
		}
	}
	return n
}

var referenceTable = regexp.MustCompile(`(?s)(<!-- keys -->\n).*(<!-- end of keys -->)`)

func TestExamplesReadmeHoldsTheReference(t *testing.T) {
	var table strings.Builder
	table.WriteString("| Key | Type | Default | Meaning |\n|---|---|---|---|\n")
	for _, k := range Keys() {
		def := k.Default
		if def != "required" && def != "none" && !strings.HasPrefix(def, "(") {
			def = "`" + def + "`"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", k.Path, k.Type, def, k.Meaning)
	}
	const file = "../examples/README.md"
	text := strings.ReplaceAll(string(read(t, file)), "\r\n", "\n")
	require.Regexp(t, referenceTable, text)
	golden(t, file, referenceTable.ReplaceAllString(text, "${1}"+table.String()+"${2}"))
}
