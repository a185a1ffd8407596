package openflow

import "fmt"

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
