package ovsbackend

import (
	"context"
	"errors"

	"hpnn/datapath/openflow"
	"hpnn/internal/ofwire"
	"hpnn/internal/ovsproto"
)

// Flows implements datapath.Bridge. Counters lag by up to half a second.
func (b *Bridge) Flows(ctx context.Context) (flows []openflow.FlowEntry, err error) {
	err = b.do(ctx, "list flows", func(ctx context.Context) (err error) {
		if flows, err = b.flows(ctx); err != nil {
			return err
		}
		sortFlows(flows)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.spelling.restore(flows)
		return nil
	})
	return flows, err
}

func (b *Bridge) flows(ctx context.Context) ([]openflow.FlowEntry, error) {
	if b.config.Wording == Text {
		return b.flowsText(ctx)
	}
	flows, err := b.flowsBinary(ctx)
	var foreign *ofwire.UnsupportedError
	if errors.As(err, &foreign) { // ovs-ofctl knows how to read it, or what it is called
		return b.flowsText(ctx)
	}
	return flows, err
}

// flowsBinary makes room for somewhat more flows than there were last time: growing would take as long as decoding.
func (b *Bridge) flowsBinary(ctx context.Context) (flows []openflow.FlowEntry, err error) {
	err = b.over(ctx, func(ctx context.Context, session *ovsproto.Session) error {
		flows = make([]openflow.FlowEntry, 0, b.usual.Load())
		return session.Multipart(ctx, ovsproto.FlowDesc, ofwire.AllFlows(), func(reply []byte) (err error) {
			flows, err = ofwire.AppendEntries(flows, reply)
			return err
		})
	})
	b.usual.Store(int64(len(flows) + len(flows)/16))
	return flows, err
}
