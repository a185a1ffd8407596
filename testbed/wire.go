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

// wire joins a switch to the hosts' cables.
type wire struct {
	sw   VirtualSwitch
	taps []Tap
	// watched counts the frames on their way to the switch whose fate is of interest.
	watched map[string]int
}

// Tap sees every frame that enters a switch and what left because of it. The verdict is that of frames
// that a host was told to send as they are; else it may be empty.
type Tap func(in datapath.Injection, out []datapath.Output, verdict simbackend.Verdict)

var _ simhost.Switch = (*wire)(nil)

// watch announces a frame whose fate is of interest.
func (w *wire) watch(frame []byte) {
	if w.watched == nil {
		w.watched = map[string]int{}
	}
	w.watched[string(frame)]++
}

// watches reports whether a frame was announced, and forgets it.
func (w *wire) watches(frame []byte) bool {
	n, ok := w.watched[string(frame)]
	if n > 1 {
		w.watched[string(frame)]--
	} else {
		delete(w.watched, string(frame))
	}
	return ok
}

// Receive implements simhost.Switch.
func (w *wire) Receive(now time.Duration, port uint32, frame []byte, emit func(port uint32, frame []byte)) {
	w.sw.Advance(now)
	in := datapath.Injection{InPort: openflow.PortNo(port), Frame: frame}
	var out []datapath.Output
	pass := func(o datapath.Output) {
		emit(uint32(o.Port), o.Frame)
		if len(w.taps) > 0 {
			out = append(out, datapath.Output{Port: o.Port, Frame: slices.Clone(o.Frame)})
		}
	}
	var verdict simbackend.Verdict
	if len(w.watched) > 0 && w.watches(frame) {
		verdict = w.sw.Examine(in, pass)
	} else {
		w.sw.Receive(in, pass)
	}
	for _, tap := range w.taps {
		tap(in, out, verdict)
	}
}
