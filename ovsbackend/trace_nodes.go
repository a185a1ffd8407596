package ovsbackend

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// step is a line of a trace.
type step struct {
	indent int // blanks before it
	node   datapath.Node
}

// level is how many blanks ofproto/trace indents by.
const level = 4

// nodes reads the list at a level of indentation, and appends it to nodes of a pass, so far down. Its actions and notes are indented by one level more, and so are
// the lookups in it, unless they come last: those are not, and what is below them is neither, so that a
// chain of gotos stays flat.
func (p *traceParser) nodes(list []datapath.Node, at int, depth uint16) (_ []datapath.Node, err error) {
	for {
		p.otherBridge()
		line, ok := p.peek()
		if !ok || line == "" {
			return list, nil
		}
		s, ok := parseStep(line)
		s.node.Depth = depth
		branch := s.node.Kind.IsBranch()
		switch {
		case !ok:
			return nil, fmt.Errorf("%q is no step of a trace", line)
		case s.indent == level*(at+1) && !branch:
			p.at++
			list = append(list, s.node)
		case s.indent == level*(at+1):
			p.at++
			p.underline()
			if list, err = p.nodes(append(list, s.node), at+2, depth+1); err != nil {
				return nil, err
			}
		case s.indent == level*at && branch:
			p.at++
			p.underline()
			return p.nodes(append(list, s.node), at, depth+1)
		case s.indent < level*(at+1):
			return list, nil
		default:
			return nil, fmt.Errorf("%q is indented by %d blanks, deeper than %d", line, s.indent, level*(at+1))
		}
	}
}

// otherBridge passes over the blank line before what happens on another bridge, beyond a patch port.
func (p *traceParser) otherBridge() {
	if p.at+1 < len(p.lines) && p.lines[p.at] == "" && strings.HasPrefix(strings.TrimLeft(p.lines[p.at+1], " "), bridgeHeading) {
		p.at++
	}
}

// underline passes over the line below the name of a bridge.
func (p *traceParser) underline() {
	if line, ok := p.peek(); ok && strings.HasPrefix(strings.TrimLeft(line, " "), "---") {
		p.at++
	}
}

// bridgeHeading is how the name of a bridge is printed.
const bridgeHeading = `bridge("`

// lookupLine is a table's line, whose number takes two places.
var lookupLine = regexp.MustCompile(`^( *?)([ 0-9]\d|\d{3})\. `)

func parseStep(line string) (step, bool) {
	if found := lookupLine.FindStringSubmatch(line); found != nil {
		n, err := strconv.ParseUint(strings.TrimSpace(found[2]), 10, 8)
		return step{len(found[1]), datapath.Node{Kind: datapath.NodeTable, Text: line[len(found[1]):], Table: openflow.TableID(n)}}, err == nil
	}
	text := strings.TrimLeft(line, " ")
	indent := len(line) - len(text)
	switch {
	case hasAnyPrefix(text, []string{"bucket ", "--. ", bridgeHeading}):
		return step{indent, datapath.Node{Kind: datapath.NodeBucket, Text: text}}, true
	case strings.HasPrefix(text, "-> "):
		return step{indent - 1, datapath.Node{Kind: datapath.NodeNote, Text: text[3:]}}, true
	case strings.HasPrefix(text, ">>>> "):
		return step{indent - 1, datapath.Node{Kind: datapath.NodeError, Text: strings.TrimSuffix(text[5:], " <<<<")}}, true
	case strings.HasPrefix(text, ">> "):
		return step{indent - 1, datapath.Node{Kind: datapath.NodeWarn, Text: text[3:]}}, true
	}
	return step{indent, datapath.Node{Kind: datapath.NodeAction, Text: text}}, indent > 0
}

// withoutEcho takes out what ofproto/trace prints after a ct() action besides its notes: the actions
// inside it once more, or "drop" if there are none.
func withoutEcho(list datapath.Nodes) (out []datapath.Node) {
	inside := false
	for i := 0; i < list.Len(); {
		n, under := list.At(i), list.Under(i)
		i += 1 + under.Len()
		if n.Kind == datapath.NodeNote && hasAnyPrefix(n.Text, []string{"A clone of the packet", "Sets the packet to"}) {
			inside = false
		}
		if !inside {
			out = append(append(out, n), withoutEcho(under)...)
		}
		if n.Kind == datapath.NodeAction && strings.HasPrefix(n.Text, "ct(") {
			inside = true
		}
	}
	return out
}
