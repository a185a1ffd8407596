package openflow

import "strings"

// flags reads named bits: "+syn-ack" (those bits), "syn|ack" (all bits), or numbers with
// or without a mask. known is every bit that has a name.
func (t text) flags(names []bitName, width int) (v, mask Value, err error) {
	known := Value{}
	for _, n := range names {
		known.Lo |= n.bit
	}
	switch {
	case t.s == "":
		return v, mask, t.fault("flags are missing", "write them as +"+names[0].name)
	case t.s[0] == '+' || t.s[0] == '-':
		return t.signedFlags(names)
	case t.s[0] >= '0' && t.s[0] <= '9':
		v, mask, err = t.masked(integerOf(width), integerOf(width), known)
	default:
		v, err = t.flagList(names)
		mask = known
	}
	if err == nil && v.Or(mask).AndNot(known) != (Value{}) {
		return v, mask, t.fault("unknown flags", "know "+string(appendHex(nil, known, 1)))
	}
	return v, mask, err
}

// integerOf is text.integer with its width fixed.
func integerOf(width int) func(text) (Value, error) {
	return func(t text) (Value, error) { return t.integer(width) }
}

func (t text) signedFlags(names []bitName) (v, mask Value, err error) {
	for rest := t; rest.s != ""; {
		end := 1 + strings.IndexAny(rest.s[1:], "+-")
		if end == 0 {
			end = len(rest.s)
		}
		if rest.to(end).s == "-[Unknown]" { // OVS prints bits without a name so
			rest = rest.from(end)
			continue
		}
		bit, err := rest.slice(1, end).flagBit(names)
		if err != nil {
			return v, mask, err
		}
		if mask.Lo&bit != 0 {
			return v, mask, rest.to(end).fault("flag is given twice", "keep one")
		}
		mask.Lo |= bit
		if rest.s[0] == '+' {
			v.Lo |= bit
		}
		rest = rest.from(end)
	}
	return v, mask, nil
}

func (t text) flagList(names []bitName) (v Value, err error) {
	for rest, more := t, true; more; {
		var word text
		word, rest, more = rest.cut("|")
		bit, err := word.flagBit(names)
		if err != nil {
			return v, err
		}
		v.Lo |= bit
	}
	return v, nil
}

func (t text) flagBit(names []bitName) (uint64, error) {
	for _, n := range names {
		if n.name == t.s {
			return n.bit, nil
		}
	}
	known := make([]string, len(names))
	for i, n := range names {
		known[i] = n.name
	}
	return 0, t.fault("unknown flag", "one of "+strings.Join(known, " "))
}

// frag reads one of the words of nw_frag.
func (t text) frag() (v, mask Value, err error) {
	for _, n := range fragNames {
		if n.name == t.s {
			return U64(n.value), U64(n.mask), nil
		}
	}
	return v, mask, t.fault("unknown kind of fragment", "one of no yes first later not_later")
}

// masked reads a value and, after a slash, its mask. Without one the mask is full.
func (t text) masked(value, mask func(text) (Value, error), full Value) (v, m Value, err error) {
	left, right, slash := t.cut("/")
	if v, err = value(left); err != nil {
		return v, m, err
	}
	m = full
	if slash {
		if m, err = mask(right); err != nil {
			return v, m, err
		}
	}
	return v, m, nil
}
