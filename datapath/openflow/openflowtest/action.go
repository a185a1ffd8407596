package openflowtest

import (
	"hpnn/datapath/openflow"
)

// Kind is a kind of action: the name of its type.
type Kind string

// kinds makes a random action of each kind, for frames of a match; it may be invalid there.
var kinds map[Kind]func(*Gen, openflow.Match) openflow.Action

// order lists the kinds, since a map has no order.
var order []Kind

// Kinds lists every kind of action.
func Kinds() []Kind { return append([]Kind(nil), order...) }

func init() {
	kinds = map[Kind]func(*Gen, openflow.Match) openflow.Action{}
	add := func(k Kind, f func(*Gen, openflow.Match) openflow.Action) { kinds[k], order = f, append(order, k) }
	type m = openflow.Match
	type action = openflow.Action
	add("Output", func(g *Gen, _ m) action {
		if g.chance(3) {
			return openflow.Output{Port: pick(g, openflow.PortIn, openflow.PortNormal, openflow.PortFlood, openflow.PortAll, openflow.PortLocal, openflow.PortTable)}
		}
		return openflow.Output{Port: g.Port()}
	})
	add("OutputField", func(g *Gen, m m) action { return openflow.OutputField{Src: g.Subfield(m)} })
	add("Controller", func(g *Gen, _ m) action {
		return openflow.Controller{MaxLen: pick[uint16](g, 0xffff, 128, 0), ID: pick[uint16](g, 0, 7),
			Reason: pick(g, openflow.ReasonAction, openflow.ReasonNoMatch, openflow.ReasonInvalidTTL)}
	})
	add("Resubmit", func(g *Gen, _ m) action {
		return openflow.Resubmit{InPort: pick(g, openflow.PortIn, g.Port()), Table: pick(g, g.Table(), openflow.CurrentTable)}
	})
	add("GotoTable", func(g *Gen, _ m) action { return openflow.GotoTable{Table: g.Table()} })
	add("SetField", (*Gen).setField)
	add("Move", func(g *Gen, m m) action { return g.move(g.Subfield(m), g.Subfield(m)) })
	add("Push", func(g *Gen, m m) action { return openflow.Push{Src: g.Subfield(m)} })
	add("Pop", func(g *Gen, m m) action { return openflow.Pop{Dst: g.Subfield(m)} })
	add("SetVLANVID", func(g *Gen, _ m) action { return openflow.SetVLANVID{VID: uint16(g.Bits(12).Lo)} })
	add("SetVLANPCP", func(g *Gen, _ m) action { return openflow.SetVLANPCP{PCP: uint8(g.IntN(8))} })
	add("PushVLAN", func(g *Gen, _ m) action {
		return openflow.PushVLAN{EthType: pick[uint16](g, openflow.EthTypeVLAN, openflow.EthTypeQinQ)}
	})
	add("PopVLAN", func(*Gen, m) action { return openflow.PopVLAN{} })
	add("DecTTL", func(g *Gen, _ m) action {
		if g.chance(2) {
			return openflow.DecTTL{}
		}
		return openflow.DecTTL{Controllers: []uint16{uint16(1 + g.IntN(9)), uint16(g.IntN(3))}}
	})
	add("Multipath", (*Gen).multipath)
	add("CT", (*Gen).ct)
	add("CTClear", func(*Gen, m) action { return openflow.CTClear{} })
	add("Learn", (*Gen).learn)
	add("WriteMetadata", func(g *Gen, _ m) action {
		mask := g.Mask(64)
		return openflow.WriteMetadata{Value: g.Bits(64).And(mask).Lo, Mask: mask.Lo}
	})
	add("WriteActions", func(g *Gen, m m) action {
		wrap := func(a []action) action { return openflow.WriteActions{Actions: a} }
		return wrap(g.grow(m, 0, 3, wrap))
	})
	add("ClearActions", func(*Gen, m) action { return openflow.ClearActions{} })
	add("Clone", func(g *Gen, m m) action {
		wrap := func(a []action) action { return openflow.Clone{Actions: a} }
		return wrap(g.grow(m, 0, 3, wrap))
	})
	add("CheckPacketLarger", func(g *Gen, m m) action {
		dst := g.Subfield(m)
		dst.Width = 1
		return openflow.CheckPacketLarger{Length: uint16(g.Bits(16).Lo), Dst: dst}
	})
	add("FinTimeout", func(g *Gen, _ m) action {
		return openflow.FinTimeout{Idle: uint16(g.IntN(3)), Hard: uint16(g.IntN(3))}
	})
	add("Group", func(g *Gen, _ m) action { return openflow.Group{ID: uint32(g.IntN(9))} })
	add("Meter", func(g *Gen, _ m) action { return openflow.Meter{ID: uint32(1 + g.IntN(9))} })
	add("SetQueue", func(g *Gen, _ m) action { return openflow.SetQueue{ID: uint32(g.Bits(32).Lo)} })
	add("PopQueue", func(*Gen, m) action { return openflow.PopQueue{} })
	add("Enqueue", func(g *Gen, _ m) action { return openflow.Enqueue{Port: g.Port(), Queue: uint32(g.IntN(9))} })
	add("Conjunction", func(g *Gen, _ m) action {
		n := 2 + g.IntN(63)
		return openflow.Conjunction{ID: g.Uint32(), Clause: uint8(1 + g.IntN(n)), Clauses: uint8(n)}
	})
	add("Note", func(g *Gen, _ m) action {
		data := make([]byte, 6+8*g.IntN(3))
		for i := range data {
			data[i] = byte(g.Uint32())
		}
		return openflow.Note{Data: string(data)}
	})
	add("Exit", func(*Gen, m) action { return openflow.Exit{} })
}
