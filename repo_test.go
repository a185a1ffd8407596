// Package hpnn_test holds the repository to its own manners: who may import whom, a comment
// for every package and every exported name, files that a newcomer can read in one sitting.
package hpnn_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// source is one Go file of the tree.
type source struct {
	path string // slash-separated, from the root
	dir  string
	file *ast.File
	fset *token.FileSet
}

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// imports lists the file's imports of this module, without the module's name.
func (s source) imports() []string {
	var own []string
	for _, i := range s.file.Imports {
		if p, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), "hpnn/"); ok {
			own = append(own, p)
		}
	}
	return own
}

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin" || d.Name() == "out") {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		slash := filepath.ToSlash(path)
		all = append(all, source{slash, filepath.ToSlash(filepath.Dir(path)), file, fset})
		return nil
	}))
	return all
}

// within reports whether package p is root or lies below it.
func within(p, root string) bool { return p == root || strings.HasPrefix(p, root+"/") }

func TestImportRules(t *testing.T) {
	rules := []struct {
		pkg       string
		forbidden []string
		allowed   []string // if set, the only imports of ours
		why       string
	}{
		{pkg: "model", allowed: []string{"model"}, why: "the model is what is wanted; it knows nothing of how"},
		{pkg: "datapath/openflow", allowed: []string{"datapath/openflow"}, why: "the words of OpenFlow stand alone"},
		{pkg: "simbackend", forbidden: []string{"model", "internal/pipeline", "ovsbackend"}, why: "a backend runs rules and does not know what they are for"},
		{pkg: "ovsbackend", forbidden: []string{"model", "internal/pipeline", "simbackend"}, why: "a backend runs rules and does not know what they are for"},
		{pkg: "internal/pipeline", forbidden: []string{"simbackend", "ovsbackend"}, why: "rendering is the same for every switch"},
		{pkg: "internal/maglev", allowed: []string{"internal/maglev"}, why: "the layout is pure numbers"},
		{pkg: "internal/health", allowed: []string{"internal/health", "model"}, why: "health is a matter of probes and counts"},
		{pkg: "internal/packet", allowed: []string{"internal/packet"}, why: "bytes know no rules"},
		{pkg: "internal/pcap", allowed: []string{"internal/pcap"}, why: "captures know no rules"},
	}
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		for _, r := range rules {
			if !within(s.dir, r.pkg) {
				continue
			}
			for _, imp := range s.imports() {
				bad := slices.ContainsFunc(r.forbidden, func(f string) bool { return within(imp, f) })
				if r.allowed != nil {
					bad = !slices.ContainsFunc(r.allowed, func(a string) bool { return within(imp, a) })
				}
				require.Falsef(t, bad, "%s imports hpnn/%s: %s", s.path, imp, r.why)
			}
		}
	}
}

func TestOnlyTestbedAndCommandsKnowBothBackends(t *testing.T) {
	knows := map[string]map[string]bool{}
	for _, s := range sources(t) {
		for _, imp := range s.imports() {
			if !s.isTest() && (imp == "simbackend" || imp == "ovsbackend") {
				if knows[s.dir] == nil {
					knows[s.dir] = map[string]bool{}
				}
				knows[s.dir][imp] = true
			}
		}
	}
	for dir, k := range knows {
		if len(k) == 2 {
			require.Truef(t, within(dir, "testbed") || within(dir, "cmd"), "%s imports both backends", dir)
		}
	}
}

func TestEveryPackageHasOneComment(t *testing.T) {
	comments := map[string][]string{}
	for _, s := range sources(t) {
		if s.isTest() && s.dir != "." {
			continue
		}
		if _, ok := comments[s.dir]; !ok {
			comments[s.dir] = nil
		}
		if s.file.Doc != nil {
			comments[s.dir] = append(comments[s.dir], s.path)
		}
	}
	for dir, files := range comments {
		require.Lenf(t, files, 1, "package %s: one file must say what it is for", dir)
	}
}

func TestEveryExportedNameIsExplained(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		for _, name := range undocumented(s) {
			t.Errorf("%s: %s has no comment", s.path, name)
		}
	}
}

func undocumented(s source) []string {
	var names []string
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				names = append(names, undocumentedSpec(d, spec)...)
			}
		}
	}
	return names
}

func undocumentedSpec(d *ast.GenDecl, spec ast.Spec) []string {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if spec.Name.IsExported() && d.Doc == nil && spec.Doc == nil {
			return []string{spec.Name.Name}
		}
	case *ast.ValueSpec: // a group's comment speaks for its members
		if spec.Names[0].IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
			return []string{spec.Names[0].Name}
		}
	}
	return nil
}

// exportedReceiver reports whether d is a function, or a method of an exported type that
// is not one of the methods everybody knows.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if index, ok := typ.(*ast.IndexExpr); ok {
		typ = index.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}

func TestFilesAreReadInOneSitting(t *testing.T) {
	for _, s := range sources(t) {
		lines := s.fset.File(s.file.Pos()).LineCount()
		require.LessOrEqualf(t, lines, 700, "%s: split it", s.path)
	}
}

func TestPureCodeHasNoClock(t *testing.T) {
	pure := []string{"model", "datapath", "simbackend", "internal/pipeline", "internal/maglev", "internal/packet", "internal/pcap", "internal/replay", "scenarios"}
	for _, s := range sources(t) {
		if !slices.ContainsFunc(pure, func(p string) bool { return within(s.dir, p) }) {
			continue
		}
		text, err := os.ReadFile(s.path)
		require.NoError(t, err)
		words := []string{"time.Sleep("}
		if !s.isTest() { // a test may bound how long it asks a real switch
			words = append(words, "time.Now(", "time.Since(")
		}
		for _, word := range words {
			if strings.Contains(string(text), word) {
				t.Errorf("%s: %s): time is an argument here", s.path, word)
			}
		}
	}
}
