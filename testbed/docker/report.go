package docker

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// report prints each check with what was measured.
type report struct {
	out    io.Writer
	strict bool // a time that was missed is a failure
	total  int
	late   []string
	failed []string
}

func (r *report) check(ok bool, name, measured, want string) {
	r.total++
	mark := "ok"
	if !ok {
		mark = "FAIL"
		r.failed = append(r.failed, name)
	}
	r.line(mark, name, measured, want)
}

// took holds a time that was measured against what is promised. On a machine that is busy with other things it tells
// nothing about the stand, so it is a failure only if the report is strict.
func (r *report) took(took, limit time.Duration, name string) {
	measured, want := seconds(took), "≤ "+seconds(limit)
	if took <= limit || r.strict {
		r.check(took <= limit, name, measured, want)
		return
	}
	r.total++
	r.late = append(r.late, name)
	r.line("late", name, measured, want)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func (r *report) line(mark, name, measured, want string) {
	fmt.Fprintf(r.out, "%-4s  %-58s %s", mark, name, measured)
	if want != "" {
		fmt.Fprintf(r.out, "  (want %s)", want)
	}
	fmt.Fprintln(r.out)
}

// note says what is no check.
func (r *report) note(text string) { fmt.Fprintln(r.out, "      "+text) }

// must is a check that something was done.
func (r *report) must(err error, name string) bool {
	if err != nil {
		r.check(false, name, err.Error(), "")
	}
	return err == nil
}

func (r *report) section(name string) { fmt.Fprintf(r.out, "\n%s\n", name) }

// end is the report's verdict.
func (r *report) end() error {
	fmt.Fprintf(r.out, "\n%d of %d checks passed\n", r.total-len(r.failed)-len(r.late), r.total)
	if len(r.late) > 0 {
		fmt.Fprintf(r.out, "late: %s: is the machine busy? STRICT=1 makes this a failure\n", strings.Join(r.late, "; "))
	}
	if len(r.failed) > 0 {
		return fmt.Errorf("failed: %s", strings.Join(r.failed, "; "))
	}
	return nil
}

// shares are counts by name, in the order of the names: "be1 49, be2 52".
func shares(counts map[string]int) string {
	var all []string
	for name, n := range counts {
		all = append(all, fmt.Sprintf("%s %d", name, n))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
