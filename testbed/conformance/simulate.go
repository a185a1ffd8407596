package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend"
)

// Simulate runs the case on a new simulator. The error tells of what the simulator does not support.
func Simulate(c Case) (Record, error) {
	w, err := newWorld()
	if err != nil {
		return Record{}, err
	}
	if err := w.commit(0, c.initial()); err != nil {
		return Record{}, err
	}
	for i, e := range c.Events {
		if err := w.happen(i+1, e); err != nil {
			return Record{}, err
		}
	}
	if f, ok := c.traced(); ok {
		if err := w.trace(f); err != nil {
			return Record{}, err
		}
	}
	return w.end()
}

// world is a simulator and the record of what it did.
type world struct {
	sim    *simbackend.Switch
	now    time.Duration
	record Record
}

func newWorld() (*world, error) {
	sim, err := simbackend.New(simbackend.Config{Ports: simulatedPorts(), ConntrackSweep: time.Second})
	if err != nil {
		return nil, fmt.Errorf("start simulator: %w", err)
	}
	return &world{sim: sim, record: Record{Outputs: map[openflow.PortNo][][]byte{}}}, nil
}

// happen lets the n-th event happen.
func (w *world) happen(n int, e Event) error {
	switch e := e.(type) {
	case Frame:
		w.receive(e)
	case Advance:
		w.now += e.By
		w.sim.Advance(w.now)
	case Commit:
		return w.commit(n, e.Bundle)
	}
	return nil
}

// receive lets a frame arrive and returns what was sent for it.
func (w *world) receive(f Frame) (outputs []datapath.Output) {
	w.sim.Receive(datapath.Injection{InPort: f.Port, Frame: f.Bytes}, func(o datapath.Output) {
		o.Frame = bytes.Clone(o.Frame)
		w.record.Outputs[o.Port] = append(w.record.Outputs[o.Port], o.Frame)
		outputs = append(outputs, o)
	})
	w.drain()
	if w.sim.WaitingBehind() > 0 {
		w.record.LeftBehind++
	}
	return outputs
}

// drain adds to the record what went to the controller.
func (w *world) drain() {
	for {
		select {
		case e := <-w.sim.Events():
			if e.Kind == datapath.PacketIn {
				w.record.PacketIns = append(w.record.PacketIns, packetLine(e.Packet.InPort, e.Reason, e.Packet.Frame))
			}
		default:
			return
		}
	}
}

func (w *world) commit(n int, b openflow.Bundle) error {
	err := w.sim.Commit(context.Background(), b)
	switch {
	case errors.Is(err, datapath.ErrNotSupported):
		return err
	case err != nil:
		w.record.Refused = append(w.record.Refused, n)
	}
	return nil
}

// end adds what is left at the end to the record.
func (w *world) end() (Record, error) {
	flows, err := w.sim.Flows(context.Background())
	if err != nil {
		return Record{}, err
	}
	for _, f := range flows {
		w.record.Flows = append(w.record.Flows, flowLine(f))
	}
	slices.Sort(w.record.Flows)
	conns, err := w.sim.Connections(context.Background(), datapath.ConnFilter{})
	if err != nil {
		return Record{}, err
	}
	for _, c := range conns {
		w.record.Connections = append(w.record.Connections, connLine(c))
	}
	slices.Sort(w.record.Connections)
	w.record.Aborts = w.sim.Aborts()
	return w.record, nil
}
