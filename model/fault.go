package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A Fault is one thing that is wrong with a topology, where it is and what to do about it.
type Fault struct {
	File    string // as given to [Load] or [Parse]; empty for a topology built in Go
	Line    int    // from 1; 0 for a topology built in Go
	Column  int    // from 1, in characters
	Path    string // the field, as pools[0].members[2].weight; empty for the file as a whole
	Problem string // what is wrong, as "250 is out of range"
	Remedy  string // what to do, as "use 0 to 100"
}

// Error returns "file:line:column: path: problem: remedy", without the parts that are not known.
func (f Fault) Error() string {
	var parts []string
	if f.File != "" {
		parts = append(parts, fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column))
	}
	for _, part := range []string{f.Path, f.Problem, f.Remedy} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// Faults is everything that is wrong with a topology, in the order of the file. It is the error of [Parse], [Load] and
// [Validate] and is never empty there.
type Faults []Fault

// Error returns one line for each fault, without a newline after the last.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// orNil keeps an empty list from becoming an error that is not nil.
func (fs Faults) orNil() error {
	if len(fs) == 0 {
		return nil
	}
	return fs
}

func (fs Faults) sort() {
	slices.SortStableFunc(fs, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// A complaint is a fault whose place is not known yet.
type complaint struct {
	problem, remedy string
}

func complain(remedy, problem string, args ...any) *complaint {
	return &complaint{problem: oneLine(fmt.Sprintf(problem, args...)), remedy: oneLine(remedy)}
}

// oneLine escapes what would break a line or a terminal.
func oneLine(s string) string {
	if strings.IndexFunc(s, unicode.IsControl) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsControl(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// join appends a key to a path; one that would be hard to read is quoted.
func join(path, key string) string {
	if !nameForm.MatchString(key) {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// parent removes the last key or index of a path.
func parent(path string) string {
	return path[:max(strings.LastIndexAny(path, ".["), 0)]
}

// item appends an index to a path.
func item(path string, i int) string {
	return fmt.Sprintf("%s[%d]", path, i)
}
