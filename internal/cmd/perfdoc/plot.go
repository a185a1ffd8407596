package main

import (
	"fmt"
	"math"
	"strings"
)

// Colours that people tell apart whatever their eyes (Okabe, Ito 2008).
const (
	ink    = "#24292f"
	faint  = "#d0d7de"
	blue   = "#0072b2"
	orange = "#d55e00"
)

// A curve is the cost of a frame, in seconds, over something.
type curve struct {
	name, colour string
	key          string // of the record, without the number
}

// A panel shows curves over a number, both axes logarithmic.
type panel struct {
	title   string
	numbers []float64
	curves  []curve
}

var panels = []panel{
	{"rules of the same masks", []float64{1_000, 10_000, 100_000}, []curve{{"simulator", blue, "simbackend.Rules/rules="}}},
	{"connections", []float64{1, 64, 1_000, 10_000, 100_000}, []curve{
		{"simulator", blue, frame + "sim/flows="}, {"OVS with DPDK, cached", orange, frame + "ovs-cached/flows="}}},
	{"pools", []float64{1, 10, 100, 1_000}, []curve{{"simulator", blue, "simbackend.Pools/pools="}}},
}

const (
	width, height = 960, 330
	side          = 240.0 // of a panel
	gap           = 310.0 // from panel to panel
	left, top     = 60.0, 60.0
)

// grid are the lines of a panel, in nanoseconds: from the bottom to the top.
var grid = []float64{50, 100, 200, 500, 1_000, 2_000, 5_000}

// plot draws docs/performance.svg.
func (r record) plot() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="12" fill="%s">
<title>Cost of a frame by number of rules, connections and pools</title>
<rect width="100%%" height="100%%" fill="#ffffff"/>
<text x="%.0f" y="24" font-size="16" font-weight="600">Nanoseconds of one core for a frame</text>
`, width, height, width, height, ink, left)
	for i, p := range panels {
		p.draw(&b, r, left+float64(i)*gap)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (p panel) draw(b *strings.Builder, r record, x0 float64) {
	for _, ns := range grid {
		y := up(ns)
		fmt.Fprintf(b, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x0, y, x0+side, y, faint)
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", x0-6, y+4, ns)
	}
	for _, n := range p.numbers {
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.0f</text>\n", x0+p.across(n), top+side*0.85+18, n)
	}
	fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", x0+side/2, top+side*0.85+38, p.title)
	for i, c := range p.curves {
		var points []string
		for _, n := range p.numbers {
			if s := r.seconds(c.key + fmt.Sprintf("%.0f", n)); s > 0 {
				points = append(points, fmt.Sprintf("%.1f,%.1f", x0+p.across(n), up(1e9*s)))
			}
		}
		fmt.Fprintf(b, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", strings.Join(points, " "), c.colour)
		for _, at := range points {
			x, y, _ := strings.Cut(at, ",")
			fmt.Fprintf(b, "<circle cx=\"%s\" cy=\"%s\" r=\"3\" fill=\"%s\"/>\n", x, y, c.colour)
		}
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\">%s</text>\n", x0+8, top-12+float64(i)*16, c.colour, c.name)
	}
}

// across is where a number stands in the panel.
func (p panel) across(n float64) float64 {
	first, last := math.Log(p.numbers[0]), math.Log(p.numbers[len(p.numbers)-1])
	return 14 + (math.Log(n)-first)/(last-first)*(side-28)
}

// up is where a time stands, in nanoseconds.
func up(ns float64) float64 {
	low, high := math.Log(grid[0]), math.Log(grid[len(grid)-1])
	return top + side*0.85*(1-(math.Log(ns)-low)/(high-low))
}
