package dummybridge

import (
	"context"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend"
	"hpnn/testbed/dummy"
)

// Receive executes a frame and hands each that leaves to emit, in order of ports. A frame from a port that does not
// exist is ignored.
func (s *Switch) Receive(in datapath.Injection, emit func(datapath.Output)) { s.receive(in, emit) }

// OnOutput sets who gets what leaves because of a PacketOut.
func (s *Switch) OnOutput(sink func(datapath.Output)) { s.sink = sink }

func (s *Switch) receive(in datapath.Injection, emit func(datapath.Output)) (v simbackend.Verdict) {
	name, known := s.names[in.InPort]
	if !known {
		return v
	}
	if err := s.sync(); err != nil {
		s.fail(err)
		return v
	}
	s.clock.strict = s.clock.strict || fragment(in.Frame)
	outputs, packets, err := s.sw.Exchange(context.Background(), name, in.Frame)
	if err != nil {
		s.fail(err)
	}
	for _, p := range packets {
		v.PacketIns++
		s.event(datapath.Event{
			Kind: datapath.PacketIn, Reason: openflow.PacketInReason(p.Reason),
			Packet: datapath.Injection{InPort: openflow.PortNo(p.Port), Frame: p.Frame},
		})
	}
	if v.Outputs = len(outputs); v.Outputs == 0 && v.PacketIns == 0 {
		s.drops = nil
	}
	s.emit(outputs, emit)
	return v
}

func (s *Switch) emit(outputs []dummy.Output, to func(datapath.Output)) {
	for _, o := range outputs {
		to(datapath.Output{Port: s.numbers[o.Port], Frame: o.Frame})
	}
}
