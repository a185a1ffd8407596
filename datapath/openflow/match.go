package openflow

import (
	"fmt"
	"slices"
)

// Term is one condition of a Match: the field's bits under Mask equal Value.
type Term struct {
	Field       Field
	Value, Mask Value
}

// Match is a conjunction of Terms, at most one a field, in print order, each Value
// zero outside its Mask. The zero Match matches every frame. A Match is immutable.
type Match struct{ terms []Term }

// Terms lists the conditions in print order. The caller must not change them.
func (m Match) Terms() []Term { return m.terms }

// With adds the condition that f is exactly v. See WithMask.
func (m Match) With(f Field, v Value) Match { return m.WithMask(f, v, f.Mask()) }

// WithMask adds the condition that f's bits under mask equal v's. A mask of zero adds
// nothing. A condition on bits that are already constrained replaces it. Registers
// wider than 32 bits are split; VLANVID and VLANPCP become bits of VLANTCI and demand a tag.
// Value and mask bits beyond the field's width are a programming error and panic.
func (m Match) WithMask(f Field, v, mask Value) Match {
	if max(v.BitLen(), mask.BitLen()) > f.Width() {
		panic(fmt.Sprintf("openflow: %v is %d bits wide, value or mask is not", f, f.Width()))
	}
	v = v.And(mask)
	switch {
	case f >= XXReg0 && f <= XXReg3:
		return m.split(Reg0+(f-XXReg0)*4, 4, v, mask)
	case f >= XReg0 && f <= XReg7:
		return m.split(Reg0+(f-XReg0)*2, 2, v, mask)
	case f == VLANVID:
		return m.merge(Term{VLANTCI, v.Or(U64(VLANPresent)), mask.Or(U64(VLANPresent))})
	case f == VLANPCP:
		return m.merge(Term{VLANTCI, v.Shl(13).Or(U64(VLANPresent)), mask.Shl(13).Or(U64(VLANPresent))})
	}
	return m.merge(Term{f, v, mask})
}

// split spreads a wide register over n 32-bit ones, the most significant first.
func (m Match) split(first Field, n int, v, mask Value) Match {
	for i := range n {
		shift := 32 * (n - 1 - i)
		m = m.merge(Term{first + Field(i), v.Shr(shift).And(Ones(32)), mask.Shr(shift).And(Ones(32))})
	}
	return m
}

func (m Match) merge(t Term) Match {
	if t.Mask.IsZero() {
		return m
	}
	i, found := slices.BinarySearchFunc(m.terms, t.Field, func(t Term, f Field) int { return int(t.Field) - int(f) })
	if !found {
		return Match{slices.Insert(slices.Clone(m.terms), i, t)}
	}
	old := m.terms[i]
	t.Value = t.Value.Or(old.Value.AndNot(t.Mask))
	t.Mask = t.Mask.Or(old.Mask)
	terms := slices.Clone(m.terms)
	terms[i] = t
	return Match{terms}
}

// Get returns the condition on f; its Mask is zero if there is none.
func (m Match) Get(f Field) Term {
	for _, t := range m.terms {
		if t.Field == f {
			return t
		}
	}
	return Term{Field: f}
}

// Exact returns f's value if the match fixes all of its bits.
func (m Match) Exact(f Field) (Value, bool) {
	t := m.Get(f)
	return t.Value, t.Mask == f.Mask()
}

// Equal reports whether m and o are the same conditions.
func (m Match) Equal(o Match) bool { return slices.Equal(m.terms, o.terms) }

// Compare orders matches: the one with the smaller first differing term first.
func (m Match) Compare(o Match) int {
	return slices.CompareFunc(m.terms, o.terms, func(a, b Term) int {
		if a.Field != b.Field {
			return int(a.Field) - int(b.Field)
		}
		if c := a.Value.Cmp(b.Value); c != 0 {
			return c
		}
		return b.Mask.Cmp(a.Mask)
	})
}

// Overlaps reports whether some frame satisfies both m and o.
func (m Match) Overlaps(o Match) bool {
	for _, t := range m.terms {
		u := o.Get(t.Field)
		both := t.Mask.And(u.Mask)
		if t.Value.And(both) != u.Value.And(both) {
			return false
		}
	}
	return true
}

// Covers reports whether every frame that satisfies o satisfies m: whether o is equal to or
// more specific than m, as loose modification and deletion select flows.
func (m Match) Covers(o Match) bool {
	for _, t := range m.terms {
		u := o.Get(t.Field)
		if t.Mask.AndNot(u.Mask) != (Value{}) || u.Value.And(t.Mask) != t.Value {
			return false
		}
	}
	return true
}
