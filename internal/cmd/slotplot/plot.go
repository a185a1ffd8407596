package main

import (
	"math"

	"hpnn/internal/figure"
	"hpnn/internal/maglev"
)

// The drawing has two rows: above, two curves over the number of members; below, every slot of a table.
const (
	width, height = 960, 690
	left          = 70.0
	panelWidth    = 370.0
	panelHeight   = 230.0
	secondPanel   = 530.0
	curvesTop     = 100.0
	mapsTop       = 460.0
	cell          = 5.75 // of a map: 64 columns, 16 rows
	topPercent    = 7.0
)

var (
	heading = figure.Style{Anchor: "start", Colour: figure.Ink, Size: 15, Bold: true}
	caption = figure.Style{Anchor: "start", Colour: figure.Quiet, Size: 12}
	label   = figure.Style{Anchor: "middle", Colour: figure.Quiet, Size: 12}
	tick    = figure.Style{Anchor: "end", Colour: figure.Quiet, Size: 12}
)

// colours of the algorithms.
var colours = map[maglev.Algorithm]string{maglev.Maglev: figure.Orange, maglev.MaglevStable: figure.Blue}

// plot draws docs/slot-table.svg.
func (m measurements) plot() string {
	var c figure.Canvas
	c.Text(left, 30, figure.Style{Anchor: "start", Colour: figure.Ink, Size: 18, Bold: true}, "What the failure of one member moves")
	c.Text(left, 50, caption, "Foreign slots: moved although neither their old nor their new owner failed. Tables of %d slots, %d random pools each.", slots, tries)
	for i, panel := range []struct {
		change int
		title  string
	}{{0, "all others live"}, {2, "four others are dead"}} {
		m.curves(&c, left+float64(i)*(secondPanel-left), panel.change, panel.title)
	}
	legend(&c)
	for i, s := range m.maps {
		s.draw(&c, left+float64(i)*(secondPanel-left))
	}
	return c.Document(width, height, "Slots moved by the failure of a member, by maglev and maglev-stable")
}

// curves draws the foreign moves of a change over the number of members.
func (m measurements) curves(c *figure.Canvas, x0 float64, change int, title string) {
	bottom := curvesTop + panelHeight
	c.Text(x0, curvesTop-16, heading, "%s", title)
	for p := 0.0; p <= topPercent; p++ {
		y := bottom - p/topPercent*panelHeight
		c.Line(x0, y, x0+panelWidth, y, figure.Faint)
		c.Text(x0-8, y+4, tick, "%.0f %%", p)
	}
	for _, n := range sizes {
		x := x0 + across(n)
		c.Line(x, bottom, x, bottom+4, figure.Quiet)
		c.Text(x, bottom+18, label, "%d", n)
	}
	c.Line(x0, bottom, x0+panelWidth, bottom, figure.Quiet)
	c.Text(x0+panelWidth/2, bottom+36, label, "members configured")
	for _, a := range algorithms {
		var mean, worst [][2]float64
		for _, r := range m.rows {
			if f := r.foreign[change]; r.algorithm == a && f.mean >= 0 {
				x := x0 + across(r.members)
				mean = append(mean, [2]float64{x, bottom - f.mean/topPercent*panelHeight})
				worst = append(worst, [2]float64{x, bottom - f.worst/topPercent*panelHeight})
			}
		}
		c.Curve(worst, figure.Stroke{Colour: colours[a], Dashed: true})
		c.Curve(mean, figure.Stroke{Colour: colours[a]})
	}
}

// across is where a number of members stands on the axis, which is logarithmic.
func across(members int) float64 {
	first, last := math.Log2(float64(sizes[0])), math.Log2(float64(sizes[len(sizes)-1]))
	return 12 + (math.Log2(float64(members))-first)/(last-first)*(panelWidth-24)
}

// legend explains the strokes, in the first panel, where there is room.
func legend(c *figure.Canvas) {
	x, y := left+14, curvesTop+14.0
	c.Rect(x-6, y-12, 184, 78, "#ffffff")
	for i, e := range []struct {
		figure.Stroke
		text string
	}{
		{figure.Stroke{Colour: figure.Orange}, "maglev, mean"}, {figure.Stroke{Colour: figure.Orange, Dashed: true}, "maglev, worst"},
		{figure.Stroke{Colour: figure.Blue}, "maglev-stable, mean"}, {figure.Stroke{Colour: figure.Blue, Dashed: true}, "maglev-stable, worst"},
	} {
		at := y + float64(i)*18
		c.Curve([][2]float64{{x, at}, {x + 26, at}}, e.Stroke)
		c.Text(x+34, at+4, figure.Style{Anchor: "start", Colour: figure.Ink, Size: 12}, "%s", e.text)
	}
}

// colour of a slot on the map.
func (s slotMap) colour(slot int) string {
	switch {
	case s.foreign[slot]:
		return figure.Orange
	case s.moved[slot]:
		return figure.Sky
	}
	return figure.Grey
}

// draw shows every slot of a table, and which of them moved.
func (s slotMap) draw(c *figure.Canvas, x0 float64) {
	moved, foreign := s.counts()
	c.Text(x0, mapsTop-34, heading, "%v: one of four members dies", s.algorithm)
	c.Text(x0, mapsTop-14, caption, "%d of %d slots move, %d of them foreign; 64 slots to a row", moved, slots, foreign)
	for _, colour := range []string{figure.Grey, figure.Sky, figure.Orange} {
		var cells [][2]float64
		for slot := range slots {
			if s.colour(slot) == colour {
				cells = append(cells, [2]float64{x0 + float64(slot%64)*cell, mapsTop + float64(slot/64)*cell*2})
			}
		}
		c.Cells(cells, cell-0.75, cell*2-0.75, colour)
	}
	y := mapsTop + 32*cell + 22
	for i, e := range []struct{ colour, text string }{{figure.Grey, "stays"}, {figure.Sky, "was the dead member's"}, {figure.Orange, "foreign"}} {
		x := x0 + []float64{0, 64, 236}[i]
		c.Rect(x, y-9, 10, 10, e.colour)
		c.Text(x+16, y, figure.Style{Anchor: "start", Colour: figure.Ink, Size: 12}, "%s", e.text)
	}
}
