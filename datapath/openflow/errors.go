package openflow

import (
	"strconv"
	"strings"
)

// SyntaxError is one fault in the text of a flow, match, action list or bundle. It names the
// token, says what is wrong with it and what to write instead.
type SyntaxError struct {
	Name    string // of the file; "" if there is none
	Line    int    // 1 for the first; 0 if the text is not a file
	Column  int    // of the token's first byte; 1 for the first
	Token   string // as written
	Problem string
	Remedy  string // "" if there is nothing to suggest
}

// Error is, for example, `flows.txt:12:34: "0x10": multipath basis must be decimal: write 16`.
func (e *SyntaxError) Error() string {
	var b strings.Builder
	switch {
	case e.Name != "":
		b.WriteString(e.Name + ":" + strconv.Itoa(e.Line) + ":" + strconv.Itoa(e.Column) + ": ")
	case e.Line != 0:
		b.WriteString("line " + strconv.Itoa(e.Line) + ", column " + strconv.Itoa(e.Column) + ": ")
	default:
		b.WriteString("column " + strconv.Itoa(e.Column) + ": ")
	}
	if e.Token != "" {
		b.WriteString(strconv.Quote(e.Token) + ": ")
	}
	b.WriteString(e.Problem)
	if e.Remedy != "" {
		b.WriteString(": " + e.Remedy)
	}
	return b.String()
}

// SyntaxErrors is every fault of a file, at most one a line, in the order of the lines.
type SyntaxErrors []*SyntaxError

// Error is one line for each fault.
func (e SyntaxErrors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lists the faults for errors.As.
func (e SyntaxErrors) Unwrap() []error {
	all := make([]error, len(e))
	for i, one := range e {
		all[i] = one
	}
	return all
}

// InvalidError says why a Match or a Flow cannot be put into a switch.
type InvalidError struct {
	Token   string // the condition or action, in canonical form
	Problem string
	Remedy  string // "" if there is nothing to suggest

	field  Field // of the condition at fault; FieldNone for an action
	prereq bool  // an action lacks its prerequisite
}

// Error is, for example, `"tp_dst=80": needs tcp: add tcp`.
func (e *InvalidError) Error() string {
	text := strconv.Quote(e.Token) + ": " + e.Problem
	if e.Remedy != "" {
		text += ": " + e.Remedy
	}
	return text
}
