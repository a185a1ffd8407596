package ovsbackend

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// maxPasses bounds a trace; OVS gives a frame up much earlier.
const maxPasses = 64

// Trace implements datapath.Bridge: ofproto/trace without a frame, which learns nothing and leaves no
// connection, of the flow that the switch itself extracts from the frame.
//
// ofproto/trace does not ask the connection tracker. So where a pass ends in it, the connection is
// looked up here, and the next pass is traced with its state, mark, label and translation. A frame whose
// connection is not known goes on as ofproto/trace has it.
//
// The frames that leave are made from the datapath actions. Where those do something that is not known here,
// such as IPv6 rewriting, an Output has no bytes.
func (b *Bridge) Trace(ctx context.Context, in datapath.Injection) (t datapath.Trace, err error) {
	err = b.do(ctx, "trace frame", func(ctx context.Context) (err error) {
		t, err = b.trace(ctx, in)
		return err
	})
	return t, err
}

func (b *Bridge) trace(ctx context.Context, in datapath.Injection) (datapath.Trace, error) {
	layout, err := b.layout(ctx)
	if err != nil {
		return datapath.Trace{}, err
	}
	if !layout.all[in.InPort] {
		return datapath.Trace{}, fmt.Errorf("bridge %s has no port %v", b.config.Bridge, in.InPort)
	}
	start, err := b.extract(ctx, in)
	if err != nil {
		return datapath.Trace{}, err
	}
	text, err := b.appctl(ctx, "ofproto/trace", b.config.Bridge, start.exact())
	if err != nil {
		return datapath.Trace{}, err
	}
	sections, err := parseTrace(text)
	if err != nil {
		return datapath.Trace{}, err
	}
	w := walk{bridge: b, layout: layout, frame: in.Frame}
	return w.run(ctx, sections)
}

// extract has the switch say which flow a frame belongs to, by tracing the frame through an action
// that does nothing.
func (b *Bridge) extract(ctx context.Context, in datapath.Injection) (*flowText, error) {
	text, err := b.appctl(ctx, "ofproto/trace-packet-out", b.config.Bridge,
		fmt.Sprintf("in_port=%d", in.InPort), fmt.Sprintf("%x", in.Frame), "note:00")
	if err != nil {
		return nil, err
	}
	sections, err := parseTrace(text)
	if err != nil {
		return nil, err
	}
	return parseFlowText(sections[0].pass.Flow), nil
}

// walk is a trace in the making: passes that are done, and those to come.
type walk struct {
	bridge *Bridge
	layout layout
	frame  []byte
	conns  []datapath.Conn // once they were needed
	known  bool            // conns are there
	queue  []pending
	trace  datapath.Trace
}

// pending is a pass to come: as ofproto/trace saw it, with the passes after it, and how the tracker was
// called before it.
type pending struct {
	section section
	after   []section
	call    ctCall
	stale   bool   // ofproto/trace could not see the pass: it knows its flow at the start only
	frame   edited // before the tracker saw it
}

// run makes passes until none is left. Those that fork off one pass come after those of the pass before.
func (w *walk) run(ctx context.Context, sections []section) (datapath.Trace, error) {
	w.take(sections[0], sections[1:], false, edit(w.frame))
	for len(w.queue) > 0 && len(w.trace.Passes) < maxPasses {
		next := w.queue[0]
		w.queue = w.queue[1:]
		if err := w.resume(ctx, next); err != nil {
			return datapath.Trace{}, err
		}
	}
	return w.trace, nil
}

// take adds a pass that is done, with what leaves in it, and queues the passes that fork off it.
func (w *walk) take(s section, after []section, stale bool, frame edited) {
	x := emission{layout: w.layout, frame: frame, forks: map[string]edited{}}
	x.run(s.pass.Datapath)
	w.trace.Outputs = append(w.trace.Outputs, x.outputs...)
	calls := ctCalls(s.pass)
	for _, call := range calls {
		for i, a := range after {
			if a.recirc == call.recirc {
				a.pass.Table = call.table
				w.queue = append(w.queue, pending{section: a, after: after[i+1:], call: call, stale: stale,
					frame: x.forks[fmt.Sprintf("recirc(%#x)", call.recirc)]})
				break
			}
		}
	}
	s.pass.Datapath = w.portable(s.pass.Datapath, calls)
	w.trace.Passes = append(w.trace.Passes, s.pass)
}

// resume takes a pass as ofproto/trace assumed it, or traces it anew if the tracker knows better.
func (w *walk) resume(ctx context.Context, p pending) error {
	flow := parseFlowText(p.section.pass.Flow)
	known, err := w.track(ctx, p, flow)
	if err != nil {
		return err
	}
	s, after := p.section, p.after
	if known || p.stale {
		if s, after, err = w.retrace(ctx, flow, s.pass.Table); err != nil {
			return err
		}
	}
	id := fmt.Sprintf("%#x", len(w.trace.Passes))
	flow.set("recirc_id", id)
	s.pass.Flow, s.pass.FinalFlow = flow.String(), recircID.ReplaceAllString(s.pass.FinalFlow, "recirc_id="+id)
	s.pass.Resume = resumption(flow)
	w.take(s, after, known || p.stale, flow.translated(p.frame, p.call.text))
	return nil
}

var recircID = regexp.MustCompile(`^recirc_id=0x[0-9a-f]+`)

// retrace traces a flow from a table on. Of the passes after it, ofproto/trace then knows the flows only.
func (w *walk) retrace(ctx context.Context, flow *flowText, table openflow.TableID) (section, []section, error) {
	text, err := w.bridge.appctl(ctx, "ofproto/trace-packet-out", w.bridge.config.Bridge, flow.exact(), fmt.Sprintf("resubmit(,%d)", table))
	if err != nil {
		return section{}, nil, err
	}
	sections, err := parseTrace(text)
	if err != nil {
		return section{}, nil, err
	}
	s := sections[0]
	if n := s.pass.Nodes.Len(); n > 0 {
		s.pass.Nodes = s.pass.Nodes.Part(1, n) // without the resubmit
	}
	s.pass.Table = table
	return s, sections[1:], nil
}

// ctCall is a call of the tracker after which the frame goes through the tables again.
type ctCall struct {
	text   string // such as "ct(commit,zone=4,nat(dst=10.0.0.9:99))"
	recirc uint32
	table  openflow.TableID
}

var ctCallPattern = regexp.MustCompile(`(ct(?:\((?:[^()]|\([^()]*\))*\))?),recirc\(0x([0-9a-f]+)\)`)

// ctCalls lists the calls among a pass's datapath actions, in order. The notes in its steps, in the same
// order, tell the tables.
func ctCalls(p datapath.Pass) (calls []ctCall) {
	tables := resumeTables(p.Nodes)
	for i, found := range ctCallPattern.FindAllStringSubmatch(p.Datapath, -1) {
		id, err := strconv.ParseUint(found[2], 16, 32)
		if err == nil && i < len(tables) {
			calls = append(calls, ctCall{found[1], uint32(id), tables[i]})
		}
	}
	return calls
}

func resumeTables(nodes datapath.Nodes) (tables []openflow.TableID) {
	for _, n := range nodes.All() {
		var table openflow.TableID
		if _, err := fmt.Sscanf(n.Text, forkNote+"%d.", &table); err == nil && n.Kind == datapath.NodeNote {
			tables = append(tables, table)
		}
	}
	return tables
}

// forkNote is how ofproto/trace announces another pass.
const forkNote = "A clone of the packet is forked to recirculate. The forked pipeline will be resumed at table "

func orZero(s string) string {
	if s == "" {
		return "0"
	}
	return s
}
