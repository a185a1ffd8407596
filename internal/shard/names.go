package shard

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"hpnn/datapath/openflow"
)

// names are the addresses and prefixes that a program writes out.
type names struct {
	set      map[uint32]bool
	prefixes []prefix // the longest first
}

// prefix is a set of addresses that share their first bits.
type prefix struct{ value, mask uint32 }

func (p prefix) holds(a uint32) bool { return a&p.mask == p.value }

// within reports whether all of p is in q.
func (p prefix) within(q prefix) bool { return q.mask&^p.mask == 0 && q.holds(p.value) }

// everywhere is the prefix that every address is in. It is the last of names.prefixes.
var everywhere = prefix{}

// namesOf collects the names of a program. It fails on a mask that is no prefix.
func namesOf(p openflow.Program) (names, error) {
	n := names{set: map[uint32]bool{0: true}} // what a frame has whose header is cut
	seen := map[prefix]bool{everywhere: true}
	for f := range p.All() {
		for _, t := range f.Match.Terms() {
			if t.Field != openflow.IPSrc && t.Field != openflow.IPDst {
				continue
			}
			q := prefixOf(t)
			switch {
			case q.mask == ^uint32(0):
				n.set[q.value] = true
			case bits.LeadingZeros32(^q.mask)+bits.TrailingZeros32(q.mask) != 32:
				return names{}, fmt.Errorf("%v: the mask %#x is no prefix", f, q.mask)
			default:
				seen[q] = true
			}
		}
		n.written(f.Actions)
	}
	for q := range seen {
		n.prefixes = append(n.prefixes, q)
	}
	slices.SortFunc(n.prefixes, func(a, b prefix) int {
		return cmp.Or(cmp.Compare(b.mask, a.mask), cmp.Compare(a.value, b.value))
	})
	return n, nil
}

// written adds the addresses that actions write.
func (n names) written(actions []openflow.Action) {
	for _, a := range actions {
		switch a := a.(type) {
		case openflow.SetField:
			if isAddress(a.Field) || isRegister(a.Field) && a.Mask == openflow.Ones(32) {
				n.set[uint32(a.Value.Lo)] = true
			}
		case openflow.CT:
			if a.NAT != nil {
				n.set[uint32(a.NAT.Addr[0].Lo)] = true
			}
		case openflow.Clone:
			n.written(a.Actions)
		case openflow.WriteActions:
			n.written(a.Actions)
		}
	}
}

// area is the longest prefix that an address is in, which is no name.
func (n names) area(a uint32) int {
	return slices.IndexFunc(n.prefixes, func(p prefix) bool { return p.holds(a) })
}

func isAddress(f openflow.Field) bool { return f == openflow.IPSrc || f == openflow.IPDst }

func isRegister(f openflow.Field) bool { return f >= openflow.Reg0 && f <= openflow.Reg15 }
