package ovsbackend

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/ofwire"
	"hpnn/internal/ovsproto"
)

// Commit implements datapath.Bridge. Actions that OpenFlow 1.5 spells in another way are stored in that
// way, but are what they were in Flows as long as this Bridge lives.
func (b *Bridge) Commit(ctx context.Context, bundle openflow.Bundle) error {
	return b.do(ctx, "commit", func(ctx context.Context) error {
		if len(bundle) == 0 {
			return nil
		}
		if err := b.commit(ctx, bundle); err != nil {
			return err
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.spelling.note(bundle)
		return nil
	})
}

func (b *Bridge) commit(ctx context.Context, bundle openflow.Bundle) error {
	if b.config.Wording == Text {
		return b.commitText(ctx, bundle)
	}
	changes, err := encode(bundle)
	if err != nil { // ovs-ofctl knows how to say it, or why not
		return b.commitText(ctx, bundle)
	}
	return b.commitBinary(ctx, bundle, changes)
}

// encode is the changes as bodies of messages. An error says what has no binary form.
func encode(bundle openflow.Bundle) ([][]byte, error) {
	const usual = 128 // bytes of a change
	all := make([]byte, 0, usual*len(bundle))
	changes := make([][]byte, len(bundle))
	for i, m := range bundle {
		start := len(all)
		var err error
		if all, err = ofwire.AppendFlowMod(all, m); err != nil {
			return nil, err
		}
		changes[i] = all[start:len(all):len(all)]
	}
	return changes, nil
}

// commitBinary sends the changes, and, when the switch has seen them all, makes them take effect. Until then the
// connection may break as it likes; afterwards nobody can say what became of them.
func (b *Bridge) commitBinary(ctx context.Context, bundle openflow.Bundle, changes [][]byte) error {
	err := b.over(ctx, func(ctx context.Context, session *ovsproto.Session) error {
		open, err := session.OpenBundle(ctx, changes)
		if err != nil {
			return err
		}
		defer open.Close()
		if err := open.Commit(ctx); errors.Is(err, ovsproto.ErrLost) {
			return fmt.Errorf("%w: %v", errHalfway, err)
		} else if err != nil {
			return err
		}
		return nil
	})
	var refused *ovsproto.BundleError
	if errors.As(err, &refused) {
		return commitError(bundle, refused.Index, refused.Err)
	}
	return err
}

// errHalfway is why it is not known whether a bundle took effect.
var errHalfway = errors.New("the switch went away during the commit, which may have taken effect")

// commitError names the modification that was refused, by its index if that is known, and why, if we know more.
func commitError(bundle openflow.Bundle, index int, err error) error {
	if index < 0 || index >= len(bundle) {
		index = slices.IndexFunc(bundle, func(m openflow.FlowMod) bool { return m.Validate() != nil })
	}
	if index < 0 {
		return &datapath.CommitError{Index: -1, Err: err}
	}
	if reason := bundle[index].Validate(); reason != nil {
		err = fmt.Errorf("%w (%w)", err, reason)
	}
	return &datapath.CommitError{Index: index, Mod: bundle[index], Err: err}
}

// PacketOut implements datapath.Bridge.
func (b *Bridge) PacketOut(ctx context.Context, in datapath.Injection, actions []openflow.Action) error {
	return b.do(ctx, "send frame", func(ctx context.Context) error {
		line := fmt.Sprintf("packet-out in_port=%v,packet=%x,actions=%s\n", in.InPort, in.Frame, openflow.FormatActions(actions))
		_, err := b.ofctl(ctx, line, "bundle", "-")
		return err
	})
}
