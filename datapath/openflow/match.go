package openflow

import (
	"fmt"
	"iter"
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
	terms := slices.Clone(m.terms)
	for t := range spread(f, v.And(mask), mask) {
		terms = merge(terms, t)
	}
	return Match{terms}
}

// spread yields the conditions of a Match that f == v under mask amounts to.
func spread(f Field, v, mask Value) iter.Seq[Term] {
	return func(yield func(Term) bool) {
		switch {
		case mask.IsZero():
		case f >= XXReg0 && f <= XXReg3:
			split(Reg0+(f-XXReg0)*4, 4, v, mask, yield)
		case f >= XReg0 && f <= XReg7:
			split(Reg0+(f-XReg0)*2, 2, v, mask, yield)
		case f == VLANVID:
			yield(Term{VLANTCI, v.Or(U64(VLANPresent)), mask.Or(U64(VLANPresent))})
		case f == VLANPCP:
			yield(Term{VLANTCI, v.Shl(13).Or(U64(VLANPresent)), mask.Shl(13).Or(U64(VLANPresent))})
		default:
			yield(Term{f, v, mask})
		}
	}
}

// appendSpread appends what spread yields.
func appendSpread(terms []Term, f Field, v, mask Value) []Term {
	if f < VLANVID && !mask.IsZero() {
		return append(terms, Term{f, v, mask})
	}
	return slices.AppendSeq(terms, spread(f, v, mask))
}

// split spreads a wide register over n 32-bit ones, the most significant first.
func split(first Field, n int, v, mask Value, yield func(Term) bool) {
	for i := range n {
		shift := 32 * (n - 1 - i)
		t := Term{first + Field(i), v.Shr(shift).And(Ones(32)), mask.Shr(shift).And(Ones(32))}
		if !t.Mask.IsZero() && !yield(t) {
			return
		}
	}
}

// merge adds t to terms, which it may change, in canonical form.
func merge(terms []Term, t Term) []Term {
	t.canonise()
	if t.Mask.IsZero() {
		return terms
	}
	if n := len(terms); n == 0 || terms[n-1].Field < t.Field {
		return append(terms, t)
	}
	terms, i := place(terms, t)
	terms[i].canonise()
	return terms
}

// place adds t to terms, which it may change, and says where it is.
func place(terms []Term, t Term) ([]Term, int) {
	i := len(terms)
	for i > 0 && terms[i-1].Field >= t.Field {
		i--
	}
	if i == len(terms) || terms[i].Field != t.Field {
		return slices.Insert(terms, i, t), i
	}
	old := terms[i]
	terms[i].Value = t.Value.Or(old.Value.AndNot(t.Mask))
	terms[i].Mask = t.Mask.Or(old.Mask)
	return terms, i
}

// canonise gives one form to conditions that OVS keeps as one: it knows eight bits of
// ct_state, a frame that is no fragment is no later one, and an untagged frame has no priority.
func (t *Term) canonise() {
	switch t.Field {
	case CTState:
		switch {
		case t.Value.Lo > 0xff:
		case t.Mask.Lo&0xff == 0xff:
			t.Mask = Ones(32)
		default:
			t.Mask.Lo &= 0xff
		}
	case IPFrag:
		switch {
		case t.Mask.Lo == 1 && t.Value.Lo == 0:
			t.Mask = U64(3)
		case t.Mask.Lo == 2 && t.Value.Lo == 2:
			t.Value, t.Mask = U64(FragLater), U64(3)
		}
	case VLANTCI:
		if t.Value.Lo == 0 && t.Mask.Lo == 0xffff {
			t.Mask.Lo = 0x1fff
		}
	}
}

func (t Term) canonical() Term {
	t.canonise()
	return t
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
