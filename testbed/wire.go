package testbed

import (
	"slices"
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/model"
	"hpnn/simbackend"
	"hpnn/testbed/simhost"
)

// Ports are the ports that a switch for a topology has.
func Ports(t model.Topology) []simbackend.Port {
	var ports []simbackend.Port
	for _, p := range t.Ports() {
		ports = append(ports, simbackend.Port{Number: openflow.PortNo(p.Number), Name: p.Name})
	}
	return ports
}

// wire joins a simulated switch to the hosts' cables.
type wire struct {
	sw   *simbackend.Switch
	taps []Tap
}

// Tap sees every frame that enters a switch and what left because of it.
type Tap func(in datapath.Injection, out []datapath.Output, verdict simbackend.Verdict)

var _ simhost.Switch = (*wire)(nil)

// Receive implements simhost.Switch.
func (w *wire) Receive(now time.Duration, port uint32, frame []byte, emit func(port uint32, frame []byte)) {
	w.sw.Advance(now)
	in := datapath.Injection{InPort: openflow.PortNo(port), Frame: frame}
	var out []datapath.Output
	verdict := w.sw.Receive(in, func(o datapath.Output) {
		emit(uint32(o.Port), o.Frame)
		if len(w.taps) > 0 {
			out = append(out, datapath.Output{Port: o.Port, Frame: slices.Clone(o.Frame)})
		}
	})
	for _, tap := range w.taps {
		tap(in, out, verdict)
	}
}
