package figure_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/figure"
)

func TestPageReplacesFiguresOnly(t *testing.T) {
	page := "# Cost\n<!-- figures -->\nold\n<!-- end of figures -->\nThe end.\n"
	got, err := figure.Page(page, "| a |\n")
	require.NoError(t, err)
	require.Equal(t, "# Cost\n<!-- figures -->\n\n| a |\n\n<!-- end of figures -->\nThe end.\n", got)
	again, err := figure.Page(got, "| a |\n")
	require.NoError(t, err)
	require.Equal(t, got, again)
}

func TestPageWithoutAPlaceForFigures(t *testing.T) {
	_, err := figure.Page("# Cost\n", "")
	require.EqualError(t, err, `replace figures: the page has no line "<!-- figures -->"`)
	_, err = figure.Page("<!-- figures -->\n", "")
	require.EqualError(t, err, `replace figures: the page has no line "<!-- end of figures -->" behind "<!-- figures -->"`)
}
