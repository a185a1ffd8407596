package scenarios

import (
	"fmt"
	"os"
	"strings"
)

// Script is a story as it is written: prose, commands, and what they print.
type Script struct {
	Path   string
	Blocks []Block
	lines  []string
}

// Block is a few steps and what they print together.
type Block struct {
	Steps []Step
	Want  []string // no blank lines
	from  int      // where in the file ---- and Want are, or would be: lines[from:to]
	to    int
}

// Step is a line with a command, and the indented lines below it.
type Step struct {
	Path  string
	Line  int    // counted from 1
	Text  string // the line
	Input string // the indented lines, without what all of them are indented by
}

// String is the place and the text, as in "failover.txt:12: freeze be1".
func (s Step) String() string { return fmt.Sprintf("%s:%d: %s", s.Path, s.Line, s.Text) }

// separator stands between commands and what they print.
const separator = "----"

// SyntaxError says what in a script is no story.
type SyntaxError struct {
	Path    string
	Line    int
	Problem string
}

// Error names the place and the problem.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Problem) }

// Load reads a script.
func Load(path string) (*Script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("load story: %w", err)
	}
	return Parse(path, string(data))
}

// Parse reads the text of a script. The error is a *SyntaxError.
func Parse(path, text string) (*Script, error) {
	text = strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	s := &Script{Path: path, lines: strings.Split(text, "\n")}
	for at := 0; at < len(s.lines); {
		if blank(s.lines[at]) || comment(s.lines[at]) {
			at++
			continue
		}
		next, err := s.block(at)
		if err != nil {
			return nil, err
		}
		at = next
	}
	return s, nil
}

func blank(line string) bool    { return strings.TrimSpace(line) == "" }
func comment(line string) bool  { return strings.HasPrefix(line, "#") }
func indented(line string) bool { return strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") }

// block reads the block that begins at a line, and gives the line behind it.
func (s *Script) block(at int) (next int, err error) {
	b := Block{}
	for ; at < len(s.lines) && !blank(s.lines[at]) && s.lines[at] != separator; at++ {
		switch line := s.lines[at]; {
		case comment(line):
		case !indented(line):
			b.Steps = append(b.Steps, Step{Path: s.Path, Line: at + 1, Text: strings.TrimSpace(line)})
		case len(b.Steps) == 0:
			return 0, s.fault(at, "an indented line belongs to the command above it, and there is none")
		default:
			b.Steps[len(b.Steps)-1].Input += line + "\n"
		}
	}
	for i := range b.Steps {
		b.Steps[i].Input = outdent(b.Steps[i].Input)
	}
	b.from = at
	if at < len(s.lines) && s.lines[at] == separator {
		if len(b.Steps) == 0 {
			return 0, s.fault(at, separator+" without a command above it")
		}
		for at++; at < len(s.lines) && !blank(s.lines[at]); at++ {
			b.Want = append(b.Want, s.lines[at])
		}
	}
	b.to = at
	s.Blocks = append(s.Blocks, b)
	return at, nil
}

func (s *Script) fault(at int, problem string) error {
	return &SyntaxError{s.Path, at + 1, problem}
}

// outdent takes away what all lines are indented by.
func outdent(text string) string {
	margin := -1
	for line := range strings.Lines(text) {
		if n := len(line) - len(strings.TrimLeft(line, " \t")); !blank(line) && (margin < 0 || n < margin) {
			margin = n
		}
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(line[max(margin, 0):])
	}
	return b.String()
}

// rewrite is the text of the script with other output, block by block.
func (s *Script) rewrite(outputs [][]string) string {
	var lines []string
	at := 0
	for i, b := range s.Blocks {
		if i >= len(outputs) {
			break
		}
		lines = append(lines, s.lines[at:b.from]...)
		if len(outputs[i]) > 0 {
			lines = append(append(lines, separator), outputs[i]...)
		}
		at = b.to
	}
	return strings.Join(append(lines, s.lines[at:]...), "\n") + "\n"
}
