package docker

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// report prints each check with what was measured.
type report struct {
	out    io.Writer
	total  int
	failed []string
}

func (r *report) check(ok bool, name, measured, want string) {
	r.total++
	mark := "ok  "
	if !ok {
		mark = "FAIL"
		r.failed = append(r.failed, name)
	}
	fmt.Fprintf(r.out, "%s  %-58s %s", mark, name, measured)
	if want != "" {
		fmt.Fprintf(r.out, "  (want %s)", want)
	}
	fmt.Fprintln(r.out)
}

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
	fmt.Fprintf(r.out, "\n%d of %d checks passed\n", r.total-len(r.failed), r.total)
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
