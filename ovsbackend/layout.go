package ovsbackend

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"hpnn/datapath/openflow"
)

// layout says where the bridge is in its datapath.
type layout struct {
	datapath string                   // such as "netdev@ovs-netdev"
	ports    map[int]openflow.PortNo  // by the datapath's number; patch ports have none
	all      map[openflow.PortNo]bool // that the bridge has
}

var portLine = regexp.MustCompile(`^ +\S+ (\d+)/(\d+|none):`)

func (b *Bridge) layout(ctx context.Context) (layout, error) {
	text, err := b.appctl(ctx, "dpif/show")
	if err != nil {
		return layout{}, err
	}
	return parseLayout(text, b.config.Bridge)
}

// parseLayout reads the output of dpif/show: lines of datapaths, of bridges indented by two blanks, and of
// ports, "NAME OPENFLOW/DATAPATH: (TYPE)".
func parseLayout(text, bridge string) (l layout, err error) {
	var current string
	here, found := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch indent := len(line) - len(strings.TrimLeft(line, " ")); {
		case indent == 0:
			current, _, _ = strings.Cut(line, ": ")
			here = false
		case indent == 2:
			if here = strings.TrimSpace(line) == bridge+":"; here {
				l, found = layout{current, map[int]openflow.PortNo{}, map[openflow.PortNo]bool{}}, true
			}
		case here:
			if err := l.port(line); err != nil {
				return layout{}, err
			}
		}
	}
	if !found {
		return layout{}, fmt.Errorf("read dpif/show: no bridge %s", bridge)
	}
	return l, nil
}

func (l layout) port(line string) error {
	found := portLine.FindStringSubmatch(line)
	if found == nil {
		return fmt.Errorf("read dpif/show: %q is not a port", line)
	}
	number, err := strconv.ParseUint(found[1], 10, 16)
	if err != nil {
		return fmt.Errorf("read dpif/show: %q: %w", line, err)
	}
	l.all[openflow.PortNo(number)] = true
	if found[2] == "none" {
		return nil
	}
	inDatapath, err := strconv.Atoi(found[2])
	if err != nil {
		return fmt.Errorf("read dpif/show: %q: %w", line, err)
	}
	l.ports[inDatapath] = openflow.PortNo(number)
	return nil
}
