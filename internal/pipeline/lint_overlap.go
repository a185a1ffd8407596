package pipeline

import (
	"encoding/binary"

	of "hpnn/datapath/openflow"
)

// A shape is a set of flows of one table and priority whose matches look at the same bits. No two of them overlap, as their
// values differ.
type shape struct {
	terms []of.Term // fields and masks; the values mean nothing
	flows []of.Flow
}

// overlaps finds flows of one table and priority that some frame matches both. Slots, hosts and the like have one shape each, so
// that few pairs of shapes are left to compare, and each pair takes time in proportion to its flows: two flows overlap exactly
// if they agree on the bits that both look at.
func (l *linter) overlaps(flows []of.Flow) {
	if alike(flows) {
		return
	}
	shapes := shapesOf(flows)
	for i, a := range shapes {
		for _, b := range shapes[:i] {
			l.overlap(a, b)
		}
	}
}

// alike reports whether all flows have one shape.
func alike(flows []of.Flow) bool {
	for i := 1; i < len(flows); i++ {
		if !sameBits(flows[i-1].Match.Terms(), flows[i].Match.Terms()) {
			return false
		}
	}
	return true
}

func shapesOf(flows []of.Flow) []shape {
	var shapes []shape
	last := 0
	for _, f := range flows {
		terms := f.Match.Terms()
		if len(shapes) == 0 || !sameBits(shapes[last].terms, terms) {
			last = 0
			for last < len(shapes) && !sameBits(shapes[last].terms, terms) {
				last++
			}
			if last == len(shapes) {
				shapes = append(shapes, shape{terms: terms})
			}
		}
		shapes[last].flows = append(shapes[last].flows, f)
	}
	return shapes
}

func sameBits(a, b []of.Term) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Field != b[i].Field || a[i].Mask != b[i].Mask {
			return false
		}
	}
	return true
}

// overlap reports for each flow of a one of b that it overlaps, if there is any.
func (l *linter) overlap(a, b shape) {
	common := commonBits(a.terms, b.terms)
	seen := make(map[string]of.Flow, len(b.flows))
	var key []byte
	for _, f := range b.flows {
		key = project(key[:0], f.Match, common)
		seen[string(key)] = f
	}
	for _, f := range a.flows {
		key = project(key[:0], f.Match, common)
		if other, ok := seen[string(key)]; ok {
			l.findings = append(l.findings, Finding{RuleOverlap, "a frame may match both flows, whose priority is the same", []of.Flow{other, f}})
		}
	}
}

// commonBits are the fields and masks that both look at.
func commonBits(a, b []of.Term) []of.Term {
	var common []of.Term
	for _, t := range a {
		for _, u := range b {
			if mask := t.Mask.And(u.Mask); t.Field == u.Field && !mask.IsZero() {
				common = append(common, of.Term{Field: t.Field, Mask: mask})
			}
		}
	}
	return common
}

// project appends the values of a match under the given masks.
func project(key []byte, m of.Match, masks []of.Term) []byte {
	for _, t := range masks {
		v := m.Get(t.Field).Value.And(t.Mask)
		key = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(key, v.Hi), v.Lo)
	}
	return key
}
