//go:build linux

package realtime

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend"
	"hpnn/testbed"
)

// fateTimeout bounds how long it may take to find out what became of a frame.
const fateTimeout = 3 * time.Second

// examine sends a frame on a bed whose switch does not tell what becomes of it, finds that out, and keeps it for the story.
//
// A trace before says what would leave. It has left if the machines there have heard it, byte for byte. What the connection
// tracker refuses no trace can know: then the flow tells that drops and has counted more.
func (b *bed) examine(m Machine, frame []byte) error {
	ctx, cancel := bounded()
	defer cancel()
	in := datapath.Injection{InPort: m.About().Port, Frame: frame}
	trace, err := b.bridge.Trace(ctx, in)
	if err != nil {
		return err
	}
	f := fate{bed: b, expected: trace.Outputs, heardFrom: b.hosts.heardSoFar(), tracked: asksTracker(trace)}
	if f.before, err = b.flows(ctx); err != nil {
		return err
	}
	if f.verdict, err = lastLookup(trace, f.before); err != nil {
		return err
	}
	if err := b.hosts.cards.transmit(m, frame); err != nil {
		return err
	}
	if err := f.await(ctx); err != nil {
		return err
	}
	b.passed.take(in, f.left, f.verdict)
	return nil
}

// flows are those of the switch, with all counted that has passed.
func (b *bed) flows(ctx context.Context) ([]openflow.FlowEntry, error) {
	if c, ok := b.bridge.(testbed.Counter); ok {
		if err := c.Count(ctx); err != nil {
			return nil, err
		}
	}
	return b.bridge.Flows(ctx)
}

// fate is what becomes of a frame.
type fate struct {
	bed       *bed
	expected  []datapath.Output
	heardFrom int  // of the frames that machines hear, where its begin
	tracked   bool // the connection tracker has a say
	before    []openflow.FlowEntry
	left      []datapath.Output
	verdict   simbackend.Verdict
}

// await returns when it is known.
func (f *fate) await(ctx context.Context) error {
	for end := time.Now().Add(fateTimeout); ; time.Sleep(time.Millisecond) {
		f.left = f.bed.hosts.received(f.heardFrom, f.expected)
		if len(f.left) == len(f.expected) && (len(f.left) > 0 || !f.tracked) {
			f.verdict.Outputs = len(f.left)
			return nil
		}
		if f.tracked {
			after, err := f.bed.flows(ctx)
			if err != nil {
				return err
			}
			if dropped, ok := grown(f.before, after); ok {
				f.left, f.verdict = nil, simbackend.Verdict{Table: dropped.Table, Matched: true, Flow: dropped}
				return nil
			}
		}
		if time.Now().After(end) {
			return nil // what has left is what was heard
		}
	}
}

// grown is the flow that drops and has counted more.
func grown(before, after []openflow.FlowEntry) (openflow.Flow, bool) {
	counted := map[openflow.TableID]map[string]uint64{}
	for _, e := range before {
		if len(e.Actions) == 0 {
			if counted[e.Table] == nil {
				counted[e.Table] = map[string]uint64{}
			}
			counted[e.Table][e.Flow.String()] = e.Packets
		}
	}
	for _, e := range after {
		if len(e.Actions) == 0 && e.Packets > counted[e.Table][e.Flow.String()] {
			return e.Flow, true
		}
	}
	return openflow.Flow{}, false
}

// asksTracker reports whether the connection tracker has a say in a trace.
func asksTracker(t datapath.Trace) bool {
	return slices.ContainsFunc(t.Passes, func(p datapath.Pass) bool { return p.Resume != "" || strings.Contains(p.Datapath, "ct(") })
}

// lookupText is how a trace prints what a lookup has found.
var lookupText = regexp.MustCompile(`^ *(\d+)\. (?:(.*), )?priority (\d+)`)

// lastLookup is what a trace says of a frame that does not leave.
func lastLookup(t datapath.Trace, flows []openflow.FlowEntry) (v simbackend.Verdict, err error) {
	var last datapath.Node
	for _, p := range t.Passes {
		if strings.Contains(p.Datapath, "controller(") {
			v.PacketIns = 1
		}
		for _, n := range p.Nodes.All() {
			if n.Kind == datapath.NodeTable {
				last = n
			}
		}
	}
	v.Table = last.Table
	found := lookupText.FindStringSubmatch(last.Text)
	if found == nil {
		return v, nil // nothing matched
	}
	match, err := openflow.ParseMatch(found[2])
	if err != nil {
		return v, fmt.Errorf("read trace: %w", err)
	}
	priority, _ := strconv.ParseUint(found[3], 10, 16) // the group is one of digits
	key := openflow.Key{Table: last.Table, Priority: uint16(priority), Match: match}
	for _, e := range flows {
		if e.Key().Compare(key) == 0 {
			v.Matched, v.Flow = true, e.Flow
			return v, nil
		}
	}
	return v, fmt.Errorf("read trace: the switch has no flow %q", last.Text)
}

// heardSoFar is how many frames wait to be told.
func (h *hosts) heardSoFar() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.heard)
}

// received are those of the frames that machines have received since: each once, in the given order. Where there is no machine
// that is listened to, a frame counts as received.
func (h *hosts) received(since int, frames []datapath.Output) (all []datapath.Output) {
	at := map[string]openflow.PortNo{}
	listened := map[openflow.PortNo]bool{}
	for _, m := range h.List() {
		at[m.Name] = m.Port
		listened[m.Port] = listened[m.Port] || m.Role != testbed.Kernel
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	heard := h.heard[min(since, len(h.heard)):]
	taken := map[int]bool{}
	for _, f := range frames {
		if !listened[f.Port] {
			all = append(all, f)
			continue
		}
		for i, one := range heard {
			if !taken[i] && !one.Sent && at[one.Host] == f.Port && bytes.Equal(one.Frame, f.Frame) {
				taken[i] = true
				all = append(all, f)
				break
			}
		}
	}
	return all
}
