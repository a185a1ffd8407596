package figure

import (
	"fmt"
	"strings"
)

// Colours that people tell apart whatever their eyes (Okabe, Ito 2008), and shades of grey for what is not data.
const (
	Ink    = "#24292f"
	Faint  = "#d0d7de"
	Quiet  = "#57606a"
	Blue   = "#0072b2"
	Orange = "#d55e00"
	Sky    = "#56b4e9"
	Grey   = "#eaeef2"
)

// A Canvas collects the elements of a drawing. Places and lengths are in pixels, from the upper left corner.
type Canvas struct{ strings.Builder }

func (c *Canvas) add(format string, args ...any) {
	fmt.Fprintf(&c.Builder, format, args...)
	c.WriteByte('\n')
}

// Line draws a straight line.
func (c *Canvas) Line(x1, y1, x2, y2 float64, colour string) {
	c.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`, x1, y1, x2, y2, colour)
}

// Rect fills a rectangle, given its upper left corner.
func (c *Canvas) Rect(x, y, width, height float64, fill string) {
	c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, x, y, width, height, fill)
}

// Cells draws rectangles of one size and colour, given their upper left corners.
func (c *Canvas) Cells(corners [][2]float64, width, height float64, fill string) {
	if len(corners) == 0 {
		return
	}
	var path strings.Builder
	for _, p := range corners {
		fmt.Fprintf(&path, "M%.1f %.1fh%.1fv%.1fh-%.1fz", p[0], p[1], width, height, width)
	}
	c.add(`<path d="%s" fill="%s"/>`, path.String(), fill)
}

// A Style is how text looks. Anchors are start, middle and end.
type Style struct {
	Anchor, Colour string
	Size           int
	Bold           bool
}

// Text writes text, formatted as fmt does.
func (c *Canvas) Text(x, y float64, s Style, format string, args ...any) {
	weight := ""
	if s.Bold {
		weight = ` font-weight="600"`
	}
	c.add(`<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d" fill="%s"%s>%s</text>`,
		x, y, s.Anchor, s.Size, s.Colour, weight, escape.Replace(fmt.Sprintf(format, args...)))
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// A Stroke is how a curve looks.
type Stroke struct {
	Colour string
	Dashed bool
}

// Curve joins points, and marks them if the stroke is not dashed.
func (c *Canvas) Curve(points [][2]float64, s Stroke) {
	var list []string
	for _, p := range points {
		list = append(list, fmt.Sprintf("%.1f,%.1f", p[0], p[1]))
	}
	look := `stroke-width="2"`
	if s.Dashed {
		look = `stroke-width="1.2" stroke-dasharray="5 4"`
	}
	c.add(`<polyline points="%s" fill="none" stroke="%s" %s/>`, strings.Join(list, " "), s.Colour, look)
	for _, p := range points {
		if !s.Dashed {
			c.add(`<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, p[0], p[1], s.Colour)
		}
	}
}

// Document is the whole drawing, on a light ground.
func (c *Canvas) Document(width, height int, title string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img"`+
		` font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif">
<title>%s</title>
<rect width="100%%" height="100%%" fill="#ffffff"/>
%s</svg>
`, width, height, width, height, escape.Replace(title), c.String())
}
