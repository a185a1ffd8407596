package netns

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"hpnn/datapath"
	"hpnn/internal/bridgerpc"
	"hpnn/testbed"
	"hpnn/testbed/simswitch"
)

// simulator is the simulator in a process of its own.
type simulator struct {
	bed     *Bed
	process *process
	tap     testbed.Tap // who watches; nil if nobody does
	watch   io.Closer   // the connection to the process, by which it tells
}

func (s *simulator) socket() string  { return s.bed.path("simswitch.sock") }
func (s *simulator) reports() string { return s.bed.path("reports.sock") }

// start implements forwarder.
func (s *simulator) start(ctx context.Context) error {
	t := s.bed.config.Topology
	own := map[string]bool{}
	for _, segment := range t.Segments {
		if segment.Probe != nil {
			own[segment.Probe.Port.Name] = true
		}
	}
	args := []string{"--socket", s.socket(), "--reports", s.reports()}
	for _, p := range t.Ports() {
		flag := "--port"
		if own[p.Name] {
			flag = "--internal"
		}
		args = append(args, flag, fmt.Sprintf("%s=%d", p.Name, p.Number))
	}
	p, err := s.bed.node.start(s.bed.dir, "simswitch", filepath.Join(s.bed.config.Programs, "simswitch"), args...)
	if err != nil {
		return err
	}
	s.bed.keep(&s.process, p)
	if err := awaitSocket(ctx, p, s.socket()); err != nil {
		return err
	}
	return s.connect()
}

// watchWith has a tap called for each frame.
func (s *simulator) watchWith(tap testbed.Tap) error {
	s.tap = tap
	return s.connect()
}

// connect connects who watches with the process that runs.
func (s *simulator) connect() (err error) {
	if s.tap == nil {
		return nil
	}
	if s.watch != nil {
		_ = s.watch.Close() // the other end is gone
	}
	s.watch, err = simswitch.Watch(s.reports(), s.tap)
	return err
}

// kill implements forwarder.
func (s *simulator) kill() { s.bed.running(&s.process).kill() }

// stop implements forwarder.
func (s *simulator) stop() {
	if s.watch != nil {
		_ = s.watch.Close()
	}
	s.bed.running(&s.process).stop()
}

// flags implements forwarder.
func (s *simulator) flags() []string {
	return []string{"--backend", "simswitch", "--simswitch", s.socket()}
}

// bridge implements forwarder.
func (s *simulator) bridge(ctx context.Context) (datapath.Bridge, error) {
	b, err := bridgerpc.Open(ctx, bridgerpc.Config{Socket: s.socket()})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// dump implements forwarder.
func (s *simulator) dump(ctx context.Context, dir string) error {
	b, err := s.bridge(ctx)
	if err != nil {
		return err
	}
	defer b.Close()
	flows, flowsErr := b.Flows(ctx)
	var lines strings.Builder
	for _, f := range flows {
		fmt.Fprintln(&lines, f)
	}
	ports, portsErr := b.Ports(ctx)
	conns, connsErr := b.Conntrack().Connections(ctx, datapath.ConnFilter{})
	return errors.Join(flowsErr, portsErr, connsErr, os.WriteFile(filepath.Join(dir, "flows.txt"), []byte(lines.String()), 0o644),
		writeJSON(filepath.Join(dir, "counters.json"), ports), writeJSON(filepath.Join(dir, "conntrack.json"), conns))
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
