package openflow

// quick reads the line of a flow to add up to its actions, if every part of it is plain. What it does not
// know, or finds at fault, it leaves to conditions, which reads the line from the start.
func (p *flowParser) quick(t text) (actions text, ok bool) {
	if p.mod.Command != Add {
		return text{}, false
	}
	if actions, ok = p.plainLine(t); !ok {
		p.begin(p.o, Add)
	}
	return actions, ok
}

func (p *flowParser) plainLine(t text) (actions text, ok bool) {
	for place := 0; ; place++ {
		t = t.skip()
		end := 0
		for end < len(t.s) && !endsKey[t.s[end]] {
			end++
		}
		m := p.meaning(place, t.s[:end])
		switch {
		case m == nil || end == len(t.s):
			return t, false
		case t.s[end] != '=':
			if !isSeparator[t.s[end]] || !p.plainWord(m) {
				return t, false
			}
			t = t.from(end)
		case m.actions:
			p.mod.Flow.Match, ok = p.match.plainMatch()
			return t.from(end + 1), ok
		default:
			value, tail, ok := t.from(end + 1).plainValue()
			if !ok || !p.plainItem(m, value) {
				return t, false
			}
			t = tail
		}
	}
}

// word is a key and what it means.
type word struct {
	key string
	*meaning
}

// meaning finds what a key means. Lines often have the same keys in the same places.
func (p *flowParser) meaning(place int, key string) *meaning {
	if place == len(p.words) {
		p.words = append(p.words, word{})
	}
	w := &p.words[place]
	if w.key != key {
		*w = word{key, meanings[key]}
	}
	return w.meaning
}

// plainValue takes a value without brackets and quotation marks off the start of t.
func (t text) plainValue() (value, tail text, ok bool) {
	end := 0
	for end < len(t.s) && !endsValue[t.s[end]] {
		end++
	}
	return t.to(end), t.from(end), end > 0 && (end == len(t.s) || isSeparator[t.s[end]])
}

// plainWord takes in a word that stands alone.
func (p *flowParser) plainWord(m *meaning) bool {
	switch {
	case m.flow != nil && m.flow.flag != 0:
		p.mod.Flow.Flags |= m.flow.flag
		return p.first(m.flow)
	case m.proto != nil:
		return (m.proto.ethType == 0 || p.match.plainTerm(EthType, U64(m.proto.ethType), Ones(16))) &&
			(m.proto.proto < 0 || p.match.plainTerm(IPProto, U64(uint64(m.proto.proto)), Ones(8)))
	}
	return false
}

// plainItem takes in a key, of which the meaning is given, with a value.
func (p *flowParser) plainItem(m *meaning, value text) bool {
	if m.flow != nil {
		return m.flow.value != nil && p.first(m.flow) && m.flow.value(p, value) == nil
	}
	n, ok := p.match.plainField(m)
	if !ok {
		return false
	}
	v, mask, err := p.o.fieldValue(n, value)
	return err == nil && p.match.plainTerm(n.field, v, mask)
}

// first takes note of a key and reports whether it goes with an add and was not there before.
func (p *flowParser) first(k *flowKey) bool {
	again := p.seen&k.bit != 0
	p.seen |= k.bit
	return !again && k.allowed(Add)
}

// plainField is the field that a name means whatever may follow.
func (p *matchParser) plainField(m *meaning) (fieldName, bool) {
	if m.header || m.tag {
		return fieldName{}, false
	}
	if len(m.fields) == 1 {
		return m.fields[0], true
	}
	for _, n := range m.fields {
		if n.field.info().prereq.met(Match{p.terms}) {
			return n, true
		}
	}
	return fieldName{}, false
}

// plainTerm adds a condition unless it takes a closer look at it.
func (p *matchParser) plainTerm(f Field, v, mask Value) bool {
	if f >= VLANVID || f.info().mask == maskNone && mask != f.Mask() {
		return false
	}
	for i := range p.terms {
		if p.terms[i].Field == f {
			return false
		}
	}
	p.terms = merge(p.terms, Term{f, v, mask})
	return true
}

func (p *matchParser) plainMatch() (Match, bool) {
	if (Match{p.terms}).Validate() != nil {
		return Match{}, false
	}
	return Match{p.lasting(p.terms)}, true
}
