package conformance

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/testbed/dummy"
)

// plan is a case as the real switch takes it: bundles encoded, frames of one port together.
type plan struct {
	steps     []step
	fragments bool // frames of the case are fragments
	listens   bool // frames may go to the controller
	traces    bool // traced is to be traced at the end
	traced    Frame
}

// step is one of: frames at a port, time, or a bundle.
type step struct {
	event   int // of the case, from 1; 0 is the bundle to start with
	port    openflow.PortNo
	frames  [][]byte
	by      time.Duration
	bundle  dummy.Encoded
	refused bool // ovs-ofctl does not accept the bundle
}

// plan encodes cases.
func (o *Oracle) plan(ctx context.Context, cases []Case) ([]plan, error) {
	plans := make([]plan, len(cases))
	var texts []string
	var bundles []*step
	for i, c := range cases {
		steps, own := c.steps()
		frame, traces := c.traced()
		plans[i] = plan{traces: traces, traced: frame, steps: steps, fragments: c.hasFragments(), listens: c.does(notifies)}
		for j := range steps {
			if text, ok := own[j]; ok {
				texts, bundles = append(texts, text), append(bundles, &steps[j])
			}
		}
	}
	return plans, o.encode(ctx, texts, bundles)
}

// encode fills in bundles. If one is refused, it looks for it by halving.
func (o *Oracle) encode(ctx context.Context, texts []string, bundles []*step) error {
	encoded, err := o.sw.Encode(ctx, texts...)
	var refused *dummy.RefusedError
	switch half := len(texts) / 2; {
	case err == nil:
		for i := range encoded {
			bundles[i].bundle = encoded[i]
		}
		return nil
	case !errors.As(err, &refused):
		return err
	case len(texts) == 1:
		bundles[0].refused = true
		return nil
	default:
		if err := o.encode(ctx, texts[:half], bundles[:half]); err != nil {
			return err
		}
		return o.encode(ctx, texts[half:], bundles[half:])
	}
}

// steps lists the case's steps, and by index the texts of those that are bundles.
func (c Case) steps() ([]step, map[int]string) {
	steps, texts := []step{{}}, map[int]string{0: "flow delete\n" + c.initial().String()}
	for i, e := range c.Events {
		s := step{event: i + 1}
		switch e := e.(type) {
		case Frame:
			if last := &steps[len(steps)-1]; len(last.frames) > 0 && last.port == e.Port {
				last.frames = append(last.frames, e.Bytes)
				continue
			}
			s.port, s.frames = e.Port, [][]byte{e.Bytes}
		case Advance:
			s.by = e.By
		case Commit:
			texts[len(steps)] = e.Bundle.String()
		}
		steps = append(steps, s)
	}
	return steps, texts
}

// notifies reports whether an action may send a frame to the controller.
func notifies(a openflow.Action) bool {
	switch a := a.(type) {
	case openflow.Controller, openflow.DecTTL, openflow.OutputField:
		return true
	case openflow.Output:
		return a.Port == openflow.PortController
	}
	return false
}

func (c Case) hasFragments() bool {
	for f := range c.frames {
		if isFragment(f.Bytes) {
			return true
		}
	}
	return false
}

var anyFrame = packet.UDP{
	Eth: packet.Ether{Src: packet.MAC{2, 0, 0, 0, 0, 1}, Dst: packet.MAC{2, 0, 0, 0, 0, 2}},
	IP:  packet.IP{Src: netip.AddrFrom4([4]byte{10, 9, 9, 9}), Dst: netip.AddrFrom4([4]byte{10, 9, 9, 8})},
}.Bytes()
