package conformance

import (
	"hpnn/datapath/openflow"
	"hpnn/datapath/openflow/openflowtest"
)

// actions makes a valid list for a flow of a table; most lists end by sending the frame on.
func (m *maker) actions(match openflow.Match, table openflow.TableID, n int) []openflow.Action {
	var list []openflow.Action
	add := func(a openflow.Action) {
		if a == nil {
			return
		}
		longer := append(list[:len(list):len(list)], a)
		if (openflow.Flow{Table: table, Match: match, Actions: longer}).Validate() == nil {
			list = longer
		}
	}
	m.fields = fieldsOf[protocolOf(match)]
	if len(m.fields) == 0 {
		m.fields = fieldsOf[protocol{}]
	}
	if m.chance(10) { // those of the connection tracker, too
		m.fields = openflow.Fields()
	}
	m.gen.Fields = m.fields
	for range m.IntN(n) {
		add(m.action(match, table))
	}
	if m.chance(88) {
		add(m.onward(match, table))
	}
	return list
}

// onward is an action by which the frame goes somewhere.
func (m *maker) onward(match openflow.Match, table openflow.TableID) openflow.Action {
	last := int(table) == m.tables-1
	switch {
	case !last && m.traits.tracking && m.chance(40):
		return m.ct(table)
	case !last && m.chance(45):
		return openflow.Resubmit{InPort: openflow.PortIn, Table: m.later(table)}
	case !last && m.chance(40):
		return openflow.GotoTable{Table: m.later(table)}
	}
	return m.output()
}

// later is a table behind the given one, or, rarely, any. With tracking that could not be: each of thousands of lookups
// might fork a frame that goes through thousands of lookups.
func (m *maker) later(table openflow.TableID) openflow.TableID {
	if m.traits.tracking && int(table) >= m.tables-1 {
		return openflow.TableID(m.tables) // empty
	}
	if int(table) >= m.tables-1 || !m.traits.tracking && m.chance(2) {
		return openflow.TableID(m.IntN(m.tables))
	}
	return table + 1 + openflow.TableID(m.IntN(m.tables-1-int(table)))
}

func (m *maker) output() openflow.Action {
	if m.chance(80) {
		return openflow.Output{Port: openflow.PortNo(1 + m.IntN(Ports))}
	}
	return openflow.Output{Port: pick(m, openflow.PortIn, openflow.PortIn, openflow.PortFlood, openflow.PortAll, openflow.PortLocal, openflow.PortNo(7))}
}

// action is a random action, perhaps not valid for the match.
func (m *maker) action(match openflow.Match, table openflow.TableID) openflow.Action {
	return weighted(m, []choice[func(openflow.Match, openflow.TableID) openflow.Action]{
		{20, func(openflow.Match, openflow.TableID) openflow.Action { return m.output() }},
		{30, m.setField},
		{12, m.loadRegister},
		{10, m.move},
		{6, m.push},
		{6, m.pop},
		{8, func(openflow.Match, openflow.TableID) openflow.Action { return openflow.DecTTL{} }},
		{8, m.multipath},
		{8, func(_ openflow.Match, t openflow.TableID) openflow.Action {
			return openflow.Resubmit{InPort: pick(m, openflow.PortIn, openflow.PortIn, m.gen.Port()), Table: m.later(t)}
		}},
		{3, m.outputField},
		{3, m.random("WriteMetadata")},
		{12, m.trackingAction},
		{8, m.learnAction},
		{8, m.vlanAction},
		{6, m.setAction},
		{4, m.clone},
		{3, m.rare},
	})(match, table)
}

// checked is an action if the case may hold it, else nil.
func (m *maker) checked(a openflow.Action) openflow.Action {
	t := m.traits
	switch {
	case writesUnsupported(a), blindlyWritesPartOfOp(a), t.nat && (writesPartOfAddress(a) || writesICMPType(a)),
		t.fragments && blindlyWritesPart(a), t.learning && writesTagless(a):
		return nil
	}
	return a
}

// subfield is a random run of bits of a field that frames of the match have.
func (m *maker) subfield() openflow.Subfield { return m.gen.Part(pick(m, m.fields...)) }

func (m *maker) setField(openflow.Match, openflow.TableID) openflow.Action {
	f := pick(m, m.fields...)
	mask := f.Mask()
	switch m.IntN(4) {
	case 0:
		mask = m.gen.Part(f).Mask()
	case 1:
		mask = m.gen.Mask(f.Width())
	}
	return m.checked(openflow.SetField{Field: f, Value: m.gen.Value(f).And(mask), Mask: mask})
}

func (m *maker) move(openflow.Match, openflow.TableID) openflow.Action {
	src, dst := m.subfield(), m.subfield()
	width := min(src.Width, dst.Width)
	src.Width, dst.Width = width, width
	return m.checked(openflow.Move{Src: src, Dst: dst})
}

func (m *maker) push(openflow.Match, openflow.TableID) openflow.Action {
	return openflow.Push{Src: m.subfield()}
}

func (m *maker) pop(openflow.Match, openflow.TableID) openflow.Action {
	return m.checked(openflow.Pop{Dst: m.subfield()})
}

// random is a random valid action of a kind.
func (m *maker) random(k openflowtest.Kind) func(openflow.Match, openflow.TableID) openflow.Action {
	return func(match openflow.Match, table openflow.TableID) openflow.Action {
		a := m.gen.Action(k, match, table)
		if a == nil {
			return nil
		}
		return m.checked(a)
	}
}

func (m *maker) register() openflow.Subfield {
	s := openflow.Whole(openflow.Register(m.IntN(4)))
	if m.chance(20) {
		s.Width = uint8(1 + m.IntN(32))
		s.Offset = uint8(m.IntN(33 - int(s.Width)))
	}
	return s
}

func (m *maker) loadRegister(openflow.Match, openflow.TableID) openflow.Action {
	dst := m.register()
	if m.chance(50) {
		dst = openflow.Whole(openflow.Register(m.IntN(2)))
	}
	return openflow.Load(openflow.U64(uint64(m.IntN(5))).And(openflow.Ones(int(dst.Width))), dst)
}

func (m *maker) multipath(match openflow.Match, table openflow.TableID) openflow.Action {
	if m.chance(30) {
		return m.random("Multipath")(match, table)
	}
	return openflow.Multipath{
		Fields: openflow.HashFields(m.IntN(7)), Algorithm: openflow.HashAlgorithm(m.IntN(4)),
		Basis: uint16(m.IntN(3)), Links: uint32(1 + m.IntN(5)), Dst: openflow.Whole(openflow.Register(m.IntN(4))),
	}
}

func (m *maker) outputField(openflow.Match, openflow.TableID) openflow.Action {
	if m.chance(30) {
		return openflow.OutputField{Src: openflow.Whole(openflow.InPort)}
	}
	return openflow.OutputField{Src: m.register()}
}

func (m *maker) vlanAction(match openflow.Match, table openflow.TableID) openflow.Action {
	if !m.traits.vlan {
		return nil
	}
	kinds := []openflowtest.Kind{"PushVLAN", "PopVLAN"}
	if tag := match.Get(openflow.VLANTCI); tag.Value.Lo&tag.Mask.Lo&openflow.VLANPresent != 0 {
		kinds = append(kinds, "SetVLANVID", "SetVLANPCP")
	}
	return m.random(pick(m, kinds...))(match, table)
}

func (m *maker) setAction(match openflow.Match, table openflow.TableID) openflow.Action {
	if !m.traits.actionSet {
		return nil
	}
	if m.chance(15) {
		return openflow.ClearActions{}
	}
	var list []openflow.Action
	for range 1 + m.IntN(3) {
		a := m.settable(match, table)
		if a == nil {
			continue
		}
		longer := append(list[:len(list):len(list)], a)
		if (openflow.Flow{Table: table, Match: match, Actions: []openflow.Action{openflow.WriteActions{Actions: longer}}}).Validate() == nil {
			list = longer
		}
	}
	return openflow.WriteActions{Actions: list}
}

// settable is a random action for the action set.
func (m *maker) settable(match openflow.Match, table openflow.TableID) openflow.Action {
	return weighted(m, []choice[func(openflow.Match, openflow.TableID) openflow.Action]{
		{40, func(openflow.Match, openflow.TableID) openflow.Action { return m.output() }},
		{25, m.setField},
		{8, m.move},
		{10, func(openflow.Match, openflow.TableID) openflow.Action { return openflow.DecTTL{} }},
		{10, m.vlanAction},
		{5, func(openflow.Match, openflow.TableID) openflow.Action { return openflow.CTClear{} }},
		{10, func(_ openflow.Match, t openflow.TableID) openflow.Action {
			return openflow.Resubmit{InPort: openflow.PortIn, Table: m.later(t)}
		}},
	})(match, table)
}

func (m *maker) clone(match openflow.Match, table openflow.TableID) openflow.Action {
	if m.traits.actionSet && m.chance(50) {
		return nil
	}
	return openflow.Clone{Actions: m.actions(match, table, 3)}
}

func (m *maker) rare(match openflow.Match, table openflow.TableID) openflow.Action {
	switch m.IntN(4) {
	case 0:
		return openflow.Exit{}
	case 1:
		return openflow.Set(openflow.InPort, openflow.U64(uint64(m.IntN(4))))
	case 2:
		return m.random("Controller")(match, table)
	}
	return m.random("Note")(match, table)
}
