package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// grid is a table for people: a heading and rows of cells, their columns aligned.
type grid struct {
	heading []string
	right   string // a letter for each column: r aligns it to the right
	rows    [][]string
}

// newGrid makes a grid. A heading that begins with ">" is of a column aligned to the right.
func newGrid(headings ...string) *grid {
	g := &grid{}
	for _, h := range headings {
		name, right := strings.CutPrefix(h, ">")
		g.heading = append(g.heading, name)
		if right {
			g.right += "r"
		} else {
			g.right += "l"
		}
	}
	return g
}

// add appends a row, a value for each column.
func (g *grid) add(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = fmt.Sprint(c)
	}
	g.rows = append(g.rows, row)
}

// gap stands between columns.
const gap = "  "

// write prints the grid, its heading emphasised. An empty grid prints nothing.
func (g *grid) write(w io.Writer, p paint) {
	if len(g.rows) == 0 {
		return
	}
	widths := make([]int, len(g.heading))
	for _, row := range append([][]string{g.heading}, g.rows...) {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	fmt.Fprintln(w, p.in(bold, g.line(g.heading, widths)))
	for _, row := range g.rows {
		fmt.Fprintln(w, g.line(row, widths))
	}
}

func (g *grid) line(row []string, widths []int) string {
	var b strings.Builder
	for i, c := range row {
		fill := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
		if i > 0 {
			b.WriteString(gap)
		}
		if g.right[i] == 'r' {
			b.WriteString(fill + c)
		} else {
			b.WriteString(c + fill)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// wrap breaks text into lines of at most width columns, where it has blanks.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line+" "+word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

// shorten returns text if it fits into width columns, else as many of its clauses or words as do.
func shorten(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	head := wrap(text, width-2)[0]
	if i := strings.LastIndexAny(head, ",;:"); i >= 0 {
		head = head[:i]
	}
	return head + " …"
}
