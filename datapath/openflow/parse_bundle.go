package openflow

import "io"

// ParseBundle reads a file as "ovs-ofctl bundle" does: lines of "flow [add|modify|
// modify_strict|delete|delete_strict] FLOW", comments and blank lines. All faulty lines are
// reported together, as SyntaxErrors.
func ParseBundle(name string, r io.Reader, opts ...Option) (Bundle, error) {
	o := newOptions(opts)
	var b Bundle
	err := readLines(name, r, func(t text, _ int) error {
		m, err := parseFlowMod(t, o)
		b = append(b, m)
		return err
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// ParseFlowMod reads one line of a bundle, such as "flow delete_strict table=1,priority=5,ip".
// Every fault is a *SyntaxError.
func ParseFlowMod(line string, opts ...Option) (FlowMod, error) {
	return parseFlowMod(text{line, 0}.trim(), newOptions(opts))
}

func parseFlowMod(t text, o *options) (FlowMod, error) {
	word, rest := t.firstWord()
	if word.s != "flow" {
		return FlowMod{}, word.fault("not a change to flows", "begin the line with flow")
	}
	c, rest := rest.command()
	p := newFlowParser(o, c)
	if c == Modify || c == Delete {
		p.mod.Flow.Priority = 0
	}
	err := p.parse(rest)
	return p.mod, err
}

// command takes the command off the start of t. Without one it is Add.
func (t text) command() (Command, text) {
	word, rest := t.firstWord()
	for c, name := range commandNames {
		if name == word.s {
			return Command(c), rest
		}
	}
	return Add, t
}

// firstWord splits t at its first blank.
func (t text) firstWord() (word, rest text) {
	for i := range len(t.s) {
		if t.s[i] == ' ' || t.s[i] == '\t' {
			return t.to(i), t.from(i).trim()
		}
	}
	return t, t.from(len(t.s))
}
