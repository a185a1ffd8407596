package main

import (
	"fmt"
	"strings"
)

// Colours that people tell apart whatever their eyes (Okabe, Ito 2008).
const (
	ink    = "#24292f"
	faint  = "#d0d7de"
	quiet  = "#57606a"
	blue   = "#0072b2"
	orange = "#d55e00"
	sky    = "#56b4e9"
	grey   = "#eaeef2"
)

// A canvas collects the elements of a drawing.
type canvas struct{ strings.Builder }

func (c *canvas) add(format string, args ...any) {
	fmt.Fprintf(&c.Builder, format, args...)
	c.WriteByte('\n')
}

func (c *canvas) line(x1, y1, x2, y2 float64, colour string) {
	c.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`, x1, y1, x2, y2, colour)
}

func (c *canvas) rect(x, y, width, height float64, fill string) {
	c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, x, y, width, height, fill)
}

// cells draws rectangles of one size and colour, given their upper left corners.
func (c *canvas) cells(corners [][2]float64, width, height float64, fill string) {
	if len(corners) == 0 {
		return
	}
	var path strings.Builder
	for _, p := range corners {
		fmt.Fprintf(&path, "M%.1f %.1fh%.1fv%.1fh-%.1fz", p[0], p[1], width, height, width)
	}
	c.add(`<path d="%s" fill="%s"/>`, path.String(), fill)
}

// A style is how text looks. Anchors are start, middle and end.
type style struct {
	anchor, colour string
	size           int
	bold           bool
}

func (c *canvas) text(x, y float64, s style, format string, args ...any) {
	weight := ""
	if s.bold {
		weight = ` font-weight="600"`
	}
	c.add(`<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d" fill="%s"%s>%s</text>`,
		x, y, s.anchor, s.size, s.colour, weight, escape.Replace(fmt.Sprintf(format, args...)))
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// A stroke is how a curve looks.
type stroke struct {
	colour string
	dashed bool
}

// curve joins points, and marks them if the stroke is not dashed.
func (c *canvas) curve(points [][2]float64, s stroke) {
	var list []string
	for _, p := range points {
		list = append(list, fmt.Sprintf("%.1f,%.1f", p[0], p[1]))
	}
	look := `stroke-width="2"`
	if s.dashed {
		look = `stroke-width="1.2" stroke-dasharray="5 4"`
	}
	c.add(`<polyline points="%s" fill="none" stroke="%s" %s/>`, strings.Join(list, " "), s.colour, look)
	for _, p := range points {
		if !s.dashed {
			c.add(`<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, p[0], p[1], s.colour)
		}
	}
}

// document is the whole drawing, on a light ground.
func (c *canvas) document(width, height int, title string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img"`+
		` font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif">
<title>%s</title>
<rect width="100%%" height="100%%" fill="#ffffff"/>
%s</svg>
`, width, height, width, height, escape.Replace(title), c.String())
}
