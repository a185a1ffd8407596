package scenarios

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// args are the words of a step behind the command. The methods take them one by one and remember the
// first thing that is wrong, which done returns.
type args struct {
	words   []string
	options map[string]string
	input   string // the indented lines
	err     error
}

var (
	option = regexp.MustCompile(`^([a-z][a-z-]*)=(.*)$`)
	times  = regexp.MustCompile(`^x([0-9]+)$`)
)

// split takes a line apart: words are separated by blanks, and "quotes hold them together".
func split(line string) (words []string, err error) {
	for {
		line = strings.TrimLeft(line, " \t")
		if line == "" {
			return words, nil
		}
		end := strings.IndexAny(line, " \t")
		if line[0] == '"' {
			text, rest, ok := strings.Cut(line[1:], `"`)
			if !ok {
				return nil, fmt.Errorf("the quote in %s does not end", line)
			}
			words, line = append(words, text), rest
			continue
		}
		if end < 0 {
			end = len(line)
		}
		words, line = append(words, line[:end]), line[end:]
	}
}

// newArgs sorts words into options, key=value, and others.
func newArgs(words []string) *args {
	a := &args{options: map[string]string{}}
	for _, w := range words {
		if m := option.FindStringSubmatch(w); m != nil {
			a.options[m[1]] = m[2]
		} else {
			a.words = append(a.words, w)
		}
	}
	return a
}

func (a *args) fail(format string, values ...any) {
	if a.err == nil {
		a.err = fmt.Errorf(format, values...)
	}
}

// done is what was wrong, words and options that nobody took included.
func (a *args) done() error {
	switch {
	case a.err != nil:
	case len(a.words) > 0:
		a.fail("%q is too much", a.words[0])
	case len(a.options) > 0:
		a.fail("there is no option %s=", slices.Min(slices.Collect(maps.Keys(a.options))))
	}
	return a.err
}

// word takes the next word.
func (a *args) word(what string) string {
	if len(a.words) == 0 {
		a.fail("%s is missing", what)
		return ""
	}
	w := a.words[0]
	a.words = a.words[1:]
	return w
}

// rest takes all words that are left.
func (a *args) rest() []string {
	words := a.words
	a.words = nil
	return words
}

// has takes a word wherever it is, and reports whether it was there.
func (a *args) has(word string) bool {
	i := slices.Index(a.words, word)
	if i >= 0 {
		a.words = slices.Delete(a.words, i, i+1)
	}
	return i >= 0
}

// times takes xN, 1 if it is not there.
func (a *args) times() int {
	for i, w := range a.words {
		if m := times.FindStringSubmatch(w); m != nil {
			a.words = slices.Delete(a.words, i, i+1)
			return a.parseInt(w, m[1], 1, 1_000_000)
		}
	}
	return 1
}

func (a *args) parseInt(what, text string, least, most int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		a.fail("%s %q: give a number from %d to %d", what, text, least, most)
	}
	return n
}

// option takes the value of an option; given is false if it is not there.
func (a *args) option(key string) (value string, given bool) {
	value, given = a.options[key]
	delete(a.options, key)
	return value, given
}

// number takes an option that is a number, 0 if it is not there.
func (a *args) number(key string, least, most int) int {
	if v, ok := a.option(key); ok {
		return a.parseInt(key, v, least, most)
	}
	return 0
}

// duration takes an option that is a time, 0 if it is not there.
func (a *args) duration(key string) time.Duration {
	if v, ok := a.option(key); ok {
		return a.parseDuration(key, v)
	}
	return 0
}

// time takes a word that is a time.
func (a *args) time(what string) time.Duration { return a.parseDuration(what, a.word(what)) }

// span takes two words, the first of which is given: "within 8s".
func (a *args) span(word string) (d time.Duration, given bool) {
	i := slices.Index(a.words, word)
	if i < 0 || i+1 >= len(a.words) {
		return 0, false
	}
	d = a.parseDuration(word, a.words[i+1])
	a.words = slices.Delete(a.words, i, i+2)
	return d, true
}

func (a *args) parseDuration(what, text string) time.Duration {
	if a.err != nil {
		return 0
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 10_000 {
			return time.Duration(n) * 24 * time.Hour
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		a.fail("%s %q: give a time such as 500ms, 8s or 1d", what, text)
	}
	return d
}

// address takes a word that is an IPv4 address.
func (a *args) address(what string) netip.Addr {
	w := a.word(what)
	ip, err := netip.ParseAddr(w)
	if a.err == nil && (err != nil || !ip.Is4()) {
		a.fail("%s %q: give an IPv4 address", what, w)
	}
	return ip
}
