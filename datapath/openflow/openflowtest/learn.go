package openflowtest

import (
	"hpnn/datapath/openflow"
)

func (g *Gen) learn(m openflow.Match) openflow.Action {
	a := openflow.Learn{
		Table: g.Table(), Priority: pick[uint16](g, openflow.DefaultPriority, 5, 0),
		IdleTimeout: uint16(g.IntN(3)), HardTimeout: uint16(g.IntN(3)),
		FinIdleTimeout: uint16(g.IntN(2)), FinHardTimeout: uint16(g.IntN(2)),
		Cookie: g.Bits(64).Lo, SendFlowRem: g.chance(3), DeleteLearned: g.chance(4), Limit: uint32(g.IntN(3)),
	}
	if g.chance(3) {
		a.ResultDst = g.Part(openflow.Register(g.IntN(16)))
		a.ResultDst.Width = 1
	}
	if g.chance(2) {
		a.Specs = g.learnedProtocol(m)
	}
	for range g.IntN(6) {
		longer := a
		longer.Specs = append(a.Specs[:len(a.Specs):len(a.Specs)], g.spec(m))
		if valid(m, 0, longer) {
			a = longer
		}
	}
	return a
}

// learnedProtocol is conditions on the Ethernet type and IP protocol that m has, too.
func (g *Gen) learnedProtocol(m openflow.Match) []openflow.LearnSpec {
	var specs []openflow.LearnSpec
	for _, f := range []openflow.Field{openflow.EthType, openflow.IPProto} {
		if v, ok := m.Exact(f); ok {
			specs = append(specs, openflow.LearnMatchValue{Dst: openflow.Whole(f), Value: v})
		}
	}
	return specs
}

// spec is a random spec that may be invalid.
func (g *Gen) spec(m openflow.Match) openflow.LearnSpec {
	src, dst := g.Subfield(m), g.Subfield(m)
	width := min(src.Width, dst.Width)
	src.Width, dst.Width = width, width
	switch g.IntN(6) {
	case 0:
		return openflow.LearnMatchField{Dst: dst, Src: src}
	case 1:
		return openflow.LearnMatchField{Dst: src, Src: src}
	case 2:
		if dst.IsWhole() {
			return openflow.LearnMatchValue{Dst: dst, Value: g.Value(dst.Field)}
		}
		return openflow.LearnMatchValue{Dst: dst, Value: g.Bits(int(max(1, dst.Width)))}
	case 3:
		return openflow.LearnLoadField{Src: src, Dst: dst}
	case 4:
		return openflow.LearnLoadValue{Value: g.Bits(int(max(1, dst.Width))), Dst: dst}
	}
	return openflow.LearnOutput{Src: src}
}
