package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// A result is the time that one core needs for a frame, or a trace, by a way of a switch.
type result struct {
	bench string // frame, trace (as text) or structure (a trace as such)
	way   string // sim, ovs-cached or ovs-upcall
	flows string // a number, or new; empty for traces
	each  time.Duration
}

// writeBench writes results as go test -bench prints them.
func writeBench(w io.Writer, results []result) {
	fmt.Fprintf(w, "goos: %s\ngoarch: %s\npkg: hpnn/internal/cmd/benchovs\n", runtime.GOOS, runtime.GOARCH)
	for _, r := range results {
		name := "Benchmark" + strings.ToUpper(r.bench[:1]) + r.bench[1:] + "/switch=" + r.way
		if r.flows != "" {
			name += "/flows=" + r.flows
		}
		fmt.Fprintf(w, "%s 1 %d ns/op\n", name, r.each.Nanoseconds())
	}
}

// writeTable writes a line for each number of flows: what both make of a second of a core, in millions, and how many times as
// much the simulator makes.
func writeTable(w io.Writer, results []result) error {
	find := func(bench, way, flows string) (time.Duration, bool) {
		for _, r := range results {
			if r.bench == bench && r.way == way && r.flows == flows {
				return r.each, true
			}
		}
		return 0, false
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\tsimulator\tOVS cached\tratio\tOVS upcall\tratio\t\n")
	for _, r := range results {
		if r.way != "sim" {
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t", strings.TrimSpace(r.bench+" "+r.flows), millions(r.each))
		for _, way := range []string{"ovs-cached", "ovs-upcall"} {
			if other, ok := find(r.bench, way, r.flows); ok {
				fmt.Fprintf(t, "%s\t%.1f x\t", millions(other), float64(other)/float64(r.each))
			} else {
				fmt.Fprint(t, "-\t-\t")
			}
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "\nMillions a second of one core. A trace is text, as ofproto/trace prints it, which has no cache; a structure is a trace as a value.")
	return err
}

func millions(each time.Duration) string {
	return fmt.Sprintf("%.3f", 1e3/float64(each.Nanoseconds()))
}
