package openflow

// instruction is the place of an action in the order that OpenFlow 1.1 gives instructions.
type instruction uint8

const (
	insNone instruction = iota
	insMeter
	insApply
	insClear
	insWrite
	insMetadata
	insGoto
)

var instructionNames = [...]string{
	insMeter: "meter", insApply: "ordinary actions", insClear: "clear_actions",
	insWrite: "write_actions", insMetadata: "write_metadata", insGoto: "goto_table",
}

func instructionOf(a Action) instruction {
	switch a.(type) {
	case Meter:
		return insMeter
	case ClearActions:
		return insClear
	case WriteActions:
		return insWrite
	case WriteMetadata:
		return insMetadata
	case GotoTable:
		return insGoto
	}
	return insApply
}

// checkOrder wants meter, ordinary actions, clear_actions, write_actions, write_metadata and
// goto_table in this order, each but the ordinary actions once.
func (c *checker) checkOrder(a Action) error {
	i := instructionOf(a)
	if c.scope != inApply && i != insApply {
		return invalid(a, "not allowed inside another action", "move it to the end of the flow's actions")
	}
	if i < c.last || i == c.last && i != insApply {
		return invalid(a, "cannot follow "+instructionNames[c.last],
			"order is meter, ordinary actions, clear_actions, write_actions, write_metadata, goto_table")
	}
	c.last = i
	return nil
}
