package conformance

import (
	"hpnn/datapath/openflow"
	"hpnn/simbackend/flow"
)

// program makes the flows of a case: those of a theme, and random ones around them.
func (m *maker) program() []openflow.Flow {
	var flows []openflow.Flow
	if m.chance(50) {
		flows = m.theme()
	}
	for table := range openflow.TableID(m.tables) {
		n := 1 + m.IntN(4)
		if table == 0 {
			n += m.IntN(5)
		}
		for range n {
			if f, ok := m.flow(table, flows); ok {
				flows = append(flows, f)
			}
		}
		if m.traits.tracking && m.chance(70) {
			if f, ok := m.trackingFlow(table, flows); ok {
				flows = append(flows, f)
			}
		}
		if m.chance(75) {
			if f, ok := m.flowFor(table, 0, openflow.Match{}, flows); ok {
				flows = append(flows, f)
			}
		}
	}
	return flows
}

// flow makes a random flow of a table that does not overlap with another of its priority.
func (m *maker) flow(table openflow.TableID, others []openflow.Flow) (openflow.Flow, bool) {
	match := m.match(table)
	for range 5 {
		if f, ok := m.flowFor(table, uint16(1+m.IntN(12)), match, others); ok {
			return f, true
		}
	}
	return openflow.Flow{}, false
}

func (m *maker) flowFor(table openflow.TableID, priority uint16, match openflow.Match, others []openflow.Flow) (openflow.Flow, bool) {
	f := openflow.Flow{Table: table, Priority: priority, Match: match}
	if overlaps(f, others) {
		return f, false
	}
	f.Actions = m.actions(match, table, 6)
	if m.chance(15) {
		f.Cookie = uint64(m.IntN(4))
	}
	if m.traits.time && m.chance(20) {
		f.IdleTimeout, f.HardTimeout = uint16(m.IntN(6)), uint16(m.IntN(12))
	}
	if m.chance(3) {
		f.Flags, f.Importance = pick(m, openflow.CheckOverlap, openflow.ResetCounts, openflow.SendFlowRem), uint16(m.IntN(3))
	}
	return f, f.Validate() == nil
}

// trackingFlow is a flow for many IP packets that tracks them.
func (m *maker) trackingFlow(table openflow.TableID, others []openflow.Flow) (openflow.Flow, bool) {
	match := openflow.Match{}.With(openflow.EthType, openflow.U64(openflow.EthTypeIPv4))
	if m.chance(40) {
		match = match.With(openflow.IPProto, openflow.U64(pick[uint64](m, openflow.ProtoTCP, openflow.ProtoUDP, openflow.ProtoICMP)))
	}
	if table > 0 && m.chance(50) {
		match = m.trackingMatch(match)
	}
	f, ok := m.flowFor(table, uint16(13+m.IntN(4)), match, others)
	if !ok {
		return f, false
	}
	f.Actions = []openflow.Action{m.ct(table)}
	if m.chance(70) {
		f.Actions = append(f.Actions, m.actions(match, table, 2)...)
	}
	return f, f.Validate() == nil
}

// overlaps reports whether a frame could match f and another flow of its table and priority.
func overlaps(f openflow.Flow, others []openflow.Flow) bool {
	for _, o := range others {
		if o.Table == f.Table && o.Priority == f.Priority && o.Match.Overlaps(f.Match) {
			return true
		}
	}
	return false
}

// match makes a match that one of the samples satisfies, as far as it is about what frames bring along.
func (m *maker) match(table openflow.TableID) openflow.Match {
	k := pick(m, m.keys...)
	match := openflow.Match{}
	if m.chance(85) {
		match = m.protocol(k)
	}
	if m.chance(15) {
		match = m.with(match, openflow.InPort, k.Get(openflow.InPort))
	}
	for range max(0, m.IntN(6)-2) {
		f := m.field(&k)
		match = m.with(match, f, m.near(&k, f))
	}
	if table > 0 && m.chance(25) {
		match = m.with(match, openflow.Register(m.IntN(2)), openflow.U64(uint64(m.IntN(3))))
	}
	if m.traits.tracking && m.chance(10+25*min(1, int(table))) {
		match = m.trackingMatch(match)
	}
	if m.traits.vlan && m.chance(30) {
		match = m.with(match, openflow.VLANTCI, openflow.U64(0x1000))
	}
	return match
}

// near is the sample's value of a field, or that of another, or a random one.
func (m *maker) near(k *flow.Key, f openflow.Field) openflow.Value {
	if v, ok := m.constant(f); ok {
		return v
	}
	if m.chance(85) {
		return k.Get(f)
	}
	return m.gen.Value(f)
}

// field is a random field that the sample has.
func (m *maker) field(k *flow.Key) openflow.Field {
	for range 30 {
		if f := pick(m, matchable...); flow.Present(k, f) {
			return f
		}
	}
	return openflow.FieldNone
}

// matchable lists the fields to match on, besides those of the protocol and of connections.
var matchable = matchableFields()

func matchableFields() (list []openflow.Field) {
	for _, f := range openflow.Fields() {
		switch {
		case f == openflow.EthType, f == openflow.IPProto, f == openflow.InPort, f >= openflow.CTState && f <= openflow.CTLabel,
			f >= openflow.Reg4 && f <= openflow.Reg15, f >= openflow.XReg0, f == openflow.TunID, f == openflow.PktMark:
		default:
			list = append(list, f)
		}
	}
	return list
}

// trackingMatch adds conditions on what the connection tracker said.
func (m *maker) trackingMatch(match openflow.Match) openflow.Match {
	var value, mask uint32
	if m.chance(85) {
		value, mask = openflow.CTTrk, openflow.CTTrk
	}
	for range m.IntN(2) + m.IntN(2) {
		bit := uint32(1) << m.IntN(8)
		mask |= bit
		if m.chance(65) {
			value |= bit
		}
	}
	if mask != 0 {
		match = match.WithMask(openflow.CTState, openflow.U64(uint64(value)), openflow.U64(uint64(mask)))
	}
	if m.chance(25) {
		f := pick(m, openflow.CTMark, openflow.CTLabel, openflow.CTZone, openflow.CTNwProto)
		match = m.with(match, f, m.gen.Value(f))
	}
	if m.chance(20) {
		k := pick(m, m.keys...)
		match = m.with(match, openflow.CTNwSrc, k.Get(openflow.IPSrc))
		match = m.with(match, openflow.CTTpDst, k.Get(openflow.TCPDst))
	}
	return match
}

// protocol is a match of the sample's Ethernet type and, often, IP protocol.
func (m *maker) protocol(k flow.Key) openflow.Match {
	match := openflow.Match{}.With(openflow.EthType, k.Get(openflow.EthType))
	if flow.Present(&k, openflow.IPProto) && m.chance(75) {
		match = match.With(openflow.IPProto, k.Get(openflow.IPProto))
	}
	if flow.Present(&k, openflow.ICMPv6Type) && m.chance(75) {
		match = m.with(match, openflow.ICMPv6Type, k.Get(openflow.ICMPv6Type))
		match = m.with(match, openflow.ICMPv6Code, k.Get(openflow.ICMPv6Code))
	}
	return match
}

// with adds a condition on a field if that makes a valid match; most masks are full.
func (m *maker) with(match openflow.Match, f openflow.Field, v openflow.Value) openflow.Match {
	if f == openflow.FieldNone || !match.Get(f).Mask.IsZero() {
		return match
	}
	mask := f.Mask()
	if m.chance(30) && f != openflow.EthType && f != openflow.IPProto {
		mask = m.gen.Mask(f.Width())
	}
	if longer := match.WithMask(f, v, mask); longer.Validate() == nil {
		return longer
	}
	return match
}
