package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"hpnn/model"
)

// flowCounts are the numbers of known connections.
var flowCounts = []int{1, 64, 1_000, 10_000, 100_000}

const (
	newFlows  = 1_000_000 // connections that are opened: more than OVS can open in the windows
	newWindow = 100_000   // that the simulator opens in a window: some more than OVS does
)

func run(ctx context.Context, o options) error {
	if o.unpack {
		return unpack(ctx)
	}
	runtime.LockOSThread() // see lab
	b, err := findBuild(o.root)
	if err != nil {
		return err
	}
	topology, err := model.Load(o.topology)
	if err != nil {
		return err
	}
	c, err := newCaller(topology)
	if err != nil {
		return err
	}
	m := &measurer{options: o, build: b, topology: topology, caller: c}
	err = m.measure(ctx)
	return errors.Join(err, m.report()) // what was measured before an error is worth telling
}

// A measurer gathers results.
type measurer struct {
	options
	build    build
	topology model.Topology
	caller   caller
	results  []result
}

func (m *measurer) report() error {
	if err := writeTable(os.Stdout, m.results); err != nil {
		return err
	}
	if m.output == "" {
		return nil
	}
	f, err := os.Create(m.output)
	if err != nil {
		return fmt.Errorf("write figures: %w", err)
	}
	writeBench(f, m.results)
	return f.Close()
}

func (m *measurer) measure(ctx context.Context) error {
	for _, n := range flowCounts {
		if err := m.known(ctx, n); err != nil {
			return fmt.Errorf("measure %d flows: %w", n, err)
		}
	}
	if err := m.fresh(ctx); err != nil {
		return fmt.Errorf("measure new flows: %w", err)
	}
	if err := m.traces(ctx); err != nil {
		return fmt.Errorf("measure traces: %w", err)
	}
	return nil
}

// known measures n known connections: in the simulator, in OVS, and in an OVS that caches nothing.
func (m *measurer) known(ctx context.Context, n int) error {
	frames, flows := m.caller.syns(n), strconv.Itoa(n)
	each, err := simulateKnown(ctx, m.topology, m.caller, frames, m.window)
	if err != nil {
		return err
	}
	m.add(result{"frame", "sim", flows, each})
	return m.inLab(ctx, frames, endlessly, func(l *lab) error {
		if err := l.learn(ctx); err != nil {
			return err
		}
		if err := m.polled(ctx, l, "ovs-cached", flows); err != nil {
			return err
		}
		if err := l.forget(ctx); err != nil {
			return err
		}
		return m.polled(ctx, l, "ovs-upcall", flows)
	})
}

// fresh measures frames of which each opens a connection.
func (m *measurer) fresh(ctx context.Context) error {
	frames := m.caller.syns(newFlows)
	each, err := simulateNew(ctx, m.topology, m.caller, frames)
	if err != nil {
		return err
	}
	m.add(result{"frame", "sim", "new", each})
	return m.inLab(ctx, frames, once, func(l *lab) error {
		return m.polled(ctx, l, "ovs-upcall", "new")
	})
}

func (m *measurer) traces(ctx context.Context) error {
	frames := m.caller.syns(1000)
	each, err := simulateTrace(ctx, m.topology, m.caller, frames, m.window)
	if err != nil {
		return err
	}
	m.add(result{"trace", "sim", "", each})
	if each, err = simulateStructure(ctx, m.topology, m.caller, frames, m.window); err != nil {
		return err
	}
	m.add(result{"structure", "sim", "", each})
	l, err := newLab(ctx, m.build, rendered(m.topology).String(), m.outlets())
	if err != nil {
		return err
	}
	each, err = l.trace(ctx, m.caller.port, frames, m.window)
	m.add(result{"trace", "ovs-upcall", "", each})
	return errors.Join(err, l.close())
}

// inLab does something while OVS forwards frames, and ends OVS whatever comes of it.
func (m *measurer) inLab(ctx context.Context, frames [][]byte, how string, do func(*lab) error) (err error) {
	l, err := newLab(ctx, m.build, rendered(m.topology).String(), m.outlets())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	file := l.path("frames.pcap")
	if err := capture(file, frames); err != nil {
		return err
	}
	if err := l.play(ctx, m.caller.port, file, how); err != nil {
		return err
	}
	return do(l)
}

// polled measures what OVS's polling thread does, and checks that frames leave.
func (m *measurer) polled(ctx context.Context, l *lab, way, flows string) error {
	before, err := l.forwarded(ctx)
	if err != nil {
		return err
	}
	first, err := l.frames(ctx)
	if err != nil {
		return err
	}
	each, err := best(ctx, m.window, func() (count, error) { return l.frames(ctx) })
	if err != nil {
		return err
	}
	last, err := l.frames(ctx)
	if err != nil {
		return err
	}
	after, err := l.forwarded(ctx)
	if err != nil {
		return err
	}
	m.add(result{"frame", way, flows, each})
	const queued = 64 // frames may be between the two counters
	return all(after-before+queued, last.n-first.n)
}

func (m *measurer) add(r result) {
	m.results = append(m.results, r)
	fmt.Fprintf(os.Stderr, "%s %s %s: %v\n", r.bench, r.way, r.flows, r.each)
}

// outlets are the ports of the hosts that balanced frames go to. Others are left out, since each costs OVS a poll.
func (m *measurer) outlets() (ports []uint32) {
	wanted := map[string]bool{}
	for _, p := range m.topology.Pools {
		for _, member := range p.Members {
			wanted[member.Host] = true
		}
	}
	for _, h := range m.topology.Hosts {
		if wanted[h.Name] {
			ports = append(ports, h.Port.Number)
		}
	}
	return ports
}
