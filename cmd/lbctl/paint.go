package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// paint colours text, or leaves it alone if it is false.
type paint bool

// colour is the parameters of an ANSI escape sequence (ECMA-48, 8.3.117).
type colour string

const (
	bold   colour = "1"
	dim    colour = "2"
	red    colour = "31"
	green  colour = "32"
	yellow colour = "33"
)

// owners are the colours that tell members apart.
var owners = []colour{"32", "33", "34", "35", "36", "31", "92", "93", "94", "95", "96", "91"}

func (p paint) in(c colour, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + "\x1b[0m"
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// coloursWanted honours NO_COLOR (no-color.org) and terminals that know none.
func coloursWanted() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

// defaultWidth is how wide text is where there is no terminal, in columns.
const defaultWidth = 100

// width is the columns of the terminal.
func (a *app) width() int {
	if f, ok := a.stdout.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns >= 60 {
			return columns
		}
	}
	return defaultWidth
}
