package scenarios

import (
	"regexp"
	"slices"
	"strconv"
)

// A likeness says what of a line that a command prints depends on the world it is printed in. In virtual time there is one
// world, and all lines are compared to the letter. In real time the rest of the line is: the likeness takes out of it what
// was measured, and what was measured is compared as such.
//
// The zero likeness takes nothing out.
type likeness struct {
	about string // what differs from bed to bed, for people
	rules []likenessRule
}

// likenessRule replaces what matches in a line.
type likenessRule struct {
	match *regexp.Regexp
	by    string
	// counted: the numbers in the first group are added up, and the sum must be like the other world's.
	counted bool
	// left out: a line that matches does not count at all.
	leftOut bool
}

// line is a line that was printed, and what may differ in it.
type line struct {
	text string
	like likeness
}

func texts(lines []line) (all []string) {
	for _, l := range lines {
		all = append(all, l.text)
	}
	return all
}

// form is a line without what was measured, and that. A line without form does not count.
func (l likeness) form(text string) (form string, measured []int) {
	for _, r := range l.rules {
		found := r.match.FindAllStringSubmatch(text, -1)
		if r.leftOut && found != nil {
			return "", nil
		}
		if r.counted && found != nil {
			sum := 0
			for _, groups := range found {
				n, _ := strconv.Atoi(groups[1]) // the group is one of digits
				sum += n
			}
			measured = append(measured, sum)
		}
		text = r.match.ReplaceAllString(text, r.by)
	}
	return text, measured
}

// Two sums of things that take time are alike if one is not much more than the other: what is counted goes on while the
// story looks around, so more is more likely than less.
const (
	fewest = 2 // times fewer than told
	most   = 4 // times more
	spare  = 8 // and so many more
)

func alike(told, counted int) bool {
	return counted*fewest >= told-1 && counted <= told*most+spare
}

// same compares what a block should print with what it printed in real time. The likeness of a line that was printed holds
// for the line of the story in its place.
func same(want []string, got []line) bool {
	want = slices.DeleteFunc(slices.Clone(want), func(text string) bool { return leftOut(text, got) })
	counting := slices.DeleteFunc(slices.Clone(got), func(l line) bool { return leftOut(l.text, []line{l}) })
	if len(want) != len(counting) {
		return false
	}
	for i, l := range counting {
		told, toldMeasures := l.like.form(want[i])
		form, measures := l.like.form(l.text)
		if told != form || !slices.EqualFunc(toldMeasures, measures, alike) {
			return false
		}
	}
	return true
}

// leftOut reports whether a line does not count for one of those that were printed.
func leftOut(text string, printed []line) bool {
	return slices.ContainsFunc(printed, func(l line) bool {
		form, _ := l.like.form(text)
		return form == ""
	})
}

// numbered is a rule that compares the sum of the numbers in a group of digits.
func numbered(pattern, by string) likenessRule {
	return likenessRule{match: regexp.MustCompile(pattern), by: by, counted: true}
}

func replaced(pattern, by string) likenessRule {
	return likenessRule{match: regexp.MustCompile(pattern), by: by}
}

func omitted(pattern string) likenessRule {
	return likenessRule{match: regexp.MustCompile(pattern), leftOut: true}
}

// What differs from bed to bed.
var (
	likeLoad = likeness{
		"how many there were: who answered must be the same, and the sum alike",
		[]likenessRule{numbered(`\((\d+)\)`, "(N)")},
	}
	likeCount = likeness{
		"the number, which must be alike",
		[]likenessRule{numbered(`^(\d+)\b`, "N")},
	}
	likeStatus = likeness{
		"how often calls failed, which must be alike: a switch that restarts fails as often as it is asked",
		[]likenessRule{numbered(`\b(\d+) failures`, "N failures")},
	}
	likeConns = likeness{
		"the state of a connection that has ended: when which side forgets it is its own affair",
		[]likenessRule{replaced(`\b(TIME_WAIT|CLOSING|CLOSE_WAIT|LAST_ACK|FIN_WAIT_[12])$`, "ENDED")},
	}
	// Kernels acknowledge, ask for neighbours, choose ports and close connections as they like.
	likeFrames = likeness{
		"bare acknowledgements, the end of connections and ARP, which are left out; the length of TCP's payload; and the port that a probe comes from",
		[]likenessRule{
			omitted(`^[<>] .*\[\.?F?\.\] len 0 `), omitted(`^[<>] .*\[F\.?P?\.?\]`), omitted(`^[<>] (\S+ > \S+ )?ARP `),
			replaced(`(TCP .*) len [1-9]\d*\b`, "$1 len N"), replaced(`:(3[2-9]|[45]\d|60)\d{3}\b( > \S+:8080 | \[|$)`, ":PORT$2"),
		},
	}
)
