// Command perfdoc makes the tables and the plot of docs/performance.md of recorded benchmark output, docs/performance.txt.
//
//	perfdoc docs/performance.txt > tables.md
//	perfdoc -plot docs/performance.txt > docs/performance.svg
//
// The record is what go test -bench and benchovs -o print, one after another; of a benchmark that was run several times the
// best run counts.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	plot := flag.Bool("plot", false, "print the plot, not the tables")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), "usage: perfdoc [-plot] RECORD\n\nTells what benchmarks measured as a document.\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(os.Stdout, flag.Arg(0), *plot); err != nil {
		fmt.Fprintln(os.Stderr, "perfdoc:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, path string, plot bool) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open record: %w", err)
	}
	defer f.Close()
	r, err := read(f, path)
	if err != nil {
		return err
	}
	text := r.tables()
	if plot {
		text = r.plot()
	}
	_, err = io.WriteString(w, text)
	return err
}
