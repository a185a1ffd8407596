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
	content, err := readAll(name, r)
	if err != nil {
		return Program{}, err
	}
	o := newOptions(opts)
	flows, err := parseFlows(name, content, o, func(text, int, Flow) error { return nil })
	if err == nil {
		var p Program
		if p, err = programOf(flows); err == nil {
			return p, nil
		}
	}
	// Something is wrong: say all that is. Flows that are there twice are rare, and finding the lines
	// costs as much as reading them.
	lines := map[string]int{}
	_, err = parseFlows(name, content, o, func(t text, number int, f Flow) error {
		key := string(f.appendKey(nil))
		if first, dup := lines[key]; dup {
			return t.fault(fmt.Sprintf("line %d has the same table, priority and match", first), "keep one")
		}
		lines[key] = number
		return nil
	})
	return Program{}, err
}

// parseFlows reads the flows of a file's content. check may find a fault in a line that has none of
// its own.
func parseFlows(name, content string, o *options, check func(t text, number int, f Flow) error) ([]Flow, error) {
	lines := strings.Count(content, "\n") + 1
	flows := make([]Flow, 0, lines)
	p := flowParser{lists: lists{}}
	p.match.chunk = min(2*lines, 1024)
	err := eachLine(name, content, func(t text, number int) error {
		t, err := t.dropAdd()
		if err != nil {
			return err
		}
		p.begin(o, Add)
		err = p.parse(t)
		if err != nil && !o.dump && isStats(t.s) {
			p.begin(o.ofDump(), Add) // which lets more pass
			err = p.parse(t)
		}
		if err != nil {
			return err
		}
		flows = append(flows, p.mod.Flow)
		return check(t, number, p.mod.Flow)
	})
	return flows, err
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

// ofDump is the options for a line of a dump.
func (o *options) ofDump() *options {
	dump := *o
	dump.dump = true
	return &dump
}

// dropAdd takes a leading "add" off and refuses other commands.
func (t text) dropAdd() (text, error) {
	if c := t.s[0]; c != 'a' && c != 'f' && c != 'm' && c != 'd' {
		return t, nil // none of the commands begins so
	}
	word, rest := t.firstWord()
	switch {
	case word.s == "add":
		return rest, nil
	case word.s == "flow", word.s == Modify.String(), word.s == ModifyStrict.String(), word.s == Delete.String(), word.s == DeleteStrict.String():
		return t, word.fault("a program holds flows, not changes", "read it as a bundle")
	}
	return t, nil
}

func readAll(name string, r io.Reader) (string, error) {
	var b strings.Builder
	if _, err := io.Copy(&b, r); err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	return b.String(), nil
}

// readLines is eachLine of all that r gives.
func readLines(name string, r io.Reader, parse func(t text, number int) error) error {
	content, err := readAll(name, r)
	if err != nil {
		return err
	}
	return eachLine(name, content, parse)
}

// eachLine calls parse for every line that is neither blank nor a comment nor the header of a dump,
// and collects the faults.
func eachLine(name, content string, parse func(t text, number int) error) error {
	var faults SyntaxErrors
	number := 0
	for line := range strings.Lines(content) {
		number++
		line, _, _ = strings.Cut(line, "#")
		t := text{line, 0}.trim()
		if t.s == "" || isHeader(t.s) {
			continue
		}
		err := parse(t, number)
		if err == nil {
			continue
		}
		var fault *SyntaxError
		if !errors.As(err, &fault) {
			return err
		}
		fault.Name, fault.Line = name, number
		faults = append(faults, fault)
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
