package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/pipeline"
	"hpnn/model"
	"hpnn/simbackend"
)

// rendered is what runs in both switches.
func rendered(t model.Topology) openflow.Program {
	return pipeline.Render(t, pipeline.Layout(t, pipeline.State{}))
}

// newSimulator begins a measurement. What those before have left is collected, as if this was the first.
func newSimulator(ctx context.Context, t model.Topology) (*simbackend.Switch, error) {
	runtime.GC()
	var c simbackend.Config
	for _, p := range t.Ports() {
		c.Ports = append(c.Ports, simbackend.Port{Number: openflow.PortNo(p.Number), Name: p.Name})
	}
	sw, err := simbackend.New(c)
	if err != nil {
		return nil, err
	}
	return sw, sw.Commit(ctx, rendered(t).Bundle())
}

// simulateKnown sends the frames round and round.
func simulateKnown(ctx context.Context, t model.Topology, c caller, frames [][]byte, window time.Duration) (time.Duration, error) {
	sw, err := newSimulator(ctx, t)
	if err != nil {
		return 0, err
	}
	in, out, sent := datapath.Injection{InPort: openflow.PortNo(c.port)}, 0, 0
	emit := func(datapath.Output) { out++ }
	send := func(n int) {
		for range n {
			in.Frame = frames[sent%len(frames)]
			sw.Receive(in, emit)
			sent++
		}
	}
	send(len(frames))
	each := bestOf(window, send)
	return each, all(out, sent)
}

// simulateNew sends frames once, of which each opens a connection, in as many windows as they make. As in OVS, the table
// is empty at first.
func simulateNew(ctx context.Context, t model.Topology, c caller, frames [][]byte) (time.Duration, error) {
	sw, err := newSimulator(ctx, t)
	if err != nil {
		return 0, err
	}
	in, out := datapath.Injection{InPort: openflow.PortNo(c.port)}, 0
	emit := func(datapath.Output) { out++ }
	least := time.Duration(0)
	for w := range slices.Chunk(frames, newWindow) {
		from := ownTime()
		for _, f := range w {
			in.Frame = f
			sw.Receive(in, emit)
		}
		if each := (ownTime() - from) / time.Duration(len(w)); least == 0 || each < least {
			least = each
		}
	}
	return least, all(out, len(frames))
}

// simulateTrace explains the frames, as text.
func simulateTrace(ctx context.Context, t model.Topology, c caller, frames [][]byte, window time.Duration) (time.Duration, error) {
	var text []byte
	return simulateTraces(ctx, t, c, frames, window, func(sw *simbackend.Switch, in datapath.Injection) (err error) {
		text, err = sw.AppendTrace(ctx, text[:0], in)
		return err
	})
}

// simulateStructure explains them as structures.
func simulateStructure(ctx context.Context, t model.Topology, c caller, frames [][]byte, window time.Duration) (time.Duration, error) {
	return simulateTraces(ctx, t, c, frames, window, func(sw *simbackend.Switch, in datapath.Injection) error {
		_, err := sw.Trace(ctx, in)
		return err
	})
}

func simulateTraces(ctx context.Context, t model.Topology, c caller, frames [][]byte, window time.Duration,
	trace func(*simbackend.Switch, datapath.Injection) error) (time.Duration, error) {
	sw, err := newSimulator(ctx, t)
	if err != nil {
		return 0, err
	}
	in, next := datapath.Injection{InPort: openflow.PortNo(c.port)}, 0
	each := bestOf(window, func(n int) {
		for range n {
			in.Frame = frames[next%len(frames)]
			next++
			if failed := trace(sw, in); failed != nil {
				err = failed
			}
		}
	})
	return each, err
}

// all demands that every frame was forwarded: else the figure would be of something cheaper.
func all(out, in int) error {
	if out < in {
		return fmt.Errorf("send frames: %d of %d were forwarded: use a topology whose pool answers", out, in)
	}
	return nil
}
