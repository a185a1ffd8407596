package scenarios

import (
	"fmt"
	"strings"
)

// MismatchError says that a block did not print what the file has.
type MismatchError struct {
	Block     Block
	Want, Got []string
}

// Error shows both, line by line: "-" what the file has, "+" what was printed.
func (e *MismatchError) Error() string {
	s := e.Block.Steps[len(e.Block.Steps)-1]
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d: this was not printed (-), or something else (+):", s.Path, s.Line)
	for _, line := range difference(e.Want, e.Got) {
		b.WriteString("\n" + line)
	}
	return b.String()
}

// difference marks the lines that only one side has, by their longest common subsequence.
func difference(want, got []string) (lines []string) {
	common := make([][]int, len(want)+1) // of want[i:] and got[j:]
	for i := range common {
		common[i] = make([]int, len(got)+1)
	}
	for i := len(want) - 1; i >= 0; i-- {
		for j := len(got) - 1; j >= 0; j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); want[i] == got[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < len(want) || j < len(got); {
		switch {
		case i < len(want) && j < len(got) && want[i] == got[j]:
			lines = append(lines, "  "+want[i])
			i, j = i+1, j+1
		case j == len(got) || i < len(want) && common[i+1][j] >= common[i][j+1]:
			lines = append(lines, "- "+want[i])
			i++
		default:
			lines = append(lines, "+ "+got[j])
			j++
		}
	}
	return lines
}
