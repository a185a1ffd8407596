package model

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A codec reads, checks and writes the scalars of one type.
type codec[V comparable] struct {
	kind  string // what the reference calls it
	blank bool   // the zero value means that nothing was given
	read  func(scalar) (V, *complaint)
	check func(V) *complaint // the rule every value of this type keeps, read or built in Go
	write func(V) string     // as it stands in YAML, quoted where needed
}

// A scalar is a YAML scalar as it was written.
type scalar struct {
	text string
	form form
}

// form says how a scalar was written.
type form uint8

const (
	formPlain form = iota
	formQuoted
	formNumber
	formBool
)

// formOf returns the form that text has when it is written without quotes.
func formOf(text string) form {
	if decimal.MatchString(text) {
		return formNumber
	}
	return formPlain
}

// decimal leaves out what YAML readers disagree about: octal 017, 0x11, 1_7, 1e1.
var decimal = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,17})$`)

type integer interface {
	~int | ~uint16 | ~uint32
}

// number is a whole number from lo to hi.
func number[V integer](lo, hi int64) codec[V] {
	within := fmt.Sprintf("use %d to %d", lo, hi)
	check := func(v int64) *complaint {
		if v < lo || v > hi {
			return complain(within, "%d is out of range", v)
		}
		return nil
	}
	return codec[V]{
		kind: fmt.Sprintf("number %d..%d", lo, hi),
		read: func(s scalar) (V, *complaint) {
			if s.form == formQuoted && decimal.MatchString(s.text) {
				return 0, complain("remove the quotes", "%q is text, not a number", s.text)
			}
			if s.form != formNumber || !decimal.MatchString(s.text) {
				return 0, complain(within, "%q is not a whole decimal number", s.text)
			}
			v, _ := strconv.ParseInt(s.text, 10, 64)
			if int64(V(v)) != v {
				return 0, check(v)
			}
			return V(v), nil
		},
		check: func(v V) *complaint { return check(int64(v)) },
		write: func(v V) string { return strconv.FormatInt(int64(v), 10) },
	}
}

// span is a duration from lo to hi.
func span(lo, hi time.Duration) codec[time.Duration] {
	within := "use " + durationText(lo) + " to " + durationText(hi)
	return codec[time.Duration]{
		kind: "duration " + durationText(lo) + ".." + durationText(hi),
		read: func(s scalar) (time.Duration, *complaint) {
			v, err := time.ParseDuration(s.text)
			switch {
			case s.form == formNumber:
				return 0, complain(fmt.Sprintf("write %ss or %sms", s.text, s.text), "%s has no unit", s.text)
			case err != nil:
				return 0, complain("write it as 500ms, 2s or 1m30s", "%q is not a duration", s.text)
			case v == 0:
				return 0, complain(within, "%s is out of range", s.text)
			}
			return v, nil
		},
		check: func(v time.Duration) *complaint {
			if v < lo || v > hi {
				return complain(within, "%s is out of range", durationText(v))
			}
			return nil
		},
		write: durationText,
	}
}

var zeroUnits = regexp.MustCompile(`([hm])0[ms](0s)?$`)

// durationText is Duration.String without the units that are zero: 1m, not 1m0s.
func durationText(d time.Duration) string {
	return zeroUnits.ReplaceAllString(d.String(), "$1")
}

// word is one of the texts of an enum.
func word[E ~uint8](e enum[E]) codec[E] {
	names := e.names()
	check := func(v E) *complaint {
		if !e.known(v) {
			return complain("use "+listing(names), "%d is no %s", uint8(v), e.what)
		}
		return nil
	}
	return codec[E]{
		kind:  listing(names),
		blank: !e.known(0),
		read: func(s scalar) (E, *complaint) {
			v, err := e.parse(s.text)
			if err == nil {
				return v, nil
			}
			if meant := nearest(s.text, names); meant != "" {
				return 0, complain(fmt.Sprintf("did you mean %q?", meant), "%q is no %s", s.text, e.what)
			}
			return 0, complain("use "+listing(names), "%q is no %s", s.text, e.what)
		},
		check: check,
		write: e.text,
	}
}

// name is what an object is called and referred to by.
func name() codec[string] {
	return text("name", func(s string) *complaint {
		if !nameForm.MatchString(s) {
			return complain("use up to 63 letters, digits, dots, dashes and underscores, the first a letter or digit",
				"%q is not a name", s)
		}
		return nil
	})
}

var (
	nameForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	portForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$`)
	allDigits = regexp.MustCompile(`^[0-9]+$`)
)

// switchWords are the names Open vSwitch gives to its reserved ports, in lower case.
var switchWords = []string{"all", "any", "controller", "flood", "in_port", "local", "none", "normal", "table", "unset"}

// interfaceName is the name of a network interface, as Linux and ovs-ofctl take it.
func interfaceName() codec[string] {
	return text("interface name", func(s string) *complaint {
		switch {
		case !portForm.MatchString(s):
			return complain("use up to 15 letters, digits, dots, dashes and underscores, the first a letter or digit",
				"%q is not an interface name", s)
		case allDigits.MatchString(s):
			return complain("use a name with a letter in it", "%q would be read as a port number", s)
		case slices.Contains(switchWords, strings.ToLower(s)):
			return complain("use another name", "%q is a reserved port of Open vSwitch", s)
		}
		return nil
	})
}

// text is text that keeps a rule. What YAML reads as a number or a truth value is refused rather than taken for its letters:
// another reader of the file would disagree.
func text(kind string, check func(string) *complaint) codec[string] {
	return codec[string]{
		kind:  kind,
		blank: true,
		read: func(s scalar) (string, *complaint) {
			switch {
			case s.form == formNumber:
				return "", complain("put it in quotes to make it a "+kind, "%s is a number, not a %s", s.text, kind)
			case s.form == formBool:
				return "", complain("put it in quotes to make it a "+kind, "%s is a truth value, not a %s", s.text, kind)
			case s.text == "":
				return "", complain("write a "+kind, "is empty")
			}
			return s.text, nil
		},
		check: check,
		write: quoted,
	}
}
