//go:build e2e && linux

package e2e

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// table is what was measured, in the order it was.
type table struct{ rows [][3]string }

// add adds a row; the limit is empty where there is none.
func (t *table) add(what, measured, limit string) {
	t.rows = append(t.rows, [3]string{what, measured, limit})
}

func (t *table) print(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(tw, "\nWHAT\tMEASURED\tLIMIT")
	for _, r := range t.rows {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", r[0], r[1], r[2])
	}
	_ = tw.Flush() // to the terminal
	fmt.Fprintln(w)
}

func ms(d time.Duration) string { return d.Round(time.Millisecond).String() }
