package replay

import (
	"context"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/pcap"
	"hpnn/simbackend"
)

// Frame is a frame of a capture and the port it enters.
type Frame struct {
	Port openflow.PortNo
	Path string // of the capture
	pcap.Record
}

// Step is one frame and what became of it.
type Step struct {
	Number  int // from 1, in the order of the session
	Place   Place
	Frame   Frame // its bytes are valid as long as the record's were
	Fate    Fate
	Reason  Reason // why nothing left; "" if something did or the frame is held
	Verdict simbackend.Verdict
	Trace   datapath.Trace // with the frames that left
}

// Session is a switch to which frames are given one by one, and the account of what became of them.
type Session struct {
	node  Node
	sw    *simbackend.Switch
	more  switches // of other shards, whose frames the account has too
	acc   *account
	clock clock

	emit    func(at int64, o datapath.Output) // of the frame being executed
	deliver func(datapath.Output)             // counts what leaves and hands it to emit
}

// NewSession makes the node's switch. The error names the first port or rule that it refuses.
func NewSession(ctx context.Context, n Node) (*Session, error) {
	sw, err := n.Switch(ctx)
	if err != nil {
		return nil, err
	}
	s := &Session{node: n, sw: sw, acc: newAccount(n)}
	s.deliver = func(o datapath.Output) {
		s.acc.left(o)
		s.emit(s.clock.stamp(), o)
	}
	return s, nil
}

// Receive executes a frame at its time and hands what leaves to emit, with the time at which it
// leaves in nanoseconds since 1970. The bytes given to emit are valid during the call only.
func (s *Session) Receive(f Frame, emit func(at int64, o datapath.Output)) {
	s.receive(&f, emit)
}

// receive is Receive without a copy.
func (s *Session) receive(f *Frame, emit func(at int64, o datapath.Output)) {
	in := s.begin(f)
	s.emit = emit
	v := s.sw.Receive(in, s.deliver)
	s.acc.end(&v, f)
}

// Explain is Receive, and tells what happened.
func (s *Session) Explain(f Frame, emit func(at int64, o datapath.Output)) Step {
	in := s.begin(&f)
	s.emit = emit
	v, trace := s.sw.Explain(in, s.deliver)
	fate, why := s.acc.end(&v, &f)
	return Step{Number: s.clock.frames, Place: place(&f, s.node), Frame: f, Fate: fate, Reason: why, Verdict: v, Trace: trace}
}

// begin moves time to the frame's.
func (s *Session) begin(f *Frame) datapath.Injection {
	in := s.account(f)
	s.sw.Advance(s.clock.now)
	return in
}

// account notes a frame that comes in.
func (s *Session) account(f *Frame) datapath.Injection {
	s.clock.tick(f.Time)
	in := datapath.Injection{InPort: f.Port, Frame: f.Data}
	s.acc.begin(s.clock.start, s.clock.now, in, f.Snapped())
	return in
}

// settle is receive for a frame that has been executed: it accounts for what came of it.
func (s *Session) settle(f *Frame, came outcome, emit func(at int64, o datapath.Output)) {
	s.account(f)
	for _, d := range came.outs {
		o := datapath.Output{Port: d.port, Frame: came.bytes[d.at : d.at+d.size]}
		s.acc.left(o)
		emit(s.clock.stamp(), o)
	}
	s.acc.end(came.verdict, f)
}

func place(f *Frame, n Node) Place { return Place{n.PortName(f.Port), f.Path, f.Index, f.At()} }

// Report is what became of the frames so far.
func (s *Session) Report(ctx context.Context) (Report, error) { return s.acc.report(ctx, s.switches()) }

func (s *Session) switches() switches { return append(switches{s.sw}, s.more...) }

// Close releases the switch.
func (s *Session) Close() error {
	s.more.close()
	return s.sw.Close()
}
