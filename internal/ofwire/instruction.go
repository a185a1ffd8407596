package ofwire

import of "hpnn/datapath/openflow"

// Types of instructions (section 7.2.5), in the order in which they are executed.
const (
	insGoto     = 1
	insMetadata = 2
	insWrite    = 3
	insApply    = 4
	insClear    = 5
)

// insOrder is the place of each instruction in a list of actions.
var insOrder = [...]uint8{insApply: 0, insClear: 1, insWrite: 2, insMetadata: 3, insGoto: 4}

func instructionOf(a of.Action) uint16 {
	switch a.(type) {
	case of.ClearActions:
		return insClear
	case of.WriteActions:
		return insWrite
	case of.WriteMetadata:
		return insMetadata
	case of.GotoTable:
		return insGoto
	}
	return insApply
}

// instructions appends a flow's actions: all that are executed at once, then the others.
func (w *writer) instructions(actions []of.Action) {
	n := 0
	for n < len(actions) && instructionOf(actions[n]) == insApply {
		n++
	}
	if n > 0 {
		start := w.begin(insApply)
		w.u32(0)
		w.actions(actions[:n])
		w.finish(start)
	}
	last := uint16(insApply)
	for _, a := range actions[n:] {
		kind := instructionOf(a)
		if insOrder[kind] <= insOrder[last] {
			w.fail(unsupported(a, "is out of order"))
			return
		}
		last = kind
		w.instruction(kind, a)
	}
}

func (w *writer) instruction(kind uint16, a of.Action) {
	start := w.begin(kind)
	switch a := a.(type) {
	case of.GotoTable:
		w.u8(uint8(a.Table))
	case of.WriteMetadata:
		w.u32(0)
		w.u64(a.Value)
		w.u64(a.Mask)
	case of.WriteActions:
		w.u32(0)
		w.actions(a.Actions)
		if len(a.Actions) == 0 {
			w.fail(unsupported(a, "Open vSwitch drops an empty action set"))
		}
	default:
		w.u32(0)
	}
	w.finish(start)
}

// instructions is a flow's actions, in their order.
func (r *reader) instructions() []of.Action {
	var apply []of.Action
	var others [len(insOrder)]of.Action
	var seen [len(insOrder)]bool
	count := 0
	for len(r.b) > 0 {
		kind, body := r.part()
		if r.err == nil && (kind < insGoto || kind > insClear || seen[kind]) {
			r.fail(foreign("instruction %d is not supported here", kind))
		}
		if r.err != nil {
			return nil
		}
		seen[kind] = true
		if kind == insApply {
			body.skip(4)
			apply = body.actions()
		} else {
			others[insOrder[kind]] = body.instruction(kind)
			count++
		}
		body.rest()
		r.join(body)
	}
	if count == 0 {
		return apply
	}
	all := make([]of.Action, 0, len(apply)+count)
	all = append(all, apply...)
	for _, a := range others {
		if a != nil {
			all = append(all, a)
		}
	}
	return all
}

func (r *reader) instruction(kind uint16) of.Action {
	if kind == insGoto {
		return of.GotoTable{Table: of.TableID(r.u8())}
	}
	r.skip(4)
	switch kind {
	case insMetadata:
		return of.WriteMetadata{Value: r.u64(), Mask: r.u64()}
	case insWrite:
		return of.WriteActions{Actions: r.actions()}
	}
	return of.ClearActions{}
}
