package ovsbackend

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/ovsproto"
)

// commitText lets ovs-ofctl commit a bundle.
func (b *Bridge) commitText(ctx context.Context, bundle openflow.Bundle) error {
	_, err := b.ofctl(ctx, bundle.String(), "bundle", "-")
	var refused *ovsproto.RefusedError
	if errors.As(err, &refused) && !errors.Is(err, datapath.ErrUnavailable) {
		return commitError(bundle, faultyChange(refused), refused)
	}
	return err
}

// flowsText lets ovs-ofctl list the flows.
func (b *Bridge) flowsText(ctx context.Context) ([]openflow.FlowEntry, error) {
	text, err := b.ofctl(ctx, "", "dump-flows")
	if err != nil {
		return nil, err
	}
	return openflow.ParseDump("dump-flows", strings.NewReader(text))
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

// faultyChange finds the modification that was refused; -1 if the words do not tell.
func faultyChange(refused *ovsproto.RefusedError) int {
	if found := refusedMod.FindStringSubmatch(refused.Words); found != nil {
		return number(found[1], 16) - firstXID
	}
	if found := faultyLine.FindStringSubmatch(refused.Words); found != nil {
		return number(found[1], 10) - 1
	}
	return -1
}

func number(digits string, base int) int {
	n, err := strconv.ParseInt(digits, base, 32)
	if err != nil {
		return -1
	}
	return int(n)
}
