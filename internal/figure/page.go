package figure

import (
	"fmt"
	"strings"
)

// What stands between these lines of a page is made.
const begin, end = "<!-- figures -->\n", "<!-- end of figures -->"

// Page is a page with its figures replaced. The error says which line it lacks.
func Page(page, figures string) (string, error) {
	before, rest, ok := strings.Cut(page, begin)
	if !ok {
		return "", fmt.Errorf("replace figures: the page has no line %q", strings.TrimSpace(begin))
	}
	_, after, ok := strings.Cut(rest, end)
	if !ok {
		return "", fmt.Errorf("replace figures: the page has no line %q behind %q", end, strings.TrimSpace(begin))
	}
	return before + begin + "\n" + figures + "\n" + end + after, nil
}
