package simbackend

import (
	"errors"

	"hpnn/datapath/openflow"
	"hpnn/simbackend/conntrack"
	"hpnn/simbackend/flow"
)

// Limits of a pass (OVS ofproto-dpif-xlate.c; ovs-actions(7), resubmit).
const (
	maxDepth     = 64   // nested resubmits to the same or an earlier table
	maxResubmits = 4096 // resubmits and gotos in all
	maxRecirc    = 6    // recirculations of one frame, one inside the other
)

// Errors that end a pass and drop its frame.
var (
	errTooDeep      = errors.New("recursion too deep")
	errTooMany      = errors.New("too many resubmits")
	errPendingSet   = errors.New("write_actions is pending at ct(table=), which ends ovs-vswitchd 3.1")
	errNotCompiled  = errors.New("opcode is unknown")
	errStackTooDeep = errors.New("stack too deep")
)

// pass is one walk of a frame through the tables. It changes fields and composes datapath
// actions; it does not touch the frame.
type pass struct {
	sw  *Switch
	key flow.Key // fields as modified so far
	len int      // of the frame, bytes

	steps []step     // datapath actions composed so far
	keys  []flow.Key // that steps refer to
	dirty bool       // a header field may have changed since the last stepSet
	stack []openflow.Value
	set   actionSet
	inSet bool // the action set is being executed

	depth, resubmits int
	exited           bool
	err              error
	stopped          bool // one of both: nothing more of the pass is to be executed

	tracked bool // the fields tell what the tracker found: nothing has cleared it in this pass

	requests []*conntrack.Request // made for steps; the first asked are in use
	asked    int

	learned []lesson

	recorded  bool          // what it meets is noted, to remember the pass
	met       []met         // lookups, and learned flows that it refreshed
	wildcards *wildcards    // what it looked at; there once a pass was recorded
	fleeting  bool          // an equal pass may do something else
	overlays  []writtenWord // if it is traced and recorded: of keys,
	overlaid  int           // of which there are so many
	fork      *fork         // it is remembered, with this at its end
	sequel    *sequel       // and as that of a microflow, with what follows

	preview bool // a trace: nothing is learned, counted or refreshed

	rule  *rule   // whose actions are being executed
	last  lookup  // the latest table lookup
	trace *tracer // nil unless somebody looks
}

// lookup says what a table answered.
type lookup struct {
	table openflow.TableID
	rule  *rule // nil: nothing matched
}

// record makes the pass note what it meets.
func (p *pass) record() {
	if p.wildcards == nil {
		p.wildcards = &wildcards{}
	}
	p.wildcards.reset(&p.key)
	p.wildcards.untracked = !p.tracked
	p.recorded = true
}

// begin readies a pass for a frame of the given length, keeping its buffers.
func (p *pass) begin(sw *Switch, length int) {
	p.sw, p.len = sw, length
	p.steps, p.keys, p.stack, p.learned = p.steps[:0], p.keys[:0], p.stack[:0], p.learned[:0]
	p.dirty, p.inSet, p.tracked, p.exited, p.err, p.stopped = false, false, false, false, nil, false
	p.depth, p.resubmits, p.rule, p.asked = 0, 0, nil, 0
	p.recorded, p.met, p.overlays, p.overlaid, p.fleeting, p.fork, p.sequel = false, p.met[:0], p.overlays[:0], 0, false, nil, nil
	p.set.reset()
}

// translate walks the tables from one on, then runs the action set.
func (p *pass) translate(from openflow.TableID) {
	p.resume(from, p.key.InPort())
	if p.err == nil && !p.set.empty() {
		p.runSet(from)
	}
	if p.err != nil {
		p.steps = p.steps[:0]
	}
}

// resume looks the frame up in a table, as if it had come in on port, and does what the rule says, and
// the rules of the tables it goes to.
func (p *pass) resume(table openflow.TableID, port uint16) {
	outer, entered := p.rule, 0
	for {
		r := p.find(table, port)
		p.last = lookup{table, r}
		if p.recorded {
			p.met = append(p.met, met{table: table, rule: r})
		}
		if p.trace != nil {
			p.trace.enter(table, r)
			entered++
		}
		if r == nil {
			break
		}
		if !p.preview {
			r.packets++
			r.bytes += uint64(p.len)
			r.used = p.sw.now
		}
		p.rule = r
		next := p.run(r.code, table)
		if next == nil || !p.may() {
			break
		}
		p.resubmits++
		table, port = next.table, p.key.InPort()
	}
	for range entered {
		p.trace.leave()
	}
	p.rule = outer
}

func (p *pass) find(table openflow.TableID, port uint16) *rule {
	own := p.key.InPort()
	if p.recorded { // of a frame that is no fragment
		p.key.SetInPort(port)
		r := p.sw.tables[table].lookupSeen(&p.key, p.wildcards)
		p.key.SetInPort(own)
		return r
	}
	if port == own && !p.key.IsFragment() {
		return p.sw.tables[table].lookup(&p.key)
	}
	p.key.SetInPort(port)
	ports := p.key.HidePorts()
	r := p.sw.tables[table].lookup(&p.key)
	p.key.ShowPorts(ports)
	p.key.SetInPort(own)
	return r
}

// resubmit looks the frame up in a table and comes back, unless a limit is exceeded. Only a
// lookup in the same or an earlier table nests, but at the limit none is allowed.
func (p *pass) resubmit(table, from openflow.TableID, port uint16) {
	if !p.may() {
		return
	}
	deeper := 0
	if table <= from {
		deeper = 1
	}
	p.depth += deeper
	p.resubmits++
	p.resume(table, port)
	p.depth -= deeper
}

// may reports whether the limits allow one more lookup. If not, the pass ends.
func (p *pass) may() bool {
	switch {
	case p.depth >= maxDepth:
		p.fail(errTooDeep, "over max translation depth 64")
	case p.resubmits >= maxResubmits:
		p.fail(errTooMany, "over 4096 resubmit actions")
	default:
		return true
	}
	return false
}

// fail ends the pass; text is how a trace shows it.
func (p *pass) fail(err error, text string) {
	if p.err == nil {
		p.err, p.stopped = err, true
	}
	if p.trace != nil {
		p.trace.fail(text)
	}
}
