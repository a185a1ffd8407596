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
	if m.traits.nat && (writesPartOfAddress(a) || writesICMPType(a)) || writesUnsupported(a) || blindlyWritesPart(a) && m.traits.fragments ||
		writesTagless(a) && m.traits.learning {
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

// written is the field that an action writes.
func written(a openflow.Action) openflow.Field {
	switch a := a.(type) {
	case openflow.SetField:
		return a.Field
	case openflow.Move:
		return a.Dst.Field
	case openflow.Pop:
		return a.Dst.Field
	case openflow.Multipath:
		return a.Dst.Field
	}
	return openflow.FieldNone
}

// writesICMPType reports whether an action may make an ICMP message an error.
func writesICMPType(a openflow.Action) bool {
	f := written(a)
	return f == openflow.ICMPType || f == openflow.ICMPv6Type
}

// writesUnsupported reports whether an action writes a field that reaches beyond the switch.
func writesUnsupported(a openflow.Action) bool {
	f := written(a)
	return f == openflow.PktMark || f == openflow.TunID
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

func (m *maker) trackingAction(_ openflow.Match, table openflow.TableID) openflow.Action {
	switch {
	case !m.traits.tracking:
		return nil
	case m.chance(10):
		return openflow.CTClear{}
	}
	return m.ct(table)
}

// ct is a random ct() for a flow of a table.
func (m *maker) ct(table openflow.TableID) openflow.Action {
	a := openflow.CT{Commit: m.chance(50), Recirc: m.chance(70), Zone: uint16(pick(m, 0, 0, 1, 2))}
	if a.Recirc {
		a.Table = m.later(table)
	}
	a.Force = a.Commit && m.chance(8)
	if m.chance(8) {
		a.Zone, a.ZoneSrc = 0, openflow.Subfield{Field: openflow.Register(m.IntN(4)), Offset: 0, Width: 16}
	}
	if m.traits.nat && m.chance(60) {
		a.NAT = m.nat(a.Commit)
	}
	if a.Commit && m.chance(35) {
		a.Exec = m.exec()
	}
	return a
}

func (m *maker) nat(commit bool) *openflow.NAT {
	if !commit {
		return &openflow.NAT{}
	}
	n := openflow.NAT{Kind: pick(m, openflow.NATSrc, openflow.NATDst)}
	if m.chance(10) && n.Kind == openflow.NATSrc {
		return &n
	}
	to := openflow.Addr(pick(m, natTargets...))
	n.Addr = [2]openflow.Value{to, to}
	if m.chance(50) {
		port := pick(m, natPorts...)
		n.Port = [2]uint16{port, port}
	}
	return &n
}

func (m *maker) exec() []openflow.Action {
	var list []openflow.Action
	for range 1 + m.IntN(2) {
		f := pick(m, openflow.CTMark, openflow.CTLabel)
		if m.chance(30) {
			src, dst := m.register(), openflow.Whole(f)
			dst.Width, src.Width = min(src.Width, dst.Width), min(src.Width, dst.Width)
			list = append(list, openflow.Move{Src: src, Dst: dst})
			continue
		}
		mask := f.Mask()
		if m.chance(30) {
			mask = m.gen.Mask(f.Width())
		}
		list = append(list, openflow.SetField{Field: f, Value: m.gen.Value(f).And(mask), Mask: mask})
	}
	return list
}

// swaps are fields and what they are in the frame's answer.
var swaps = map[openflow.Field]openflow.Field{
	openflow.EthSrc: openflow.EthDst, openflow.EthDst: openflow.EthSrc, openflow.IPSrc: openflow.IPDst, openflow.IPDst: openflow.IPSrc,
	openflow.TCPSrc: openflow.TCPDst, openflow.TCPDst: openflow.TCPSrc, openflow.UDPSrc: openflow.UDPDst, openflow.UDPDst: openflow.UDPSrc,
	openflow.ARPSpa: openflow.ARPTpa,
}

// learnAction is a random learn for frames of a match, with a priority that no other flow has.
func (m *maker) learnAction(match openflow.Match, table openflow.TableID) openflow.Action {
	if !m.traits.learning {
		return nil
	}
	m.learns++
	a := openflow.Learn{Table: m.later(table), Priority: 100 + m.learns, Cookie: uint64(m.IntN(3))}
	if m.traits.time {
		a.IdleTimeout, a.HardTimeout = uint16(pick(m, 0, 2, 5)), uint16(pick(m, 0, 3, 9))
	}
	if m.chance(25) {
		a.Limit = uint32(1 + m.IntN(3))
		if m.chance(60) {
			a.ResultDst = openflow.Subfield{Field: openflow.Register(m.IntN(4)), Offset: uint8(m.IntN(32)), Width: 1}
		}
	}
	for _, f := range []openflow.Field{openflow.EthType, openflow.IPProto} {
		if v, ok := match.Exact(f); ok && m.chance(85) {
			a.Specs = append(a.Specs, openflow.LearnMatchValue{Dst: openflow.Whole(f), Value: v})
		}
	}
	for range 1 + m.IntN(4) {
		longer := a
		longer.Specs = append(a.Specs[:len(a.Specs):len(a.Specs)], m.learnSpec())
		if (openflow.Flow{Table: table, Match: match, Actions: []openflow.Action{longer}}).Validate() == nil {
			a = longer
		}
	}
	if m.chance(60) {
		src := openflow.Whole(openflow.InPort)
		if m.chance(15) {
			src = m.register()
		}
		a.Specs = append(a.Specs, openflow.LearnOutput{Src: src})
	}
	return a
}

// maskable reports whether a match, with nothing else in it, may be about a part of a field. It is strict about fields
// that need others.
func maskable(f openflow.Field) bool {
	return openflow.Match{}.WithMask(f, openflow.U64(1), openflow.U64(1)).Validate() == nil
}

func (m *maker) learnSpec() openflow.LearnSpec {
	src := openflow.Whole(pick(m, m.fields...))
	switch src.Field {
	case openflow.IPDSCP, openflow.IPECN, openflow.VLANPCP: // conditions on them are left out
		src.Field = openflow.EthSrc
		src.Width = 48
	}
	if src.Width > 1 && m.chance(20) && maskable(src.Field) {
		src.Width = uint8(1 + m.IntN(int(src.Width)-1))
		if src.Field == openflow.VLANTCI && cutsPCP(src) {
			src.Width = 12
		}
	}
	dst := src
	switch to, ok := swaps[src.Field]; {
	case ok && m.chance(60):
		dst.Field = to
		return openflow.LearnMatchField{Dst: dst, Src: src}
	case m.chance(40):
		return openflow.LearnMatchField{Dst: dst, Src: src}
	case m.chance(25):
		return openflow.LearnLoadValue{Dst: openflow.Whole(openflow.EthDst), Value: openflow.MAC([6]byte(pick(m, macs...)))}
	case m.chance(25):
		return openflow.LearnMatchValue{Dst: openflow.Whole(openflow.Register(m.IntN(4))), Value: openflow.U64(uint64(m.IntN(4)))}
	}
	dst = openflow.Whole(openflow.Register(m.IntN(4)))
	src.Width = min(src.Width, dst.Width)
	dst.Width = src.Width
	return openflow.LearnLoadField{Src: src, Dst: dst}
}
