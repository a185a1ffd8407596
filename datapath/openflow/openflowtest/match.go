package openflowtest

import (
	"hpnn/datapath/openflow"
)

// Match is a random valid match.
func (g *Gen) Match() openflow.Match {
	m := g.protocol()
	for range g.IntN(5) {
		m = g.condition(m)
	}
	return m
}

// protocol is a match of a random protocol, or of every frame.
func (g *Gen) protocol() openflow.Match {
	m := openflow.Match{}
	if g.chance(3) || !g.allowed(openflow.EthType) {
		return m
	}
	ethType := g.Value(openflow.EthType)
	m = m.With(openflow.EthType, ethType)
	isIP := ethType == openflow.U64(openflow.EthTypeIPv4) || ethType == openflow.U64(openflow.EthTypeIPv6)
	if !isIP {
		return m
	}
	if g.chance(3) {
		m = m.With(openflow.CTState, openflow.U64(uint64(openflow.CTTrk|openflow.CTEst)))
	}
	if g.chance(4) || !g.allowed(openflow.IPProto) {
		return m
	}
	m = m.With(openflow.IPProto, g.Value(openflow.IPProto))
	if n := m.With(openflow.ICMPv6Type, openflow.U64(uint64(135+g.IntN(2)))); n.Validate() == nil {
		return n
	}
	return m
}

// condition adds a condition to m if it finds one that m allows.
func (g *Gen) condition(m openflow.Match) openflow.Match {
	all := g.fields()
	for range 20 {
		f := pick(g, all...)
		if !m.Get(f).Mask.IsZero() || f == openflow.EthType || f == openflow.IPProto {
			continue
		}
		mask := f.Mask()
		if g.chance(2) {
			mask = g.Mask(f.Width())
		}
		if n := m.WithMask(f, g.Value(f), mask); n.Validate() == nil {
			return n
		}
	}
	return m
}

// MatchingField is a random field that m is sure to have, or FieldNone.
func (g *Gen) MatchingField(m openflow.Match) openflow.Field {
	all := g.fields()
	for range 50 {
		f := pick(g, all...)
		probe := openflow.Flow{Match: m, Actions: []openflow.Action{openflow.Push{Src: openflow.Whole(f)}}}
		if probe.Validate() == nil {
			return f
		}
	}
	return openflow.FieldNone
}

// Part is a random run of bits of f.
func (g *Gen) Part(f openflow.Field) openflow.Subfield {
	if f.Width() == 0 || g.chance(3) {
		return openflow.Whole(f)
	}
	width := 1 + g.IntN(f.Width())
	return openflow.Subfield{Field: f, Offset: uint8(g.IntN(f.Width() - width + 1)), Width: uint8(width)}
}

// Subfield is a random run of bits of a field that m is sure to have.
func (g *Gen) Subfield(m openflow.Match) openflow.Subfield { return g.Part(g.MatchingField(m)) }
