package conformance

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
)

// File is a case and what the real switch did with it, in a form for people and for the replaying test. Its text is
// prose, then the sections
//
//	-- program --      a flow a line
//	-- events --       "frame PORT HEX", "advance 3s", "commit" and below it the lines of the bundle, indented
//	-- refused --      numbers of refused bundles, a line each; may be missing
//	-- outputs --      "PORT HEX", those of a port in order
//	-- packet-ins --   "PORT REASON HEX", what went to the controller; may be missing
//	-- flows --        counters, ages and flow
//	-- connections --  as dpctl/dump-conntrack -s prints them
//	-- trace --        of the last frame; may be missing
//
// Lines that begin with # are comments.
type File struct {
	Case   Case
	Record Record
}

// String is the file's text, which ParseFile reads back.
func (f File) String() string {
	var b strings.Builder
	if note := strings.TrimSpace(f.Case.Note); note != "" {
		fmt.Fprintln(&b, note)
	}
	add := func(name, text string) { fmt.Fprintf(&b, "-- %s --\n%s", name, text) }
	add("program", lines(f.Case.Flows))
	add("events", formatEvents(f.Case.Events))
	if len(f.Record.Refused) > 0 {
		add("refused", lines(f.Record.Refused))
	}
	add("outputs", formatOutputs(f.Record.Outputs))
	if len(f.Record.PacketIns) > 0 {
		add("packet-ins", lines(f.Record.PacketIns))
	}
	add("flows", lines(f.Record.Flows))
	add("connections", lines(f.Record.Connections))
	if len(f.Record.Trace) > 0 {
		add("trace", lines(f.Record.Trace))
	}
	return b.String()
}

func lines[T any](list []T) string {
	var b strings.Builder
	for _, v := range list {
		fmt.Fprintln(&b, v)
	}
	return b.String()
}

func formatEvents(events []Event) string {
	var b strings.Builder
	for _, e := range events {
		switch e := e.(type) {
		case Frame:
			fmt.Fprintf(&b, "# %s\nframe %v %x\n", packet.Summary(e.Bytes), e.Port, e.Bytes)
		case Advance:
			fmt.Fprintf(&b, "advance %ds\n", int(e.By.Seconds()))
		case Commit:
			fmt.Fprintln(&b, "commit")
			for _, m := range e.Bundle {
				fmt.Fprintln(&b, " ", m)
			}
		}
	}
	return b.String()
}

func formatOutputs(outputs map[openflow.PortNo][][]byte) string {
	var b strings.Builder
	for _, port := range allPorts() {
		for _, frame := range outputs[port] {
			fmt.Fprintf(&b, "# %s\n%v %x\n", packet.Summary(frame), port, frame)
		}
	}
	return b.String()
}

// ParseFile reads the text of a File. The error names the section and the line.
func ParseFile(text string) (File, error) {
	f := File{Record: Record{Outputs: map[openflow.PortNo][][]byte{}}}
	sections := map[string]func(string) error{
		"": f.parseNote, "program": f.parseFlow, "events": f.parseEvent, "refused": f.parseRefused, "outputs": f.parseOutput,
		"trace":       func(line string) error { f.Record.Trace = append(f.Record.Trace, line); return nil },
		"packet-ins":  func(line string) error { f.Record.PacketIns = append(f.Record.PacketIns, line); return nil },
		"flows":       func(line string) error { f.Record.Flows = append(f.Record.Flows, line); return nil },
		"connections": func(line string) error { f.Record.Connections = append(f.Record.Connections, line); return nil },
	}
	section, n := "", 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		n++
		switch name, ok := heading(line); {
		case ok && sections[name] == nil:
			return File{}, fmt.Errorf("read case: line %d: section %q is unknown", n, name)
		case ok:
			section = name
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		default:
			if err := sections[section](line); err != nil {
				return File{}, fmt.Errorf("read case: line %d: %w", n, err)
			}
		}
	}
	slices.Sort(f.Record.Flows)
	slices.Sort(f.Record.Connections)
	return f, nil
}

// heading is the name in a line such as "-- program --".
func heading(line string) (name string, ok bool) {
	name, ok = strings.CutPrefix(line, "-- ")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(name, " --")
}

func (f *File) parseNote(line string) error {
	f.Case.Note += line + "\n"
	return nil
}

func (f *File) parseFlow(line string) error {
	flow, err := openflow.ParseFlow(line)
	f.Case.Flows = append(f.Case.Flows, flow)
	return err
}

func (f *File) parseRefused(line string) error {
	n, err := strconv.Atoi(line)
	f.Record.Refused = append(f.Record.Refused, n)
	return err
}

func (f *File) parseOutput(line string) error {
	port, frame, err := parsePortAndFrame(strings.Fields(line))
	f.Record.Outputs[port] = append(f.Record.Outputs[port], frame)
	return err
}

func (f *File) parseEvent(line string) error {
	if strings.HasPrefix(line, " ") {
		return f.parseChange(strings.TrimSpace(line))
	}
	words := strings.Fields(line)
	var e Event
	switch words[0] {
	case "frame":
		port, frame, err := parsePortAndFrame(words[1:])
		if err != nil {
			return err
		}
		e = Frame{port, frame}
	case "advance":
		by, err := time.ParseDuration(strings.Join(words[1:], " "))
		if err != nil || by <= 0 || by%time.Second != 0 {
			return fmt.Errorf("%q is not a time: write seconds, such as 3s", words[1:])
		}
		e = Advance{by}
	case "commit":
		e = Commit{}
	default:
		return fmt.Errorf("event %q is unknown: write frame, advance or commit", words[0])
	}
	f.Case.Events = append(f.Case.Events, e)
	return nil
}

// parseChange reads a line of the bundle that is the last event.
func (f *File) parseChange(line string) error {
	last := len(f.Case.Events) - 1
	if last >= 0 {
		if commit, ok := f.Case.Events[last].(Commit); ok {
			m, err := openflow.ParseFlowMod(line)
			commit.Bundle = append(commit.Bundle, m)
			f.Case.Events[last] = commit
			return err
		}
	}
	return fmt.Errorf("a change that belongs to no commit")
}

func parsePortAndFrame(words []string) (openflow.PortNo, []byte, error) {
	if len(words) != 2 {
		return 0, nil, fmt.Errorf("%d words instead of a port and the frame in hex", len(words))
	}
	frame, err := hex.DecodeString(words[1])
	if err != nil {
		return 0, nil, err
	}
	for _, p := range allPorts() {
		if p.String() == words[0] {
			return p, frame, nil
		}
	}
	return 0, nil, fmt.Errorf("no port %q", words[0])
}
