package openflow

import "fmt"

// scope is what an action is nested in.
type scope uint8

const (
	inApply scope = iota
	inWriteActions
	inClone
	inCT
)

// checker follows a list of actions and what they do to the tags of the frame.
type checker struct {
	match  Match
	table  int // -1: none, the actions are no flow's
	scope  scope
	tagged [2]bool // whether the outer and the inner tag are known to be there
	trust  bool    // prerequisites may be missing: a switch took the actions
	last   instruction
	conj   bool // a Conjunction was seen
	other  bool // something that a Conjunction does not go with was seen
}

func newChecker(m Match, table int) *checker {
	return &checker{match: m, table: table, tagged: [2]bool{m.isTagged()}}
}

// nested is a checker for the actions inside an action.
func (c *checker) nested(s scope) *checker {
	return &checker{match: c.match, table: c.table, scope: s, tagged: c.tagged, trust: c.trust}
}

// invalid is what is wrong with an action and what to do about it.
func invalid(a fmt.Stringer, problem, remedy string) error {
	return &InvalidError{Token: a.String(), Problem: problem, Remedy: remedy}
}

// lacks is a prerequisite that an action misses. OpenFlow 1.0 lets flows have such actions.
func lacks(a fmt.Stringer, problem, remedy string) error {
	return &InvalidError{Token: a.String(), Problem: problem, Remedy: remedy, prereq: true}
}

// check says, as an *InvalidError, why a cannot follow the actions before it.
func (c *checker) check(a Action) error {
	err := c.checkAll(a)
	if c.trust && err != nil && err.(*InvalidError).prereq {
		return nil
	}
	return err
}

func (c *checker) checkAll(a Action) error {
	if err := c.checkPlace(a); err != nil {
		return err
	}
	if err := c.checkOrder(a); err != nil {
		return err
	}
	if err := c.checkConjunction(a); err != nil {
		return err
	}
	return c.checkAction(a)
}

// checkConjunction lets a Conjunction stand with others of its kind and notes only.
func (c *checker) checkConjunction(a Action) error {
	switch a.(type) {
	case Note:
		return nil
	case Conjunction:
		c.conj = true
	default:
		c.other = true
	}
	if c.conj && c.other {
		return invalid(a, "conjunction goes with note and other conjunctions only", "split the flow")
	}
	return nil
}

// checkAction checks an action's own arguments and prerequisites.
func (c *checker) checkAction(self Action) error {
	switch a := self.(type) {
	case SetField:
		return c.checkSetField(a, self)
	case Move:
		return c.checkMove(a, self)
	case Push:
		return c.checkSource(a, a.Src)
	case Pop:
		return c.checkTarget(a, a.Dst)
	case OutputField:
		if err := checkNarrow(a, a.Src); err != nil {
			return err
		}
		return c.checkSource(a, a.Src)
	case Multipath:
		return c.checkMultipath(a)
	case CheckPacketLarger:
		if a.Dst.Width != 1 {
			return invalid(a, "destination must be one bit", "write NXM_NX_REG0[0]")
		}
		return c.checkTarget(a, a.Dst)
	case CT:
		return c.checkCT(a)
	case Learn:
		return c.checkLearn(a)
	case WriteActions:
		return c.checkNested(a, a.Actions, inWriteActions)
	case Clone:
		return c.checkClone(a)
	case SetVLANVID, SetVLANPCP, PushVLAN, PopVLAN:
		return c.checkVLAN(a)
	}
	return c.checkSimple(self)
}

// checkSimple checks the actions that have no subfields and no nested actions.
func (c *checker) checkSimple(self Action) error {
	switch a := self.(type) {
	case Output:
		return checkOutput(self, a.Port)
	case Enqueue:
		if a.Port >= PortMax && a.Port != PortIn && a.Port != PortLocal {
			return invalid(a, "such a port has no queues", "write the number of a port")
		}
	case Controller:
		if int(a.Reason) >= len(reasonNames) {
			return invalid(a, "unknown reason", "")
		}
	case Resubmit:
		if a.InPort == PortIn && a.Table == CurrentTable {
			return invalid(a, "resubmits to itself", "name a port or a table")
		}
	case GotoTable:
		switch {
		case a.Table == CurrentTable:
			return invalid(a, "no such table", "0 to 254")
		case int(a.Table) <= c.table:
			return invalid(a, fmt.Sprintf("does not go forward from table %d", c.table), "go to a later table, or use resubmit")
		}
	case DecTTL:
		if !c.match.isIP() {
			return lacks(a, "needs ip or ipv6", "add ip or ipv6 to the match")
		}
	case FinTimeout:
		if !c.match.isIP() || !c.match.isExactly(IPProto, ProtoTCP) {
			return lacks(a, "needs tcp", "add tcp or tcp6 to the match")
		}
	case WriteMetadata:
		if a.Mask == 0 || a.Value&^a.Mask != 0 {
			return invalid(a, "mask does not cover the value", "set the value's bits in the mask")
		}
	}
	return c.checkNumbers(self)
}

// checkNumbers checks the ranges of plain arguments.
func (c *checker) checkNumbers(a Action) error {
	switch a := a.(type) {
	case Group:
		if a.ID > 0xffffff00 {
			return invalid(a, "reserved group number", "at most 4294967040")
		}
	case Meter:
		if a.ID == 0 || a.ID > 0xffff0000 {
			return invalid(a, "no such meter", "1 to 4294901760")
		}
	case Conjunction:
		if a.Clauses < 2 || a.Clauses > 64 || a.Clause < 1 || a.Clause > a.Clauses {
			return invalid(a, "no such clause", "clause 1 to N of N, 2 <= N <= 64")
		}
	case Note:
		if len(a.Data)%8 != 6 {
			return invalid(a, "length must be 6, 14, 22 and so on", "pad it with zeros")
		}
	}
	return nil
}

// checkOutput refuses ports that nothing can be sent to.
func checkOutput(a Action, p PortNo) error {
	switch p {
	case PortIn, PortTable, PortNormal, PortFlood, PortAll, PortLocal:
		return nil
	case PortController:
		return invalid(a, "output to the controllers is an action of its own", "write CONTROLLER:65535")
	}
	if p >= PortMax {
		return invalid(a, "frames cannot be sent there", "write the number of a port below 65280")
	}
	return nil
}
