package openflow

import (
	"slices"
	"strings"
)

// ParseMatch reads a match, such as "tcp,in_port=1,nw_dst=10.0.0.1,tp_dst=80". Fields
// without their prerequisites and contradictions are errors. Every fault is a *SyntaxError.
func ParseMatch(s string, opts ...Option) (Match, error) {
	p := matchParser{o: newOptions(opts)}
	if err := (text{s, 0}).each(func(it item) error { p.add(it); return nil }); err != nil {
		return Match{}, err
	}
	return p.finish()
}

// matchParser collects the items of a match; what a name means depends on all of them.
type matchParser struct {
	o     *options
	items []condition
	proto Match // the Ethernet type and IP protocol only
	terms []Term
	where []placed
	slab  []Term // room for the terms of matches to come
	chunk int    // how much room to make at a time, terms; 0: what a match needs
}

// condition is an item of a match and what its key means; nil if that is nothing, or depends on brackets.
type condition struct {
	item
	*meaning
}

// placed is a condition and the item that said it.
type placed struct {
	field Field
	by    *item
}

// begin readies p for a match, keeping its buffers.
func (p *matchParser) begin(o *options) {
	p.o, p.items, p.proto.terms, p.terms, p.where = o, p.items[:0], p.proto.terms[:0], p.terms[:0], p.where[:0]
}

func (p *matchParser) add(it item) { p.items = append(p.items, condition{it, meanings[it.key.s]}) }

func (p *matchParser) finish() (Match, error) {
	for i := range p.items {
		if err := p.protocol(&p.items[i]); err != nil {
			return Match{}, err
		}
	}
	for i := range p.items {
		if err := p.item(&p.items[i]); err != nil {
			return Match{}, err
		}
	}
	m := Match{p.lasting(p.terms)}
	if err := m.Validate(); err != nil {
		return Match{}, p.locate(err.(*InvalidError))
	}
	return m, nil
}

// lasting is a copy of terms, which may share its room with those of other matches.
func (p *matchParser) lasting(terms []Term) []Term {
	n := len(terms)
	if n == 0 {
		return nil
	}
	if cap(p.slab)-len(p.slab) < n {
		p.slab = make([]Term, 0, max(n, p.chunk))
	}
	p.slab = append(p.slab, terms...)
	end := len(p.slab)
	return p.slab[end-n : end : end]
}

// locate turns a fault of the match into one of the item that said it.
func (p *matchParser) locate(e *InvalidError) error {
	if it := p.said(e.field); it != nil {
		return it.all.fault(e.Problem, e.Remedy)
	}
	return text{e.Token, 0}.fault(e.Problem, e.Remedy)
}

// protocol takes note of items that settle the Ethernet type and the IP protocol.
func (p *matchParser) protocol(c *condition) error {
	switch {
	case c.delim == 0 && (c.meaning == nil || c.proto == nil):
		return unknownWord(c.item)
	case c.delim == 0:
		if c.proto.ethType != 0 {
			p.setProto(EthType, c.proto.ethType)
		}
		if c.proto.proto >= 0 {
			p.setProto(IPProto, uint64(c.proto.proto))
		}
	case c.meaning != nil && c.settles != FieldNone:
		if n, err := c.value.uint(c.settles.Width()); err == nil {
			p.setProto(c.settles, n)
		}
	}
	return nil
}

// setProto keeps the first; a second that differs is found when its condition is added.
func (p *matchParser) setProto(f Field, v uint64) {
	if _, known := p.proto.Exact(f); !known {
		p.proto.terms = merge(p.proto.terms, Term{f, U64(v), f.Mask()})
	}
}

func unknownWord(it item) error {
	lower := strings.ToLower(it.key.s)
	if m := meanings[lower]; m != nil && m.proto != nil {
		return it.all.fault("unknown keyword", "write "+lower)
	}
	if fieldsNamed(it.key.s) != nil {
		return it.all.fault(it.key.s+" has no value", "write "+it.key.s+"=VALUE without blanks")
	}
	if lower == "mpls" || lower == "mplsm" {
		return it.all.fault("MPLS is not supported", "")
	}
	return it.all.fault("unknown keyword", "see ovs-fields(7)")
}

func (p *matchParser) item(c *condition) error {
	if c.delim == 0 {
		return p.keyword(c)
	}
	value, err := c.assigned()
	switch {
	case err != nil:
		return err
	case c.meaning == nil:
		name, bits, bracket := c.key.cut("[")
		if !bracket {
			return unknownField(name)
		}
		return p.bits(c, name, bits, value)
	case c.tag:
		return p.vlan(c, value)
	}
	n, err := p.resolve(c.key, c.fields, c)
	if err != nil {
		return err
	}
	if c.header {
		return c.all.fault("a header name needs brackets", "write "+c.key.s+"[]="+value.s)
	}
	full := n.field.Mask()
	if value.s == "*" {
		return p.put(c, n.field, Value{}, Value{}, full)
	}
	v, mask, err := p.o.fieldValue(n, value)
	if err != nil {
		return err
	}
	return p.put(c, n.field, v, mask, full)
}

func (p *matchParser) keyword(c *condition) error {
	if c.proto.ethType != 0 {
		if err := p.put(c, EthType, U64(c.proto.ethType), Ones(16), Ones(16)); err != nil {
			return err
		}
	}
	if c.proto.proto >= 0 {
		return p.put(c, IPProto, U64(uint64(c.proto.proto)), Ones(8), Ones(8))
	}
	return nil
}

// bits reads "FIELD[0..3]=5". The value is a number whatever the field.
func (p *matchParser) bits(c *condition, name, bits, value text) error {
	n, err := p.resolve(name, fieldsNamed(name.s), c)
	if err != nil {
		return err
	}
	if n.field == VLANVID || n.field == VLANPCP {
		return c.all.fault("bits of it would match untagged frames", "write vlan_tci[FIRST..LAST]")
	}
	s, err := c.key.subfieldOf(n, bits)
	if err != nil {
		return err
	}
	v, err := value.integer(int(s.Width))
	if err != nil {
		return err
	}
	return p.put(c, n.field, v.Shl(int(s.Offset)), s.Mask(), s.Mask())
}

// resolve finds which of the fields that a name may have is meant under the match's protocol.
func (p *matchParser) resolve(name text, names []fieldName, c *condition) (fieldName, error) {
	switch len(names) {
	case 0:
		return fieldName{}, unknownField(name)
	case 1:
		return names[0], nil
	}
	var want []string
	for _, n := range names {
		if n.field.info().prereq.met(p.proto) {
			return n, nil
		}
		want = append(want, strings.TrimPrefix(prereqNeeds[n.field.info().prereq].problem, "needs "))
	}
	return fieldName{}, c.all.fault(name.s+" needs a protocol", "add one of "+strings.Join(slices.Compact(want), ", "))
}

// put adds a condition. governs is the bits that the item speaks of, whether or not mask wants
// them: what was said of those before must be said again, since OVS forgets it.
func (p *matchParser) put(c *condition, f Field, v, mask, governs Value) error {
	if f.info().mask == maskNone && mask != f.Mask() && !mask.IsZero() {
		return c.all.fault(f.info().name+" takes no mask", "match all of it")
	}
	if f < VLANVID && p.said(f) == nil { // nothing that it could contradict
		if !mask.IsZero() {
			p.want(c, Term{f, v, mask})
		}
		return nil
	}
	said := Match{p.terms}
	var room, room2 [4]Term
	terms := appendSpread(room[:0], f, v, mask)
	for _, t := range terms {
		old := said.Get(t.Field)
		if both := old.Mask.And(t.Mask); old.Value.And(both) != t.Value.And(both) {
			return c.all.fault("contradicts "+p.quote(t.Field), "keep one")
		}
	}
	for _, t := range appendSpread(room2[:0], f, Value{}, governs) {
		if lost := said.Get(t.Field).Mask.And(t.Mask).AndNot(maskIn(terms, t.Field)); !lost.IsZero() {
			return c.all.fault("repeats "+p.quote(t.Field)+" with another mask", "keep one")
		}
	}
	for _, t := range terms {
		p.want(c, t)
	}
	return nil
}

func (p *matchParser) want(c *condition, t Term) {
	p.where = append(p.where, placed{t.Field, &c.item})
	p.terms = merge(p.terms, t)
}

// maskIn is the mask of the term of f among terms, or zero.
func maskIn(terms []Term, f Field) Value {
	for _, t := range terms {
		if t.Field == f {
			return t.canonical().Mask
		}
	}
	return Value{}
}

// said is the item that spoke of f first, or nil.
func (p *matchParser) said(f Field) *item {
	for _, w := range p.where {
		if w.field == f {
			return w.by
		}
	}
	return nil
}

// quote is that item as it is written, if there is one.
func (p *matchParser) quote(f Field) string {
	if it := p.said(f); it != nil {
		return it.all.s
	}
	return f.String()
}
