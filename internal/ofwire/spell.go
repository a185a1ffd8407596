package ofwire

import of "hpnn/datapath/openflow"

// Spell is what actions of a flow with match m become in OpenFlow 1.5: a queue is set, used and reset, and
// a tag is pushed before it is written, unless the flow is known to have one. Other actions stay.
func Spell(m of.Match, actions []of.Action) []of.Action {
	if !respelled(actions) {
		return actions
	}
	return spell(actions, tagged(m))
}

// respelled reports whether any action, however deep, has another spelling.
func respelled(actions []of.Action) bool {
	for _, a := range actions {
		switch a := a.(type) {
		case of.Enqueue, of.SetVLANVID, of.SetVLANPCP:
			return true
		case of.Clone:
			if respelled(a.Actions) {
				return true
			}
		case of.WriteActions:
			if respelled(a.Actions) {
				return true
			}
		}
	}
	return false
}

func tagged(m of.Match) bool {
	t := m.Get(of.VLANTCI)
	return t.Mask.Lo&t.Value.Lo&of.VLANPresent != 0
}

func spell(actions []of.Action, tagged bool) (spelled []of.Action) {
	for _, a := range actions {
		switch a := a.(type) {
		case of.Enqueue:
			spelled = append(spelled, of.SetQueue{ID: a.Queue}, of.Output{Port: a.Port}, of.PopQueue{})
		case of.SetVLANVID:
			spelled = append(spellTag(spelled, tagged), of.Set(of.VLANVID, of.U64(uint64(a.VID))))
			tagged = true
		case of.SetVLANPCP:
			spelled = append(spellTag(spelled, tagged), of.Set(of.VLANPCP, of.U64(uint64(a.PCP))))
			tagged = true
		case of.PushVLAN:
			spelled, tagged = append(spelled, a), true
		case of.PopVLAN:
			spelled, tagged = append(spelled, a), false
		case of.Clone:
			spelled = append(spelled, of.Clone{Actions: spell(a.Actions, tagged)})
		case of.WriteActions:
			spelled = append(spelled, of.WriteActions{Actions: spell(a.Actions, tagged)})
		default:
			spelled = append(spelled, a)
		}
	}
	return spelled
}

func spellTag(spelled []of.Action, tagged bool) []of.Action {
	if tagged {
		return spelled
	}
	return append(spelled, of.PushVLAN{EthType: of.EthTypeVLAN})
}
