package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hpnn/datapath/openflow"
	"hpnn/model"
)

// Exit codes.
const (
	exitFine  = 0
	exitBad   = 1 // the answer is bad, or was interrupted
	exitUsage = 2 // usage, or input that cannot be used
)

// badAnswer is an error of what was asked about, not of the asking.
type badAnswer struct{ error }

// Unwrap is the error itself.
func (b badAnswer) Unwrap() error { return b.error }

// usage is an error of the command line.
func usage(c *cobra.Command, format string, args ...any) error {
	return fmt.Errorf("%s: see %s --help", fmt.Sprintf(format, args...), c.CommandPath())
}

// conclude reports an error and returns the exit code.
func (a *app) conclude(err error) int {
	if err == nil {
		return exitFine
	}
	report(a.stderr, err)
	if errors.As(err, new(badAnswer)) || errors.Is(err, context.Canceled) {
		return exitBad
	}
	return exitUsage
}

// report prints an error, each of its lines on its own. Lines that begin with a place in a file
// keep it in front, where editors look for it, and are counted in the end.
func report(w io.Writer, err error) {
	file, located := places(err)
	if located == nil {
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintf(w, "lbctl: %s\n", strings.TrimSuffix(line, "\n"))
		}
		return
	}
	for _, line := range located {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintf(w, "lbctl: %s has %s\n", file, plural(len(located), "fault"))
}

// places are the lines of an error that each name a place in a file.
func places(err error) (file string, lines []string) {
	var faults model.Faults
	if errors.As(err, &faults) {
		for _, f := range faults {
			lines = append(lines, f.Error())
		}
		return faults[0].File, lines
	}
	var syntax openflow.SyntaxErrors
	if errors.As(err, &syntax) {
		for _, e := range syntax {
			lines = append(lines, e.Error())
		}
		return syntax[0].Name, lines
	}
	return "", nil
}

// plural is a count and its noun: "1 fault", "2 faults".
func plural[N int | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
