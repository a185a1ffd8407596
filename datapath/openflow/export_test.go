package openflow

// ParseFlowSlowly is ParseFlow without the short cut for plain lines.
func ParseFlowSlowly(line string) (FlowEntry, error) {
	p := newFlowParser(newOptions(nil), Add)
	err := p.parseSlowly(text{line, 0})
	return FlowEntry{Flow: p.mod.Flow, Stats: p.stats}, err
}
