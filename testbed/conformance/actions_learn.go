package conformance

import (
	"hpnn/datapath/openflow"
)

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
		if cutsPCP(src) {
			src.Width = 12
		}
	}
	if src == openflow.Whole(openflow.TCPFlags) { // not all of them: see the exclusion learned-tcp-flags
		src.Width--
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
