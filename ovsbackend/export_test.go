package ovsbackend

import (
	"context"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// Extract is the flow of a frame as the switch prints it, and as it reads it.
func (b *Bridge) Extract(ctx context.Context, in datapath.Injection) (printed, exact string, err error) {
	f, err := b.extract(ctx, in)
	if err != nil {
		return "", "", err
	}
	return f.String(), f.exact(), nil
}

// ParseTrace is the passes of ofproto/trace's output.
func ParseTrace(text string) ([]datapath.Pass, error) {
	sections, err := parseTrace(text)
	var passes []datapath.Pass
	for _, s := range sections {
		passes = append(passes, s.pass)
	}
	return passes, err
}

// ParseConns reads the output of dpctl/dump-conntrack -s.
var ParseConns = parseConns

// PortableActions translates datapath actions for a datapath that numbers ports so.
func PortableActions(actions string, ports map[int]int) string {
	w := walk{layout: layout{ports: map[int]openflow.PortNo{}}}
	for from, to := range ports {
		w.layout.ports[from] = openflow.PortNo(to)
	}
	return w.portable(actions, nil)
}
