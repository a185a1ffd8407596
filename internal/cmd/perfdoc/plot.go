package main

import (
	"fmt"
	"math"

	"hpnn/internal/figure"
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
	{"rules of the same masks", []float64{1_000, 10_000, 100_000}, []curve{{"simulator", figure.Blue, "simbackend.Rules/rules="}}},
	{"connections", []float64{1, 64, 1_000, 10_000, 100_000}, []curve{
		{"simulator", figure.Blue, frame + "sim/flows="}, {"OVS with DPDK, cached", figure.Orange, frame + "ovs-cached/flows="}}},
	{"pools", []float64{1, 10, 100, 1_000}, []curve{{"simulator", figure.Blue, "simbackend.Pools/pools="}}},
}

const (
	width, height = 960, 330
	side          = 240.0 // of a panel
	gap           = 310.0 // from panel to panel
	left, top     = 60.0, 60.0
)

// grid are the lines of a panel, in nanoseconds: from the bottom to the top.
var grid = []float64{50, 100, 200, 500, 1_000, 2_000, 5_000}

var (
	heading = figure.Style{Anchor: "start", Colour: figure.Ink, Size: 16, Bold: true}
	label   = figure.Style{Anchor: "middle", Colour: figure.Ink, Size: 12}
	tick    = figure.Style{Anchor: "end", Colour: figure.Ink, Size: 12}
)

// plot draws docs/performance.svg.
func (r record) plot() string {
	var c figure.Canvas
	c.Text(left, 24, heading, "Nanoseconds of one core for a frame")
	for i, p := range panels {
		p.draw(&c, r, left+float64(i)*gap)
	}
	return c.Document(width, height, "Cost of a frame by number of rules, connections and pools")
}

func (p panel) draw(c *figure.Canvas, r record, x0 float64) {
	for _, ns := range grid {
		c.Line(x0, up(ns), x0+side, up(ns), figure.Faint)
		c.Text(x0-6, up(ns)+4, tick, "%g", ns)
	}
	bottom := up(grid[0])
	for _, n := range p.numbers {
		c.Text(x0+p.across(n), bottom+18, label, "%.0f", n)
	}
	c.Text(x0+side/2, bottom+38, label, "%s", p.title)
	for i, curve := range p.curves {
		var points [][2]float64
		for _, n := range p.numbers {
			if s := r.seconds(curve.key + fmt.Sprintf("%.0f", n)); s > 0 {
				points = append(points, [2]float64{x0 + p.across(n), up(1e9 * s)})
			}
		}
		c.Curve(points, figure.Stroke{Colour: curve.colour})
		c.Text(x0+8, top-12+float64(i)*16, figure.Style{Anchor: "start", Colour: curve.colour, Size: 12}, "%s", curve.name)
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
