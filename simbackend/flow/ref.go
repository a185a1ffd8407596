package flow

import of "hpnn/datapath/openflow"

// Ref is a subfield whose place in a Key was worked out in advance. It reads and writes as GetSub
// and SetSub do, several times as fast unless the subfield is wider than 64 bits.
type Ref struct {
	sub   of.Subfield
	word  uint8
	shift uint8
	read  uint64 // the bits to read, shifted down; 0 if the slow way must be gone
	write uint64 // the bits to write, shifted down; 0 likewise
	span  uint64 // the bits of a subfield that begins in word+1 and ends in word, shifted down
}

// NewRef works out a subfield.
func NewRef(s of.Subfield) Ref {
	p, r := places[s.Field], Ref{sub: s}
	shift := int(p.shift) + int(s.Offset)
	mask := of.Ones(int(s.Width)).Lo
	switch {
	case p.width < 128:
		mask &= p.ones() >> s.Offset
		r.word = p.word
	case s.Offset >= 64:
		r.word, shift = p.word, shift-64
	case int(s.Offset)+int(s.Width) <= 64:
		r.word = p.word + 1
	default:
		if r.word = p.word; s.Offset > 0 && s.Width <= 64 {
			r.shift, r.span = s.Offset, mask
		}
		return r
	}
	r.shift, r.read = uint8(shift), mask
	if !partOfTag(s.Field) {
		r.write = mask
	}
	return r
}

// Get is the value of the subfield, its lowest bit as bit 0.
func (r *Ref) Get(k *Key) of.Value {
	if r.read != 0 {
		return of.Value{Lo: k[r.word] >> (r.shift & 63) & r.read}
	}
	if r.span != 0 {
		return of.Value{Lo: (k[r.word+1]>>(r.shift&63) | k[r.word]<<(64-r.shift&63)) & r.span}
	}
	return k.GetSub(r.sub)
}

// Set makes the subfield v, whose lowest bit is bit 0.
func (r *Ref) Set(k *Key, v of.Value) {
	if r.write != 0 {
		w := &k[r.word]
		*w = *w&^(r.write<<(r.shift&63)) | v.Lo&r.write<<(r.shift&63)
		return
	}
	if r.span != 0 {
		low, high := &k[r.word+1], &k[r.word]
		*low = *low&^(r.span<<(r.shift&63)) | v.Lo&r.span<<(r.shift&63)
		*high = *high&^(r.span>>(64-r.shift&63)) | v.Lo&r.span>>(64-r.shift&63)
		return
	}
	k.SetSub(r.sub, v)
}

// AddTo adds the bits that hold the subfield to a mask; of one that is not at one place, those of its words.
func (r *Ref) AddTo(mask *Key) {
	switch {
	case r.read != 0:
		mask[r.word] |= r.read << (r.shift & 63)
	case r.sub.Field != of.FieldNone:
		mask[r.word], mask[r.word+1] = ^uint64(0), ^uint64(0)
	}
}

// Field is the field that r is part of.
func (r *Ref) Field() of.Field { return r.sub.Field }

// Sub is the subfield.
func (r *Ref) Sub() of.Subfield { return r.sub }
