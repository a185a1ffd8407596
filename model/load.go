package model

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	maxSize  = 4 << 20 // bytes of a file
	maxDepth = 32      // brackets, dashes and tags inside one another; ours need six
)

// Load reads a topology from a YAML file. The error is [Faults] if the file could be read but what it says is not right.
func Load(path string) (Topology, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Topology{}, fmt.Errorf("load topology: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a topology from YAML: defaults filled in, every rule of [Validate] kept. The error is [Faults], all of them at
// once, with file as their file; a fault of syntax comes alone.
func Parse(file string, data []byte) (Topology, error) {
	t, faults := parse(data)
	if len(faults) == 0 {
		return t, nil
	}
	for i := range faults {
		faults[i].File = file
	}
	faults.sort()
	return Topology{}, faults
}

func parse(data []byte) (Topology, Faults) {
	body, fault := syntax(bytes.TrimPrefix(data, []byte("\ufeff")))
	if fault != nil {
		return Topology{}, Faults{*fault}
	}
	d := &decoder{index: map[string]place{"": startOf(body)}, broken: map[string]bool{}}
	var t Topology
	decodeObject(d, &topologyKeys, body, "", &t)
	t = fill(t, filler{index: d.index, unknown: d.broken})
	for _, f := range rules(&t) {
		if !d.isBroken(f.Path) {
			at := d.nearest(f.Path)
			f.Line, f.Column = at.line, at.column
			d.faults = append(d.faults, f)
		}
	}
	return t, d.faults
}

// syntax returns the one document of a file.
func syntax(data []byte) (ast.Node, *Fault) {
	if fault := readable(data); fault != nil {
		return nil, fault
	}
	tokens := lexer.Tokenize(string(data))
	if fault := shallow(tokens); fault != nil {
		return nil, fault
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, syntaxFault(err)
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil {
			bodies = append(bodies, doc.Body)
		}
	}
	switch len(bodies) {
	case 0:
		return nil, &Fault{Line: 1, Column: 1, Problem: "the file says nothing", Remedy: "declare at least segments:"}
	case 1:
		return bodies[0], nil
	}
	at := startOf(bodies[1])
	return nil, &Fault{Line: at.line, Column: at.column,
		Problem: "a second document begins here", Remedy: "keep one topology in a file"}
}

// readable refuses what is not text of a sensible size.
func readable(data []byte) *Fault {
	if len(data) > maxSize {
		return &Fault{Line: 1, Column: 1, Problem: fmt.Sprintf("the file has %d bytes", len(data)),
			Remedy: fmt.Sprintf("use at most %d", maxSize)}
	}
	line, column := 1, 1
	for rest := data; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 || r < ' ' && r != '\n' && r != '\r' && r != '\t' {
			return &Fault{Line: line, Column: column, Problem: fmt.Sprintf("byte 0x%02x is not text", rest[0]),
				Remedy: "save the file as UTF-8"}
		}
		column++
		if r == '\n' {
			line, column = line+1, 1
		}
		rest = rest[size:]
	}
	return nil
}

// shallow refuses nesting that would exhaust the parser's stack.
func shallow(tokens token.Tokens) *Fault {
	brackets, marks := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			brackets++
		case token.MappingEndType, token.SequenceEndType:
			brackets--
		case token.SequenceEntryType, token.MappingKeyType, token.TagType, token.AnchorType:
			marks++
		default:
			marks = 0
		}
		if brackets > maxDepth || marks > maxDepth {
			return &Fault{Line: t.Position.Line, Column: t.Position.Column,
				Problem: "the file is nested too deeply", Remedy: "write it with fewer levels"}
		}
	}
	return nil
}

func syntaxFault(err error) *Fault {
	fault := &Fault{Line: 1, Column: 1, Problem: oneLine(err.Error()), Remedy: "correct the YAML here or in the line before"}
	var wrong *yaml.SyntaxError
	if errors.As(err, &wrong) {
		fault.Problem = oneLine(wrong.GetMessage())
		if t := wrong.GetToken(); t != nil && t.Position != nil {
			fault.Line, fault.Column = t.Position.Line, t.Position.Column
		}
	}
	if strings.Contains(fault.Problem, `\t`) || strings.Contains(fault.Problem, "tab character") {
		fault.Remedy = "indent with spaces, not tabs"
	}
	return fault
}
