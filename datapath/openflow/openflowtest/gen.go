// Package openflowtest makes random but valid matches, actions, flows, changes and
// programs for tests of whatever reads or executes them. The same seed makes the same values.
package openflowtest

import (
	"math/rand/v2"
	"slices"

	"hpnn/datapath/openflow"
)

// Gen makes random values. The zero value of each limit means no limit.
type Gen struct {
	*rand.Rand

	Ports  []openflow.PortNo                           // that flows speak of; default 1 to 9
	Tables openflow.TableID                            // flows are in tables below it; default 32
	Fields []openflow.Field                            // that matches and actions may use; default all
	Kinds  []Kind                                      // that action lists may hold; default all
	Values func(openflow.Field) (openflow.Value, bool) // a value to use instead of a random one

	depth int // of actions inside actions
}

// New makes a Gen without limits.
func New(seed uint64) *Gen { return &Gen{Rand: rand.New(rand.NewPCG(seed, 0))} }

// pick is a random element of list.
func pick[T any](g *Gen, list ...T) T { return list[g.IntN(len(list))] }

// chance is true once in n times.
func (g *Gen) chance(n int) bool { return g.IntN(n) == 0 }

// Port is a random ordinary port.
func (g *Gen) Port() openflow.PortNo {
	if len(g.Ports) > 0 {
		return pick(g, g.Ports...)
	}
	return openflow.PortNo(1 + g.IntN(9))
}

// Table is a random table.
func (g *Gen) Table() openflow.TableID {
	tables := int(g.Tables)
	if tables == 0 {
		tables = 32
	}
	return openflow.TableID(g.IntN(tables))
}

// Bits is a random value of at most width bits, often an extreme or a sparse one.
func (g *Gen) Bits(width int) openflow.Value {
	if width == 0 {
		return openflow.Value{}
	}
	ones := openflow.Ones(width)
	v := openflow.Value{Hi: g.Uint64(), Lo: g.Uint64()}.And(ones)
	switch g.IntN(6) {
	case 0:
		return openflow.Value{}
	case 1:
		return ones
	case 2:
		return openflow.U64(1).Shl(g.IntN(width))
	case 3:
		return v.And(openflow.U64(0xff))
	}
	return v
}

// Value is a random value of a field that a frame can have.
func (g *Gen) Value(f openflow.Field) openflow.Value {
	if g.Values != nil {
		if v, ok := g.Values(f); ok {
			return v
		}
	}
	switch f {
	case openflow.InPort:
		return openflow.U64(uint64(g.Port()))
	case openflow.ARPOp:
		return g.Bits(8)
	case openflow.IPFrag:
		return openflow.U64(pick[uint64](g, openflow.FragNo, openflow.FragFirst, openflow.FragLater))
	case openflow.CTState:
		return g.Bits(8)
	case openflow.EthType:
		return openflow.U64(pick[uint64](g, openflow.EthTypeIPv4, openflow.EthTypeIPv6, openflow.EthTypeARP, openflow.EthTypeRARP, 0x88cc, 0x05ff))
	case openflow.IPProto:
		return openflow.U64(pick[uint64](g, openflow.ProtoICMP, openflow.ProtoTCP, openflow.ProtoUDP, openflow.ProtoICMPv6, openflow.ProtoSCTP, 2, 0))
	}
	return g.Bits(f.Width())
}

// Mask is a random mask of width bits that is not zero, often full or a prefix.
func (g *Gen) Mask(width int) openflow.Value {
	switch g.IntN(4) {
	case 0, 1:
		return openflow.PrefixMask(1+g.IntN(width), width)
	case 2:
		return openflow.Ones(width)
	}
	if m := g.Bits(width); !m.IsZero() {
		return m
	}
	return openflow.U64(1)
}

// fields lists the fields that the limits allow.
func (g *Gen) fields() []openflow.Field {
	if len(g.Fields) > 0 {
		return g.Fields
	}
	return openflow.Fields()
}

// allowed reports whether the limits allow f.
func (g *Gen) allowed(f openflow.Field) bool { return slices.Contains(g.fields(), f) }
