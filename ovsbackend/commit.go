package ovsbackend

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/ovsproto"
)

// Commit implements datapath.Bridge. Actions that OpenFlow 1.5 spells in another way are stored in that
// way, but are what they were in Flows as long as this Bridge lives.
func (b *Bridge) Commit(ctx context.Context, bundle openflow.Bundle) error {
	return b.do(ctx, "commit", func(ctx context.Context) error {
		if len(bundle) == 0 {
			return nil
		}
		_, err := b.ofctl(ctx, bundle.String(), "bundle", "-")
		if err == nil {
			b.mu.Lock()
			b.spelling.note(bundle)
			b.mu.Unlock()
			return nil
		}
		var refused *ovsproto.RefusedError
		if errors.As(err, &refused) && !errors.Is(err, datapath.ErrUnavailable) {
			return blame(bundle, refused)
		}
		return err
	})
}

var (
	// refusedMod is how the switch's refusal of a modification is printed.
	refusedMod = regexp.MustCompile(`(?m)^Error \S+ for: OFPT_FLOW_MOD \(OF1\.5\) \(xid=0x([0-9a-f]+)\)`)
	// faultyLine is how ovs-ofctl itself refuses a line of its input.
	faultyLine = regexp.MustCompile(`(?m)^ovs-ofctl: -:(\d+):`)
)

// firstXID is the transaction id of the first modification that ovs-ofctl sends: the one before opens
// the bundle.
const firstXID = 2

// blame finds the modification that was refused.
func blame(bundle openflow.Bundle, refused *ovsproto.RefusedError) error {
	index, err := -1, error(refused)
	if found := refusedMod.FindStringSubmatch(refused.Words); found != nil {
		index = number(found[1], 16) - firstXID
	} else if found := faultyLine.FindStringSubmatch(refused.Words); found != nil {
		index = number(found[1], 10) - 1
	} else if i, reason := invalid(bundle); reason != nil {
		index, err = i, fmt.Errorf("%w (%w)", err, reason)
	}
	if index < 0 || index >= len(bundle) {
		return &datapath.CommitError{Index: -1, Err: err}
	}
	return &datapath.CommitError{Index: index, Mod: bundle[index], Err: err}
}

func number(digits string, base int) int {
	n, err := strconv.ParseInt(digits, base, 32)
	if err != nil {
		return -1
	}
	return int(n)
}

// invalid is the first modification that no switch would take, and why: ovs-ofctl does not always say.
func invalid(bundle openflow.Bundle) (int, error) {
	for i, m := range bundle {
		if err := m.Validate(); err != nil {
			return i, err
		}
	}
	return -1, nil
}

// PacketOut implements datapath.Bridge.
func (b *Bridge) PacketOut(ctx context.Context, in datapath.Injection, actions []openflow.Action) error {
	return b.do(ctx, "send frame", func(ctx context.Context) error {
		line := fmt.Sprintf("packet-out in_port=%v,packet=%x,actions=%s\n", in.InPort, in.Frame, openflow.FormatActions(actions))
		_, err := b.ofctl(ctx, line, "bundle", "-")
		return err
	})
}

// Flows implements datapath.Bridge. Counters lag by up to half a second.
func (b *Bridge) Flows(ctx context.Context) (flows []openflow.FlowEntry, err error) {
	err = b.do(ctx, "list flows", func(ctx context.Context) error {
		text, err := b.ofctl(ctx, "", "dump-flows")
		if err != nil {
			return err
		}
		if flows, err = openflow.ParseDump("dump-flows", strings.NewReader(text)); err != nil {
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
