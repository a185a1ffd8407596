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

// instruction is the place of an action in the order that OpenFlow 1.1 gives instructions.
type instruction uint8

const (
	insMeter instruction = iota
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
	if i < c.last || i == c.last && i != insApply && c.seen(i) {
		return invalid(a, "cannot follow "+instructionNames[c.last],
			"order is meter, ordinary actions, clear_actions, write_actions, write_metadata, goto_table")
	}
	c.last, c.other = i, c.other || i == insMeter
	return nil
}

// seen reports whether instruction i was met; meter is where every list starts.
func (c *checker) seen(i instruction) bool { return i != insMeter || c.other }

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

// checkPlace refuses what cannot be nested where c is.
func (c *checker) checkPlace(a Action) error {
	switch {
	case c.scope == inWriteActions && !fitsActionSet(a):
		return invalid(a, "not allowed in an action set", "put it before write_actions")
	case c.scope == inCT && !fitsExec(a):
		return invalid(a, "exec may only change ct_mark and ct_label", "put it outside of ct")
	}
	return nil
}

func fitsActionSet(a Action) bool {
	switch a := a.(type) {
	case Push, Pop, Learn, Multipath, Exit, Note, Clone, FinTimeout, CheckPacketLarger, OutputField, Conjunction, Enqueue, PopQueue:
		return false
	case Controller:
		return a.Reason == ReasonAction && a.ID == 0
	}
	return true
}

func fitsExec(a Action) bool {
	switch a := a.(type) {
	case SetField:
		return a.Field == CTMark || a.Field == CTLabel
	case Move:
		return a.Dst.Field == CTMark || a.Dst.Field == CTLabel
	}
	return false
}

// checkAction checks an action's own arguments and prerequisites.
func (c *checker) checkAction(a Action) error {
	switch a := a.(type) {
	case SetField:
		return c.checkSetField(a)
	case Move:
		return c.checkMove(a)
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
	return c.checkSimple(a)
}

// checkSimple checks the actions that have no subfields and no nested actions.
func (c *checker) checkSimple(a Action) error {
	switch a := a.(type) {
	case Output:
		return checkOutput(a, a.Port)
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
	return c.checkNumbers(a)
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

func (c *checker) checkNested(a Action, actions []Action, s scope) error {
	if len(actions) == 0 && s == inWriteActions {
		return invalid(a, "OVS drops an empty action set", "remove it or use clear_actions")
	}
	inner := c.nested(s)
	for _, n := range actions {
		if err := inner.check(n); err != nil {
			return err
		}
	}
	return nil
}

// maxDepth is how deep clone may nest.
const maxDepth = 16

func (c *checker) checkClone(a Clone) error {
	if a.depth() > maxDepth {
		return invalid(a, "nested too deep", fmt.Sprintf("at most %d clones in each other", maxDepth))
	}
	return c.checkNested(a, a.Actions, inClone)
}

func (a Clone) depth() int {
	deepest := 0
	for _, n := range a.Actions {
		if n, ok := n.(Clone); ok {
			deepest = max(deepest, n.depth())
		}
	}
	return deepest + 1
}

// checkVLAN follows the tags: OpenFlow 1.5 takes no action on a tag that may not be there.
func (c *checker) checkVLAN(a Action) error {
	switch a := a.(type) {
	case SetVLANVID:
		if a.VID > 0xfff {
			return invalid(a, "VLAN id does not fit in 12 bits", "at most 4095")
		}
		return c.pushIfUntagged(a)
	case SetVLANPCP:
		if a.PCP > 7 {
			return invalid(a, "VLAN priority does not fit in 3 bits", "at most 7")
		}
		return c.pushIfUntagged(a)
	case PushVLAN:
		if a.EthType != EthTypeVLAN && a.EthType != EthTypeQinQ {
			return invalid(a, "not a VLAN Ethernet type", "write 0x8100 or 0x88a8")
		}
		if c.tagged[1] {
			return invalid(a, "OVS keeps no more than two tags", "pop one first")
		}
		c.tagged = [2]bool{true, c.tagged[0]}
	case PopVLAN:
		if !c.tagged[0] {
			return lacks(a, "needs a VLAN tag", "add dl_vlan=VID or vlan_tci=0x1000/0x1000 to the match")
		}
		c.tagged = [2]bool{c.tagged[1], false}
	}
	return nil
}

// pushIfUntagged wants an action that may push a tag only where there may be none. Elsewhere it
// is a SetField, and there is one value for one meaning.
func (c *checker) pushIfUntagged(a Action) error {
	if c.tagged[0] {
		return invalid(a, "there is a tag for sure", "set the field instead")
	}
	c.tagged[0] = true
	return nil
}
