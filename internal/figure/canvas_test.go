package figure_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/figure"
)

func TestDocumentIsWellFormed(t *testing.T) {
	var c figure.Canvas
	c.Line(0, 1, 2, 3, figure.Faint)
	c.Rect(0, 1, 2, 3, figure.Grey)
	c.Cells([][2]float64{{0, 0}, {10, 0}}, 5, 5, figure.Sky)
	c.Cells(nil, 5, 5, figure.Sky)
	c.Curve([][2]float64{{0, 0}, {1, 1}}, figure.Stroke{Colour: figure.Blue})
	c.Curve([][2]float64{{0, 0}, {1, 1}}, figure.Stroke{Colour: figure.Orange, Dashed: true})
	c.Text(1, 2, figure.Style{Anchor: "end", Colour: figure.Ink, Size: 12, Bold: true}, "%d < 2 & so on", 1)
	elements, words := map[string]int{}, ""
	d := xml.NewDecoder(strings.NewReader(c.Document(100, 50, "a < b")))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			elements[token.Name.Local]++
		case xml.CharData:
			words += string(token)
		}
	}
	want := map[string]int{"svg": 1, "title": 1, "rect": 2, "line": 1, "path": 1, "polyline": 2, "circle": 2, "text": 1}
	require.Equal(t, want, elements)
	require.Equal(t, []string{"a < b", "1 < 2 & so on"}, strings.FieldsFunc(words, func(r rune) bool { return r == '\n' }))
}
