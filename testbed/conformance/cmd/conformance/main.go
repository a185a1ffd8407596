// Command conformance compares the simulator with a real Open vSwitch on random cases, or on cases in files.
//
//	conformance -n 20000 -seed 1 -workers 2            random cases; mismatches are shrunk and written to -out
//	conformance testdata/learn.case …                  the cases of files; what the real switch does is printed
//	conformance -record testdata/learn.case …          the same, and the real switch's answers are written into the files
//
// It exits with 1 if anything differs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"time"

	"hpnn/testbed/conformance"
	"hpnn/testbed/dummy"
)

// gcPercent trades memory, of which there is little in use, for time.
const gcPercent = 800

type options struct {
	cases, seed uint64
	workers     int
	captures    string
	out         string
	record      bool
	trace       bool
	most        int
}

func main() {
	var o options
	flag.Uint64Var(&o.cases, "n", 20000, "number of cases")
	flag.Uint64Var(&o.seed, "seed", 1, "number of the first case")
	flag.IntVar(&o.workers, "workers", 2, "real switches at a time")
	flag.StringVar(&o.captures, "captures", captures(), "directory of captures to take frames from; may be missing")
	flag.StringVar(&o.out, "out", "conformance-findings", "directory for mismatches")
	flag.IntVar(&o.most, "most", 20, "mismatches after which to give up")
	flag.BoolVar(&o.record, "record", false, "write the real switch's answers into the files given")
	flag.BoolVar(&o.trace, "trace", false, "print what ofproto/trace says of each frame of the files given")
	flag.Parse()
	debug.SetGCPercent(gcPercent)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	differ, err := o.run(ctx, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(2)
	}
	if differ {
		os.Exit(1)
	}
}

func captures() string {
	if dir := os.Getenv("HPNN_CAPTURES"); dir != "" {
		return filepath.Join(dir, "public")
	}
	return filepath.Join("..", "shared", "pcaps", "public")
}

func (o options) run(ctx context.Context, files []string) (differ bool, err error) {
	if reason, ok := dummy.Available(); !ok {
		return false, errors.New(reason)
	}
	if len(files) > 0 {
		return o.play(ctx, files)
	}
	return o.campaign(ctx)
}

// play runs the cases of files on both.
func (o options) play(ctx context.Context, files []string) (differ bool, err error) {
	oracle, err := conformance.StartOracle(ctx)
	if err != nil {
		return false, err
	}
	defer oracle.Close()
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return differ, err
		}
		f, err := conformance.ParseFile(string(text))
		if err != nil {
			return differ, fmt.Errorf("%s: %w", name, err)
		}
		answers, err := oracle.Run(ctx, f.Case)
		if err != nil {
			return differ, err
		}
		f.Record = answers[0].Record
		diff := conformance.Judge(f.Case, answers[0])
		differ = differ || diff != ""
		fmt.Printf("== %s: %s\n%s\n", name, verdict(diff), f)
		if err := o.traced(ctx, oracle, f.Case); err != nil {
			return differ, err
		}
		if o.record && answers[0].Err == nil {
			if err := os.WriteFile(name, []byte(f.String()), 0o644); err != nil {
				return differ, err
			}
		}
	}
	return differ, nil
}

func (o options) traced(ctx context.Context, oracle *conformance.Oracle, c conformance.Case) error {
	for _, e := range c.Events {
		f, ok := e.(conformance.Frame)
		if !ok || !o.trace {
			continue
		}
		text, err := oracle.Trace(ctx, f)
		if err != nil {
			return err
		}
		fmt.Println(text)
	}
	return nil
}

func verdict(diff string) string {
	if diff == "" {
		return "alike"
	}
	return diff
}

// campaign runs random cases.
func (o options) campaign(ctx context.Context) (differ bool, err error) {
	frames, err := conformance.ReadCaptures(o.captures)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	enough, cancel := context.WithCancel(ctx)
	defer cancel()
	var findings []conformance.Finding
	unsteady := 0
	t := newTicker(o.cases)
	err = conformance.Campaign{
		Seed: o.seed, Cases: o.cases, Workers: o.workers, Captures: frames,
		Found: func(f conformance.Finding) {
			if f.Unsteady {
				unsteady++
				fmt.Printf("\rseed %d, but not when asked again: %s\n", f.Seed, clipped(f.Difference))
				return
			}
			findings = append(findings, f)
			fmt.Printf("\rseed %d: %s\n", f.Seed, clipped(f.Difference))
			if len(findings) >= o.most {
				cancel()
			}
		},
		Progress: t.add,
	}.Run(enough)
	fmt.Printf("\r%s, %d captures, seeds %d to %d, %d mismatches, %d unsteady\n",
		t, len(frames), o.seed, o.seed+t.done-1, len(findings), unsteady)
	if err != nil && !errors.Is(err, context.Canceled) {
		return len(findings) > 0, err
	}
	return len(findings) > 0, o.keep(ctx, findings)
}

// keep shrinks findings and writes them to files.
func (o options) keep(ctx context.Context, findings []conformance.Finding) error {
	if len(findings) == 0 {
		return nil
	}
	oracle, err := conformance.StartOracle(ctx)
	if err != nil {
		return err
	}
	defer oracle.Close()
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	for _, f := range findings[:min(len(findings), o.most)] {
		f, err := conformance.Shrink(ctx, oracle.Differ, f)
		if err != nil {
			return err
		}
		f.File.Case.Note = fmt.Sprintf("Seed %d. %s", f.Seed, f.Difference)
		path := filepath.Join(o.out, fmt.Sprintf("%d.case", f.Seed))
		fmt.Printf("== %s\n%s\n", path, clipped(f.File.String()))
		if err := os.WriteFile(path, []byte(f.File.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// clipped is a text that a terminal can bear.
func clipped(text string) string {
	const limit = 4000
	if len(text) <= limit {
		return text
	}
	return text[:limit] + "…\n"
}

// ticker shows progress and rate.
type ticker struct {
	total, done uint64
	start, last time.Time
}

func newTicker(total uint64) *ticker {
	now := time.Now()
	return &ticker{total: total, start: now, last: now}
}

func (t *ticker) add(n int) {
	t.done += uint64(n)
	if now := time.Now(); now.Sub(t.last) > time.Second {
		t.last = now
		fmt.Printf("\r%s ", t)
	}
}

// String is how far it has come.
func (t *ticker) String() string {
	took := time.Since(t.start)
	return fmt.Sprintf("%d of %d cases in %v, %.0f a second", t.done, t.total, took.Round(time.Second), float64(t.done)/took.Seconds())
}
