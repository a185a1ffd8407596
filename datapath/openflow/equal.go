package openflow

import "slices"

// Equal reports whether two flows are the same in every respect.
func (f Flow) Equal(o Flow) bool {
	return f.Table == o.Table && f.Priority == o.Priority && f.Match.Equal(o.Match) &&
		f.sameSettings(o) && EqualActions(f.Actions, o.Actions)
}

// sameSettings reports whether the flows are the same but for key and actions.
func (f Flow) sameSettings(o Flow) bool {
	return f.Cookie == o.Cookie && f.IdleTimeout == o.IdleTimeout && f.HardTimeout == o.HardTimeout &&
		f.Importance == o.Importance && f.Flags == o.Flags
}

// EqualActions reports whether two action lists are the same.
func EqualActions(a, b []Action) bool { return slices.EqualFunc(a, b, equalAction) }

// equalAction compares the actions that hold slices or pointers part by part.
func equalAction(a, b Action) bool {
	switch a := a.(type) {
	case DecTTL:
		b, ok := b.(DecTTL)
		return ok && slices.Equal(a.Controllers, b.Controllers)
	case CT:
		b, ok := b.(CT)
		return ok && equalCT(a, b)
	case Learn:
		b, ok := b.(Learn)
		return ok && a.options() == b.options() && slices.Equal(a.Specs, b.Specs)
	case WriteActions:
		b, ok := b.(WriteActions)
		return ok && EqualActions(a.Actions, b.Actions)
	case Clone:
		b, ok := b.(Clone)
		return ok && EqualActions(a.Actions, b.Actions)
	}
	return a == b
}

func equalCT(a, b CT) bool {
	if (a.NAT == nil) != (b.NAT == nil) || a.NAT != nil && *a.NAT != *b.NAT {
		return false
	}
	return a.Commit == b.Commit && a.Force == b.Force && a.Recirc == b.Recirc && a.Table == b.Table &&
		a.Zone == b.Zone && a.ZoneSrc == b.ZoneSrc && a.ALG == b.ALG && EqualActions(a.Exec, b.Exec)
}

// learnOptions is a Learn but for its specs.
type learnOptions struct {
	table                      TableID
	idle, hard, finIdle, finHd uint16
	priority                   uint16
	cookie                     uint64
	sendFlowRem, deleteLearned bool
	limit                      uint32
	resultDst                  Subfield
}

func (a Learn) options() learnOptions {
	return learnOptions{a.Table, a.IdleTimeout, a.HardTimeout, a.FinIdleTimeout, a.FinHardTimeout,
		a.Priority, a.Cookie, a.SendFlowRem, a.DeleteLearned, a.Limit, a.ResultDst}
}
