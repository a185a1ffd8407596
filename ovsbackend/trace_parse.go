package ovsbackend

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// section is the part of ofproto/trace's output about one pass.
type section struct {
	pass    datapath.Pass
	recirc  uint32  // by which the pass came about; 0 for the first
	initial []field // addresses and ports before a translation that was assumed
}

// parseTrace reads the output of ofproto/trace (ovs-vswitchd(8)). There is at least one section.
func parseTrace(text string) ([]section, error) {
	p := &traceParser{lines: strings.Split(strings.TrimRight(text, "\n"), "\n")}
	for p.at < len(p.lines) {
		s, err := p.section()
		if err != nil {
			return nil, fmt.Errorf("read line %d of ofproto/trace: %w", p.at+1, err)
		}
		p.sections = append(p.sections, s)
	}
	if len(p.sections) == 0 {
		return nil, fmt.Errorf("read ofproto/trace: no flow in %q", text)
	}
	return p.sections, nil
}

type traceParser struct {
	lines    []string
	at       int
	sections []section
}

// peek is the line to read next; ok is false at the end.
func (p *traceParser) peek() (line string, ok bool) {
	if p.at >= len(p.lines) {
		return "", false
	}
	return p.lines[p.at], true
}

// skip passes over blank lines and lines of the given beginnings.
func (p *traceParser) skip(prefixes ...string) {
	for {
		line, ok := p.peek()
		if !ok || line != "" && !hasAnyPrefix(line, prefixes) {
			return
		}
		p.at++
	}
}

func hasAnyPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// expect reads a line of the given beginning and returns the rest.
func (p *traceParser) expect(prefix string) (string, error) {
	line, _ := p.peek()
	rest, ok := strings.CutPrefix(line, prefix)
	if !ok {
		return "", fmt.Errorf("%q does not begin with %q", line, prefix)
	}
	p.at++
	return rest, nil
}

func (p *traceParser) section() (s section, err error) {
	if s, err = p.heading(); err != nil {
		return s, err
	}
	p.skip("===")
	if s.pass.Flow, err = p.expect("Flow: "); err != nil {
		return s, err
	}
	if s.recirc != 0 {
		s.pass.Resume = resumption(parseFlowText(s.pass.Flow))
	}
	p.skip("bridge(", "---")
	s.pass.Table = p.thaw()
	nodes, err := p.nodes(nil, 0, 0)
	if err != nil {
		return s, err
	}
	s.pass.Nodes = datapath.NodesOf(withoutEcho(datapath.NodesOf(nodes...))...)
	return s, p.ending(&s.pass)
}

// resumption is what the tracker found before a pass.
func resumption(f *flowText) string {
	return fmt.Sprintf("ct_state=%s,ct_zone=%s", f.get("ct_state"), orZero(f.get("ct_zone")))
}

var recircLine = regexp.MustCompile(`^recirc\(0x([0-9a-f]+)\) - `)

// heading reads how a pass came about, if it is not the first.
func (p *traceParser) heading() (s section, err error) {
	for p.skip("==="); ; p.at++ {
		line, ok := p.peek()
		switch found := recircLine.FindStringSubmatch(line); {
		case found != nil:
			id, err := strconv.ParseUint(found[1], 16, 32)
			if err != nil {
				return s, err
			}
			s.recirc = uint32(id)
		case strings.HasPrefix(line, " Initial flow: "):
			s.initial = parseFlowText(strings.TrimPrefix(line, " Initial flow: ")).fields
		case !ok || !hasAnyPrefix(line, []string{"Replacing ", " Modified flow:", " Initial flow:"}):
			return s, nil
		}
	}
}

// thaw reads where a pass resumes.
func (p *traceParser) thaw() openflow.TableID {
	if line, _ := p.peek(); strings.TrimSpace(line) != "thaw" || p.at+1 >= len(p.lines) {
		return 0
	}
	p.at++
	var table openflow.TableID
	if _, err := fmt.Sscanf(strings.TrimSpace(p.lines[p.at]), "Resuming from table %d", &table); err == nil {
		p.at++
	}
	return table
}

// ending reads what follows the steps.
func (p *traceParser) ending(pass *datapath.Pass) (err error) {
	p.skip()
	if pass.FinalFlow, err = p.expect("Final flow: "); err != nil {
		return err
	}
	p.skip("Megaflow: ")
	if pass.Datapath, err = p.expect("Datapath actions: "); err != nil {
		return err
	}
	if line, _ := p.peek(); strings.HasPrefix(line, "Translation failed (") {
		pass.Failure = strings.TrimSuffix(strings.TrimPrefix(line, "Translation failed ("), "), packet is dropped.")
		p.at++
	}
	p.skip("This flow is handled", "  - ") // why in the slow path
	return nil
}
