package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hpnn/datapath/openflow"
	"hpnn/testbed/dummy"
)

// Oracle is a real Open vSwitch that runs cases.
type Oracle struct {
	sw *dummy.Switch
	// dirty: fragments may wait for the rest of their datagram.
	dirty bool
	// drainage tracks every IP packet; see drain.
	drainage dummy.Encoded
}

// Answer is what became of a case on the real switch.
type Answer struct {
	Record Record
	// Err is why there is no Record, such as a dummy.AbortedError; then the switch has been restarted.
	Err error
}

// StartOracle starts a switch. Close ends it.
func StartOracle(ctx context.Context) (*Oracle, error) {
	sw, err := dummy.Start(ctx, OracleConfig())
	if err != nil {
		return nil, fmt.Errorf("start oracle: %w", err)
	}
	return NewOracle(ctx, sw)
}

// OracleConfig is the configuration of the switch that NewOracle takes.
func OracleConfig() dummy.Config { return dummy.Config{Ports: dummy.NumberedPorts(Ports)} }

// NewOracle makes a running switch an oracle.
func NewOracle(ctx context.Context, sw *dummy.Switch) (*Oracle, error) {
	encoded, err := sw.Encode(ctx, drainage)
	if err != nil {
		return nil, fmt.Errorf("start oracle: %w", err)
	}
	return &Oracle{sw: sw, drainage: encoded[0]}, nil
}

// Close ends the switch.
func (o *Oracle) Close() error { return o.sw.Close() }

// Run runs cases one after the other, each on a switch that is as new. Many at once cost less than one at a time, for
// all are translated by one process. The error is that of the switch failing for good.
func (o *Oracle) Run(ctx context.Context, cases ...Case) ([]Answer, error) {
	plans, err := o.plan(ctx, cases)
	if err != nil {
		return nil, err
	}
	answers, dumps := make([]Answer, len(cases)), make([]dummy.Dump, len(cases))
	for i := range plans {
		dumps[i], err = o.play(ctx, &plans[i], &answers[i])
		if err == nil {
			continue
		}
		answers[i].Err, dumps[i] = err, dummy.Dump{}
		if err := o.restart(ctx); err != nil {
			return nil, fmt.Errorf("restart oracle: %w", err)
		}
	}
	return answers, o.decode(ctx, dumps, answers)
}

// restart starts the switch anew, and once more if it ends by an assertion as it starts, as now and then one does on a busy
// machine.
func (o *Oracle) restart(ctx context.Context) error {
	err := o.sw.Restart(ctx)
	if errors.Is(err, dummy.ErrAborted) {
		err = o.sw.Restart(ctx)
	}
	return err
}

// decode adds the flows of dumps to answers. If ovs-ofctl cannot read one of its own switch's, it looks for it by halving.
func (o *Oracle) decode(ctx context.Context, dumps []dummy.Dump, answers []Answer) error {
	texts, err := o.sw.Decode(ctx, dumps...)
	switch half := len(dumps) / 2; {
	case err == nil:
		for i := range answers {
			if answers[i].Err == nil {
				answers[i].Record.Flows, answers[i].Err = flowLines(texts[i])
			}
		}
		return nil
	case errors.Is(err, dummy.ErrAborted) || ctx.Err() != nil:
		return fmt.Errorf("decode flows: %w", err)
	case len(dumps) == 1:
		answers[0].Err = fmt.Errorf("decode flows: %w", err)
		return nil
	default:
		if err := o.decode(ctx, dumps[:half], answers[:half]); err != nil {
			return err
		}
		return o.decode(ctx, dumps[half:], answers[half:])
	}
}

func flowLines(dump string) (lines []string, err error) {
	entries, err := openflow.ParseDump("dump", strings.NewReader(dump))
	if err != nil {
		return nil, fmt.Errorf("read the switch's dump: %w", err)
	}
	for _, e := range entries {
		lines = append(lines, flowLine(e))
	}
	slices.Sort(lines)
	return lines, nil
}

// play runs one case and dumps the flows it leaves.
func (o *Oracle) play(ctx context.Context, p *plan, a *Answer) (d dummy.Dump, err error) {
	a.Record.Outputs = map[openflow.PortNo][][]byte{}
	if err := o.clean(ctx, p); err != nil {
		return d, err
	}
	for _, s := range p.steps {
		if err := o.take(ctx, p, s, &a.Record); err != nil {
			return d, err
		}
	}
	if err := o.observe(ctx, p, &a.Record); err != nil {
		return d, err
	}
	return o.sw.RawFlows(ctx)
}

// take lets one step of a plan happen.
func (o *Oracle) take(ctx context.Context, p *plan, s step, r *Record) error {
	switch {
	case len(s.frames) > 0:
		return o.sw.Receive(ctx, portName(s.port), s.frames...)
	case s.by > 0:
		return o.wait(ctx, p, s.by, r)
	case s.refused:
		r.Refused = append(r.Refused, s.event)
		return nil
	}
	err := o.sw.Apply(ctx, s.bundle)
	var refused *dummy.RefusedError
	if errors.As(err, &refused) {
		r.Refused = append(r.Refused, s.event)
		return nil
	}
	return err
}

// wait lets time pass. The switch then hangs up on who listens.
func (o *Oracle) wait(ctx context.Context, p *plan, by time.Duration, r *Record) error {
	if err := o.hear(ctx, p, r); err != nil {
		return err
	}
	if err := o.sw.Warp(ctx, by); err != nil || !p.listens {
		return err
	}
	return o.sw.Listen(ctx)
}

// hear reads what the switch sent to the controller.
func (o *Oracle) hear(ctx context.Context, p *plan, r *Record) error {
	if !p.listens {
		return nil
	}
	packets, err := o.sw.PacketIns(ctx)
	for _, in := range packets {
		r.PacketIns = append(r.PacketIns, packetLine(openflow.PortNo(in.Port), openflow.PacketInReason(in.Reason), in.Frame))
	}
	return err
}

// observe reads what the switch sent and what it tracks, and has a frame traced.
func (o *Oracle) observe(ctx context.Context, p *plan, r *Record) error {
	if err := o.hear(ctx, p, r); err != nil {
		return err
	}
	outputs, err := o.sw.Outputs()
	if err != nil {
		return err
	}
	for _, out := range outputs {
		port := portNumber(out.Port)
		r.Outputs[port] = append(r.Outputs[port], out.Frame)
	}
	text, err := o.sw.Connections(ctx)
	if err != nil {
		return err
	}
	for line := range strings.Lines(text) {
		r.Connections = append(r.Connections, strings.TrimSpace(line))
	}
	slices.Sort(r.Connections)
	if p.traces {
		text, err = o.Trace(ctx, p.traced)
		r.Trace = comparableTrace(text)
	}
	return err
}

func portNumber(name string) openflow.PortNo {
	for _, p := range allPorts() {
		if portName(p) == name {
			return p
		}
	}
	panic("conformance: the switch sent a frame on port " + name)
}

// fragmentLife is more than the time for which fragments wait for the rest of their datagram.
const fragmentLife = 31 * time.Second

// clean takes away what the case before may have left, except for flows, which the plan's first bundle deletes.
func (o *Oracle) clean(ctx context.Context, p *plan) error {
	if o.dirty {
		if err := o.drain(ctx); err != nil {
			return err
		}
	}
	o.dirty = p.fragments
	if err := o.sw.FlushConnections(ctx); err != nil {
		return err
	}
	if _, err := o.sw.Outputs(); err != nil || !p.listens {
		return err
	}
	return o.sw.Listen(ctx)
}

// drain gets rid of fragments in waiting: once they are too old, the next frame that is tracked lets them go.
func (o *Oracle) drain(ctx context.Context) error {
	if err := o.sw.Warp(ctx, fragmentLife); err != nil {
		return err
	}
	if err := o.sw.Apply(ctx, o.drainage); err != nil {
		return err
	}
	return o.sw.Receive(ctx, portName(1), anyFrame)
}

// drainage is the text of Oracle.drainage.
const drainage = "flow delete\nflow priority=1,ip,actions=ct()\nflow priority=1,ipv6,actions=ct()"

// Trace is what ofproto/trace says of a frame, with the flows of the case that was run last.
func (o *Oracle) Trace(ctx context.Context, f Frame) (string, error) {
	return o.sw.Trace(ctx, "in_port="+f.Port.String(), fmt.Sprintf("%x", f.Bytes))
}
