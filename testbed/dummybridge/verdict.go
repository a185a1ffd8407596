package dummybridge

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend"
)

// Examine executes a frame as Receive does and finds out what became of it.
//
// A switch does not say which flow dropped a frame. Where the connection tracker has no part in it, a trace before does.
// Otherwise the flow is the one that drops and has counted one frame more. For that, counters are read before and after:
// before, those of the last time will do if all frames since have left.
func (s *Switch) Examine(in datapath.Injection, emit func(datapath.Output)) simbackend.Verdict {
	look, err := s.foresee(in)
	if err != nil {
		s.fail(err)
	}
	before := s.drops
	if look.tracked && before == nil {
		if before, err = s.countDrops(); err != nil {
			s.fail(err)
		}
	}
	v := s.receive(in, emit)
	if v.Outputs > 0 || v.PacketIns > 0 {
		s.drops = before
		return v
	}
	v.Table, v.Matched, v.Flow = look.flow.Table, look.matched, look.flow
	if look.tracked {
		if s.drops, err = s.countDrops(); err != nil {
			s.fail(err)
		}
		if f, ok := grown(before, s.drops); ok {
			v.Table, v.Matched, v.Flow = f.Table, true, f
		}
	}
	return v
}

// drops are the flows that drop, by their text, and how many frames each has counted.
type drops map[string]openflow.FlowEntry

func (s *Switch) countDrops() (drops, error) {
	entries, err := s.Flows(context.Background())
	if err != nil {
		return nil, err
	}
	d := drops{}
	for _, e := range entries {
		if len(e.Actions) == 0 {
			d[e.Flow.String()] = e
		}
	}
	return d, nil
}

// grown is the flow that counted more.
func grown(before, after drops) (openflow.Flow, bool) {
	for k, e := range after {
		if e.Packets > before[k].Packets {
			return e.Flow, true
		}
	}
	return openflow.Flow{}, false
}

// foresight is what a trace says will become of a frame.
type foresight struct {
	tracked bool // the connection tracker decides
	matched bool
	flow    openflow.Flow // of the last lookup
}

// lookupLine is how a trace prints a lookup.
var lookupLine = regexp.MustCompile(`(?m)^ *(\d+)\. (?:(.*), )?(?:priority (\d+)(?:, cookie 0x[0-9a-f]+)?|No match\.?.*)$`)

func (s *Switch) foresee(in datapath.Injection) (foresight, error) {
	if err := s.sync(); err != nil {
		return foresight{}, err
	}
	text, err := s.sw.Trace(context.Background(), fmt.Sprintf("in_port=%d", in.InPort), fmt.Sprintf("%x", in.Frame))
	if err != nil {
		return foresight{}, err
	}
	look := foresight{tracked: strings.Contains(text, "\nrecirc(")}
	lookups := lookupLine.FindAllStringSubmatch(text, -1)
	if len(lookups) == 0 {
		return look, fmt.Errorf("read trace: no lookup in %q", text)
	}
	last := lookups[len(lookups)-1]
	if look.matched = last[3] != ""; !look.matched {
		return look, nil
	}
	look.flow, err = s.find(last)
	return look, err
}

// find is the flow of a lookup.
func (s *Switch) find(lookup []string) (f openflow.Flow, err error) {
	if f, known := s.found[lookup[0]]; known {
		return f, nil
	}
	match, err := openflow.ParseMatch(lookup[2])
	if err != nil {
		return f, fmt.Errorf("read trace: %w", err)
	}
	table, err := strconv.ParseUint(lookup[1], 10, 8)
	if err != nil {
		return f, fmt.Errorf("read trace: %w", err)
	}
	priority, err := strconv.ParseUint(lookup[3], 10, 16)
	if err != nil {
		return f, fmt.Errorf("read trace: %w", err)
	}
	entries, err := s.Flows(context.Background())
	if err != nil {
		return f, err
	}
	key := openflow.Key{Table: openflow.TableID(table), Priority: uint16(priority), Match: match}
	for _, e := range entries {
		if e.Key().Compare(key) == 0 {
			s.found[lookup[0]] = e.Flow
			return e.Flow, nil
		}
	}
	return f, fmt.Errorf("read trace: the switch has no flow %q", lookup[0])
}
