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
	items []item
	proto Match // the Ethernet type and IP protocol only
	terms []Term
	where []placed
}

// placed is a condition and the item that said it.
type placed struct {
	field Field
	all   text
}

// begin readies p for a match, keeping its buffers.
func (p *matchParser) begin(o *options) {
	p.o, p.items, p.proto.terms, p.terms, p.where = o, p.items[:0], p.proto.terms[:0], p.terms[:0], p.where[:0]
}

func (p *matchParser) add(it item) { p.items = append(p.items, it) }

func (p *matchParser) finish() (Match, error) {
	for _, it := range p.items {
		if err := p.protocol(it); err != nil {
			return Match{}, err
		}
	}
	for _, it := range p.items {
		if err := p.item(it); err != nil {
			return Match{}, err
		}
	}
	var m Match
	if len(p.terms) > 0 {
		m = Match{slices.Clone(p.terms)}
	}
	if err := m.Validate(); err != nil {
		return Match{}, p.locate(err.(*InvalidError))
	}
	return m, nil
}

// locate turns a fault of the match into one of the item that said it.
func (p *matchParser) locate(e *InvalidError) error {
	for _, w := range p.where {
		if w.field == e.field {
			return w.all.fault(e.Problem, e.Remedy)
		}
	}
	return text{e.Token, 0}.fault(e.Problem, e.Remedy)
}

// protocol takes note of items that settle the Ethernet type and the IP protocol.
func (p *matchParser) protocol(it item) error {
	if it.delim == 0 {
		k, ok := findProtocol(it.key.s)
		if !ok {
			return p.unknownWord(it)
		}
		if k.ethType != 0 {
			p.setProto(EthType, k.ethType)
		}
		if k.proto >= 0 {
			p.setProto(IPProto, uint64(k.proto))
		}
		return nil
	}
	switch it.key.s {
	case "dl_type", "eth_type":
		if n, err := it.value.uint(16); err == nil {
			p.setProto(EthType, n)
		}
	case "nw_proto", "ip_proto":
		if n, err := it.value.uint(8); err == nil {
			p.setProto(IPProto, n)
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

func findProtocol(word string) (protocol, bool) {
	if word == "eth" {
		return protocol{word, 0, -1}, true
	}
	i := slices.IndexFunc(protocols, func(k protocol) bool { return k.word == word })
	if i < 0 {
		return protocol{}, false
	}
	return protocols[i], true
}

func (p *matchParser) unknownWord(it item) error {
	lower := strings.ToLower(it.key.s)
	if _, ok := findProtocol(lower); ok {
		return it.all.fault("unknown keyword", "write "+lower)
	}
	if fieldNames[it.key.s] != nil {
		return it.all.fault(it.key.s+" has no value", "write "+it.key.s+"=VALUE without blanks")
	}
	if lower == "mpls" || lower == "mplsm" {
		return it.all.fault("MPLS is not supported", "")
	}
	return it.all.fault("unknown keyword", "see ovs-fields(7)")
}

func (p *matchParser) item(it item) error {
	if it.delim == 0 {
		return p.keyword(it)
	}
	value, err := it.assigned()
	if err != nil {
		return err
	}
	switch it.key.s {
	case "dl_vlan", "vlan_vid", "vlan_tci":
		return p.vlan(it, value)
	}
	name, bits, bracket := it.key.cut("[")
	if bracket {
		return p.bits(it, name, bits, value)
	}
	n, err := p.resolve(name, it)
	if err != nil {
		return err
	}
	if name.isHeader() {
		return it.all.fault("a header name needs brackets", "write "+name.s+"[]="+value.s)
	}
	if value.s == "*" {
		return p.put(it, n.field, Value{}, Value{}, n.field.Mask())
	}
	v, mask, err := p.o.fieldValue(n, value)
	if err != nil {
		return err
	}
	return p.put(it, n.field, v, mask, n.field.Mask())
}

func (p *matchParser) keyword(it item) error {
	k, _ := findProtocol(it.key.s)
	if k.ethType != 0 {
		if err := p.put(it, EthType, U64(k.ethType), Ones(16), Ones(16)); err != nil {
			return err
		}
	}
	if k.proto >= 0 {
		return p.put(it, IPProto, U64(uint64(k.proto)), Ones(8), Ones(8))
	}
	return nil
}

// bits reads "FIELD[0..3]=5". The value is a number whatever the field.
func (p *matchParser) bits(it item, name, bits, value text) error {
	n, err := p.resolve(name, it)
	if err != nil {
		return err
	}
	if n.field == VLANVID || n.field == VLANPCP {
		return it.all.fault("bits of it would match untagged frames", "write vlan_tci[FIRST..LAST]")
	}
	s, err := it.key.subfieldOf(n, bits)
	if err != nil {
		return err
	}
	v, err := value.integer(int(s.Width))
	if err != nil {
		return err
	}
	return p.put(it, n.field, v.Shl(int(s.Offset)), s.Mask(), s.Mask())
}

// resolve finds the field that a name means under the match's protocol.
func (p *matchParser) resolve(name text, it item) (fieldName, error) {
	names := fieldNames[name.s]
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
	return fieldName{}, it.all.fault(name.s+" needs a protocol", "add one of "+strings.Join(slices.Compact(want), ", "))
}

// put adds a condition. governs is the bits that the item speaks of, whether or not mask wants
// them: what was said of those before must be said again, since OVS forgets it.
func (p *matchParser) put(it item, f Field, v, mask, governs Value) error {
	if f.info().mask == maskNone && mask != f.Mask() && !mask.IsZero() {
		return it.all.fault(f.info().name+" takes no mask", "match all of it")
	}
	said := Match{p.terms}
	var room, room2 [4]Term
	terms := appendSpread(room[:0], f, v, mask)
	for _, t := range terms {
		old := said.Get(t.Field)
		if both := old.Mask.And(t.Mask); old.Value.And(both) != t.Value.And(both) {
			return it.all.fault("contradicts "+p.said(t.Field), "keep one")
		}
	}
	for _, t := range appendSpread(room2[:0], f, Value{}, governs) {
		if lost := said.Get(t.Field).Mask.And(t.Mask).AndNot(maskIn(terms, t.Field)); !lost.IsZero() {
			return it.all.fault("repeats "+p.said(t.Field)+" with another mask", "keep one")
		}
	}
	for _, t := range terms {
		p.where = append(p.where, placed{t.Field, it.all})
		p.terms = merge(p.terms, t)
	}
	return nil
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

// said is the item that spoke of f first.
func (p *matchParser) said(f Field) string {
	for _, w := range p.where {
		if w.field == f {
			return w.all.s
		}
	}
	return f.String()
}
