package openflowtest

import (
	"hpnn/datapath/openflow"
)

// Actions is a random list of at most n valid actions for frames of m in a flow of table.
func (g *Gen) Actions(m openflow.Match, table openflow.TableID, n int) []openflow.Action {
	var list []openflow.Action
	for range g.IntN(n + 1) {
		if longer := append(list[:len(list):len(list)], g.action(m)); valid(m, table, longer...) {
			list = longer
		}
	}
	return list
}

// Action is a random valid action of kind k in a flow of table with match m. After many
// failures it is nil: m does not allow such an action.
func (g *Gen) Action(k Kind, m openflow.Match, table openflow.TableID) openflow.Action {
	for range 100 {
		if a := kinds[k](g, m); valid(m, table, a) {
			return a
		}
	}
	return nil
}

func valid(m openflow.Match, table openflow.TableID, actions ...openflow.Action) bool {
	return openflow.Flow{Table: table, Match: m, Actions: actions}.Validate() == nil
}

// action is a random action that may be invalid.
func (g *Gen) action(m openflow.Match) openflow.Action {
	kind := pick(g, order...)
	if len(g.Kinds) > 0 {
		kind = pick(g, g.Kinds...)
	}
	return kinds[kind](g, m)
}

// grow makes a list of at most n actions that is valid when wrapped.
func (g *Gen) grow(m openflow.Match, table openflow.TableID, n int, wrap func([]openflow.Action) openflow.Action) []openflow.Action {
	var list []openflow.Action
	if g.depth >= 2 {
		return nil
	}
	g.depth++
	defer func() { g.depth-- }()
	for range 4 * n {
		if longer := append(list[:len(list):len(list)], g.action(m)); valid(m, table, wrap(longer)) {
			list = longer
		}
		if len(list) == n {
			break
		}
	}
	return list
}

func (g *Gen) move(src, dst openflow.Subfield) openflow.Action {
	width := min(src.Width, dst.Width)
	src.Width, dst.Width = width, width
	return openflow.Move{Src: src, Dst: dst}
}

func (g *Gen) setField(m openflow.Match) openflow.Action {
	f := g.MatchingField(m)
	mask := f.Mask()
	switch g.IntN(3) {
	case 0:
		mask = g.Part(f).Mask()
	case 1:
		if f.Width() > 0 {
			mask = g.Mask(f.Width())
		}
	}
	return openflow.SetField{Field: f, Value: g.Value(f).And(mask), Mask: mask}
}

func (g *Gen) multipath(m openflow.Match) openflow.Action {
	a := openflow.Multipath{
		Fields: openflow.HashFields(g.IntN(7)), Algorithm: openflow.HashAlgorithm(g.IntN(4)),
		Basis: uint16(g.Bits(16).Lo), Arg: uint32(g.Bits(32).Lo), Dst: g.Subfield(m),
	}
	a.Links = 1 + uint32(g.IntN(1<<min(16, a.Dst.Width)))
	return a
}
