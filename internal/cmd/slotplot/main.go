// Command slotplot measures what a change of a pool does to its slots, and prints the plot or the figures of
// docs/slot-table.md. Its numbers come from the code that lays out the tables; the same build prints the same.
//
//	slotplot > docs/slot-table.svg
//	slotplot -figures
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	figures := flag.Bool("figures", false, "print the figures as tables of Markdown, not the plot")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), "usage: slotplot [-figures]\n\nMeasures the slot tables and prints a plot, as SVG.\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(os.Stdout, *figures); err != nil {
		fmt.Fprintln(os.Stderr, "slotplot:", err)
		os.Exit(1)
	}
}

// run prints the plot, or the figures.
func run(w io.Writer, figures bool) error {
	m, err := measure()
	if err != nil {
		return fmt.Errorf("measure: %w", err)
	}
	text := m.plot()
	if figures {
		text = m.tables()
	}
	_, err = io.WriteString(w, text)
	return err
}
