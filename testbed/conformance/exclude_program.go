package conformance

import (
	"slices"

	"hpnn/datapath/openflow"
)

// does reports whether any action of the case, nested or not, is as wanted.
func (c Case) does(wanted func(openflow.Action) bool) bool {
	for f := range c.flows {
		if contains(f.Actions, wanted) {
			return true
		}
	}
	return false
}

func contains(actions []openflow.Action, wanted func(openflow.Action) bool) bool {
	return slices.ContainsFunc(actions, func(a openflow.Action) bool {
		switch nested := a.(type) {
		case openflow.Clone:
			return wanted(a) || contains(nested.Actions, wanted)
		case openflow.WriteActions:
			return wanted(a) || contains(nested.Actions, wanted)
		}
		return wanted(a)
	})
}

func actionSetAtCT(c Case) bool  { return c.does(writesActions) && c.does(recirculates) }
func learnedTagless(c Case) bool { return c.does(learnsTCI) && c.does(writesTagless) }
func learnedUntagged(c Case) bool {
	return c.does(learnsTCI) && slices.ContainsFunc(c.Events, isCommit)
}

func learnedFlags(c Case) bool {
	if !c.does(learnsFlags) {
		return false
	}
	for f := range c.flows {
		if namesFlags(f) {
			return true
		}
	}
	return false
}

func learnedPCP(c Case) bool   { return c.does(learnsPartOfPCP) }
func partOfOp(c Case) bool     { return c.does(blindlyWritesPartOfOp) }
func partAfterNAT(c Case) bool { return c.does(translates) && c.does(writesPartOfAddress) }

// looseAfterAdd looks for a loose change behind an add in one bundle.
func looseAfterAdd(c Case) bool {
	return slices.ContainsFunc(c.Events, func(e Event) bool {
		commit, _ := e.(Commit)
		added := slices.IndexFunc(commit.Bundle, func(m openflow.FlowMod) bool { return m.Command == openflow.Add })
		return added >= 0 && slices.ContainsFunc(commit.Bundle[added:], isLoose)
	})
}

func commitByModify(c Case) bool {
	return slices.ContainsFunc(c.Events, func(e Event) bool {
		commit, _ := e.(Commit)
		return slices.ContainsFunc(commit.Bundle, func(m openflow.FlowMod) bool {
			return m.Command == openflow.Modify && contains(m.Flow.Actions, commits)
		})
	})
}

func pushesByModify(c Case) bool {
	return slices.ContainsFunc(c.Events, func(e Event) bool {
		commit, _ := e.(Commit)
		return slices.ContainsFunc(commit.Bundle, func(m openflow.FlowMod) bool {
			return m.Command == openflow.Modify && contains(m.Flow.Actions, pushesTag)
		})
	})
}

func pushesTag(a openflow.Action) bool {
	_, ok := a.(openflow.PushVLAN)
	return ok
}

func isCommit(e Event) bool {
	_, ok := e.(Commit)
	return ok
}

func isLoose(m openflow.FlowMod) bool {
	return m.Command == openflow.Modify || m.Command == openflow.Delete
}

func writesActions(a openflow.Action) bool {
	_, ok := a.(openflow.WriteActions)
	return ok
}

func recirculates(a openflow.Action) bool {
	ct, _ := a.(openflow.CT)
	return ct.Recirc
}

func translates(a openflow.Action) bool {
	ct, _ := a.(openflow.CT)
	return ct.NAT != nil
}

func commits(a openflow.Action) bool {
	ct, _ := a.(openflow.CT)
	return ct.Commit
}

// learnsTo reports whether an action learns flows with a condition on a part of the fields as wanted.
func learnsTo(a openflow.Action, wanted func(openflow.Subfield) bool) bool {
	l, _ := a.(openflow.Learn)
	return slices.ContainsFunc(l.Specs, func(s openflow.LearnSpec) bool {
		switch s := s.(type) {
		case openflow.LearnMatchField:
			return wanted(s.Dst)
		case openflow.LearnMatchValue:
			return wanted(s.Dst)
		}
		return false
	})
}

func learnsTCI(a openflow.Action) bool {
	return learnsTo(a, func(s openflow.Subfield) bool { return s == openflow.Whole(openflow.VLANTCI) })
}

func learnsPartOfPCP(a openflow.Action) bool { return learnsTo(a, cutsPCP) }

func learnsFlags(a openflow.Action) bool {
	return learnsTo(a, func(s openflow.Subfield) bool { return s == openflow.Whole(openflow.TCPFlags) })
}

// namesFlags reports whether a flow is for exactly some TCP flags.
func namesFlags(f openflow.Flow) bool {
	return slices.ContainsFunc(f.Match.Terms(), func(t openflow.Term) bool {
		return t.Field == openflow.TCPFlags && t.Mask == openflow.TCPFlags.Mask()
	})
}

// cutsPCP reports whether s is a part of vlan_tci that has some bits of the priority, but not all.
func cutsPCP(s openflow.Subfield) bool {
	const pcp = 7 << 13
	bits := s.Mask().Lo & pcp
	return s.Field == openflow.VLANTCI && bits != 0 && bits != pcp
}

// written is what an action writes of the fields of a frame.
func written(a openflow.Action) (field openflow.Field, whole bool) {
	var dst openflow.Subfield
	switch a := a.(type) {
	case openflow.SetField:
		return a.Field, a.Mask == a.Field.Mask()
	case openflow.Move:
		dst = a.Dst
	case openflow.Pop:
		dst = a.Dst
	case openflow.Multipath:
		dst = a.Dst
	case openflow.Learn:
		dst = a.ResultDst
	}
	return dst.Field, dst.IsWhole()
}

// writesTagless reports whether an action writes vlan_tci, or its VLAN id, of untagged frames, too.
func writesTagless(a openflow.Action) bool {
	_, set := a.(openflow.SetField)
	field, _ := written(a)
	return field == openflow.VLANTCI || !set && field == openflow.VLANVID
}

// blindlyWritesPart reports whether an action writes a part of an address or port without asking whether the frame has it.
func blindlyWritesPart(a openflow.Action) bool {
	switch a.(type) {
	case openflow.Move, openflow.SetField:
		return false
	}
	return writesPartOfAddress(a)
}

// writesPartOfAddress reports whether an action writes a part of what nat may translate.
func writesPartOfAddress(a openflow.Action) bool {
	field, whole := written(a)
	switch field {
	case openflow.IPSrc, openflow.IPDst, openflow.TCPSrc, openflow.TCPDst, openflow.UDPSrc, openflow.UDPDst,
		openflow.SCTPSrc, openflow.SCTPDst, openflow.ICMPType, openflow.ICMPCode:
		return !whole
	}
	return false
}

// writesPartOfOp reports whether an action writes a part of the ARP operation.
func writesPartOfOp(a openflow.Action) bool {
	field, whole := written(a)
	return field == openflow.ARPOp && !whole
}

// blindlyWritesPartOfOp reports whether an action writes a part of the ARP operation and asks for no more of it.
func blindlyWritesPartOfOp(a openflow.Action) bool {
	_, set := a.(openflow.SetField)
	return !set && writesPartOfOp(a)
}

// writesICMPType reports whether an action may make an ICMP message an error.
func writesICMPType(a openflow.Action) bool {
	field, _ := written(a)
	return field == openflow.ICMPType || field == openflow.ICMPv6Type
}

// writesUnsupported reports whether an action writes a field that reaches beyond the switch.
func writesUnsupported(a openflow.Action) bool {
	field, _ := written(a)
	return field == openflow.PktMark || field == openflow.TunID
}
