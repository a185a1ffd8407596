package openflow

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// ParseProgram reads a file of flows, one a line, as "ovs-ofctl add-flows" does, or a dump of
// flows. Comments, blank lines, a leading "add" and the header lines of a dump are allowed. name
// is the file's, for messages. All faulty lines are reported together, as SyntaxErrors.
func ParseProgram(name string, r io.Reader, opts ...Option) (Program, error) {
	o := newOptions(opts)
	var flows []Flow
	lines := map[string]int{}
	err := readLines(name, r, func(t text, number int) error {
		t, err := t.dropAdd()
		if err != nil {
			return err
		}
		e, err := parseEntry(t, o.forLine(t.s))
		if err != nil {
			return err
		}
		key := string(e.Flow.appendKey(nil))
		if first, dup := lines[key]; dup {
			return t.fault(fmt.Sprintf("line %d has the same table, priority and match", first), "keep one")
		}
		lines[key] = number
		flows = append(flows, e.Flow)
		return nil
	})
	if err != nil {
		return Program{}, err
	}
	return NewProgram(flows...)
}

// appendKey writes what tells the flow from others.
func (f Flow) appendKey(b []byte) []byte { return f.appendCondition(append(b, byte(f.Table))) }

// ParseDump reads the output of "ovs-ofctl dump-flows" of any OpenFlow version. All faulty
// lines are reported together, as SyntaxErrors.
func ParseDump(name string, r io.Reader, opts ...Option) ([]FlowEntry, error) {
	o := newOptions(opts)
	o.dump = true
	var entries []FlowEntry
	err := readLines(name, r, func(t text, _ int) error {
		e, err := parseEntry(t, o)
		entries = append(entries, e)
		return err
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// forLine is the options for one line, which may come from a dump.
func (o *options) forLine(line string) *options {
	if !isStats(line) || o.dump {
		return o
	}
	dump := *o
	dump.dump = true
	return &dump
}

// dropAdd takes a leading "add" off and refuses other commands.
func (t text) dropAdd() (text, error) {
	word, rest := t.firstWord()
	switch {
	case word.s == "add":
		return rest, nil
	case word.s == "flow", word.s == Modify.String(), word.s == ModifyStrict.String(), word.s == Delete.String(), word.s == DeleteStrict.String():
		return t, word.fault("a program holds flows, not changes", "read it as a bundle")
	}
	return t, nil
}

// readLines calls parse for every line of r that is neither blank nor a comment nor the header
// of a dump, and collects the faults.
func readLines(name string, r io.Reader, parse func(t text, number int) error) error {
	content, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	var faults SyntaxErrors
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		line, _, _ = strings.Cut(line, "#")
		t := text{line, 0}.trim()
		if t.s == "" || isHeader(t.s) {
			continue
		}
		var fault *SyntaxError
		if err := parse(t, number); errors.As(err, &fault) {
			fault.Name, fault.Line = name, number
			faults = append(faults, fault)
		} else if err != nil {
			return err
		}
	}
	if faults != nil {
		return faults
	}
	return nil
}

// isHeader recognises the first line of a dump or of a part of it.
func isHeader(line string) bool {
	return strings.HasPrefix(line, "NXST_FLOW reply") || strings.HasPrefix(line, "OFPST_FLOW reply")
}
