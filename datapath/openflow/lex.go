package openflow

import (
	"fmt"
	"slices"
	"strings"
)

// text is a stretch of a line that knows where it stands, so that a fault in it has a column.
type text struct {
	s  string
	at int // bytes before it in the line
}

func (t text) from(i int) text { return text{t.s[i:], t.at + i} }

func (t text) to(i int) text { return text{t.s[:i], t.at} }

func (t text) slice(i, j int) text { return text{t.s[i:j], t.at + i} }

// skip takes the separators off the start.
func (t text) skip() text {
	i := 0
	for i < len(t.s) && isSeparator[t.s[i]] {
		i++
	}
	return t.from(i)
}

// trim takes the separators off both ends.
func (t text) trim() text {
	t = t.skip()
	n := len(t.s)
	for n > 0 && isSeparator[t.s[n-1]] {
		n--
	}
	return t.to(n)
}

// cut splits t around the first sep.
func (t text) cut(sep string) (before, after text, found bool) {
	i := strings.Index(t.s, sep)
	if i < 0 {
		return t, text{"", t.at + len(t.s)}, false
	}
	return t.to(i), t.from(i + len(sep)), true
}

// fault says what is wrong with t and what to write instead.
func (t text) fault(problem, remedy string) error {
	return &SyntaxError{Column: t.at + 1, Token: t.s, Problem: problem, Remedy: remedy}
}

func (t text) faultf(remedy, format string, args ...any) error {
	return t.fault(fmt.Sprintf(format, args...), remedy)
}

// isSeparator tells what stands between items, endsKey what ends a key, and endsValue what may end a
// value or keep a separator from doing so.
var isSeparator, endsKey, endsValue = set(", \t\r\n"), set(", \t\r\n:=("), set(", \t\r\n()[]\"")

func set(s string) (in [256]bool) {
	for i := range len(s) {
		in[s[i]] = true
	}
	return in
}

// item is one element of a list: "key", "key=value", "key:value" or "key(value)rest".
type item struct {
	key   text
	delim byte // 0, '=', ':' or '('
	value text
	rest  text // what follows the closing parenthesis, such as "->NXM_NX_REG0[0]"
	all   text
}

// next takes the first item off t. At the end of the list ok is false.
func (t text) next(it *item) (tail text, ok bool, err error) {
	t = t.skip()
	if t.s == "" {
		return t, false, nil
	}
	end, err := t.keyEnd()
	if err != nil {
		return t, false, err
	}
	*it = item{key: t.to(end)}
	if end < len(t.s) && !isSeparator[t.s[end]] {
		it.delim = t.s[end]
		end, err = it.takeValue(t, end)
		if err != nil {
			return t, false, err
		}
	}
	it.all = t.to(end)
	return t.from(end), true, nil
}

// keyEnd is the length of the key at the start of t, which may be in quotation marks.
func (t text) keyEnd() (int, error) {
	if t.s[0] == '"' {
		end := strings.IndexByte(t.s[1:], '"')
		if end < 0 {
			return 0, t.fault("quotation mark is not closed", `add "`)
		}
		return end + 2, nil
	}
	end := 0
	for end < len(t.s) && !endsKey[t.s[end]] {
		end++
	}
	return end, nil
}

// takeValue reads the value after the delimiter at t.s[i] and returns where the item ends.
func (it *item) takeValue(t text, i int) (int, error) {
	end, err := t.valueEnd(i)
	if err != nil {
		return 0, err
	}
	if it.delim != '(' {
		it.value = t.slice(i+1, end)
		return end, nil
	}
	last := matching(t.s[i:end]) + i
	it.value, it.rest = t.slice(i+1, last), t.slice(last+1, end)
	return end, nil
}

// valueEnd finds the separator that ends the value starting at t.s[i]. Separators inside
// brackets, parentheses and quotation marks do not count.
func (t text) valueEnd(i int) (int, error) {
	var room [8]int
	open := room[:0] // where the brackets that are not closed yet are, innermost last
	for ; i < len(t.s); i++ {
		c := t.s[i]
		switch {
		case !endsValue[c]:
		case c == '"':
			end := strings.IndexByte(t.s[i+1:], '"')
			if end < 0 {
				return 0, t.from(i).fault("quotation mark is not closed", `add "`)
			}
			i += end + 1
		case c == '(' || c == '[':
			open = append(open, i)
		case c == ')' || c == ']':
			if len(open) == 0 || closing(t.s[open[len(open)-1]]) != c {
				return 0, t.slice(i, i+1).fault("bracket closes nothing", "remove it")
			}
			open = open[:len(open)-1]
		case len(open) == 0 && isSeparator[c]:
			return i, nil
		}
	}
	if len(open) > 0 {
		last := open[len(open)-1]
		return 0, t.slice(last, last+1).fault("bracket is not closed", fmt.Sprintf("add %q", string(closing(t.s[last]))))
	}
	return len(t.s), nil
}

// closing is the bracket that closes c.
func closing(c byte) byte {
	if c == '(' {
		return ')'
	}
	return ']'
}

// matching is the index of the parenthesis that closes the one at s[0].
func matching(s string) int {
	depth, quoted := 0, false
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case quoted:
		case s[i] == '(':
			depth++
		case s[i] == ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	panic("openflow: unbalanced parentheses after balance check")
}

// each calls f for every item of t.
func (t text) each(f func(item) error) error {
	var it item
	for {
		tail, ok, err := t.next(&it)
		if err != nil || !ok {
			return err
		}
		if err := f(it); err != nil {
			return err
		}
		t = tail
	}
}

// flag refuses a value where none is meant.
func (it item) flag() error {
	if it.delim != 0 {
		return it.all.fault(it.key.s+" takes no value", "write "+it.key.s)
	}
	return nil
}

// assigned refuses anything but "key=value".
func (it item) assigned() (text, error) {
	switch {
	case it.delim == '=' && it.value.s != "":
		return it.value, nil
	case it.delim == ':':
		return text{}, it.all.fault("a colon does not assign", "write "+it.key.s+"="+it.value.s)
	}
	return text{}, it.all.fault(it.key.s+" has no value", "write "+it.key.s+"=VALUE without blanks")
}

// keys are the keys of a list so far, each of which may come once.
type keys []string

// again takes note of it's key and refuses one that was there before.
func (k *keys) again(it item) error {
	if slices.Contains(*k, it.key.s) {
		return it.again()
	}
	*k = append(*k, it.key.s)
	return nil
}

func (it item) again() error { return it.all.fault(it.key.s+" is given twice", "keep one") }
