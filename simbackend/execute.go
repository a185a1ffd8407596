package simbackend

import (
	"slices"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend/conntrack"
	"hpnn/simbackend/flow"
)

// frame is a frame on its way through the datapath.
type frame struct {
	flow.Packet
	key flow.Key         // the headers that the bytes have, as far as the passes know, and in_port; nothing else
	ct  conntrack.Packet // of which only Meta outlives a ct()
	at  int              // place of its buffer in Switch.frames; copies of it lie above

	frozen *flow.Key // the state that it was resumed from; nil on the first pass, and if recirc tells
	table  openflow.TableID
	recirc uint32 // of a fragment that was let go: the recirculation in which it had come to wait
}

// walk sends a frame, whose fields the key of the level's pass holds, into a table and carries out
// what comes of it. level counts the recirculations it is inside of.
func (s *Switch) walk(f *frame, table openflow.TableID, stack []openflow.Value, level int) {
	p := s.pass(level)
	p.begin(s, f.Len)
	p.tracked = level > 0
	var at spot
	if s.spot.place != nil {
		at, s.spot = s.spot, spot{}
		if at.told == nil {
			p.record()
		}
	}
	p.stack = append(p.stack, stack...)
	told := 0
	switch {
	case p.trace == nil:
		p.translate(table)
	case at.told != nil:
		p.trace.retell(p, at.told)
	default:
		told = p.trace.whole(p, table)
	}
	if !s.preview {
		s.settle(p.learned)
	}
	s.fate.last, s.fate.err = p.last, p.err
	if p.recorded {
		if m := s.remember(&at, f, p, level); m != nil && p.trace != nil {
			p.trace.keep(m, p, told)
		}
	}
	s.execute(f, p, p.steps, level)
}

// pass returns the buffers of a level.
func (s *Switch) pass(level int) *pass {
	for len(s.passes) <= level {
		s.passes = append(s.passes, &pass{})
	}
	p := s.passes[level]
	p.preview, p.trace = s.preview, s.tracer
	return p
}

// execute carries out the steps of a pass on the frame's bytes.
func (s *Switch) execute(f *frame, p *pass, steps []step, level int) {
	for i := 0; i < len(steps); i++ {
		switch st := &steps[i]; st.kind {
		case stepClone:
			body := steps[i+1 : i+1+int(st.n)]
			s.execute(s.copied(f), p, body, level)
			i += int(st.n)
		case stepCT:
			out := s.track(f, st)
			if !out.Held && len(out.Released) == 0 {
				s.fork(f, p, steps[i:], level)
				continue
			}
			frames := p.released(st, out.Released, f.at)
			if !out.Held {
				frames = slices.Insert(frames, 0, f)
			}
			s.together(frames, p, steps[i:], level)
			return
		default:
			s.do(f, p, st)
		}
	}
}

// do carries out a step that needs nothing but the frame.
func (s *Switch) do(f *frame, p *pass, st *step) {
	switch st.kind {
	case stepSet:
		f.rewrite(&p.keys[st.key])
	case stepOutput:
		s.transmit(st.port, f.Bytes())
	case stepController:
		s.packetIn(st, f.Bytes())
		f.reread()
	case stepCTClear:
		f.ct.Meta.Clear()
	}
}

// reread finds the headers again. On its way to the controller the real switch dissects a frame anew,
// and so loses sight of what is behind more than one tag.
func (f *frame) reread() {
	var fields flow.Key
	if layout, ok := flow.Extract(f.Bytes(), f.key.InPort(), &fields); ok {
		f.Packet.Layout = layout
	}
}

// rewrite makes the header fields of the bytes those of want.
func (f *frame) rewrite(want *flow.Key) {
	before := f.key.Endpoints()
	f.Packet.Rewrite(&f.key, want, nil)
	if f.key.Endpoints() != before {
		f.ct.Meta.HeaderChanged()
	}
}

// copied is a copy of f in the next buffer, valid until f is copied again.
func (s *Switch) copied(f *frame) *frame {
	for len(s.frames) <= f.at+1 {
		s.frames = append(s.frames, &frame{at: len(s.frames)})
	}
	c := s.frames[f.at+1]
	c.Packet.Load(f.Bytes(), f.Layout)
	c.key, c.ct.Meta, c.frozen, c.table, c.recirc = f.key, f.ct.Meta, f.frozen, f.table, f.recirc
	return c
}

// track sends a frame through the connection tracker.
func (s *Switch) track(f *frame, st *step) conntrack.Outcome {
	return s.ct.Execute(s.now, f.tracked(), st.request)
}

// tracked is the frame as the connection tracker takes it.
func (f *frame) tracked() *conntrack.Packet {
	c := &f.ct
	c.Frame, c.L3, c.EtherType = f.Bytes(), int(f.Layout.L3), uint16(f.key.Get(openflow.EthType).Lo)
	c.Tag, c.Recirc = uint64(f.key.InPort()), f.recirc
	if f.frozen != nil && c.MaybeFragment() {
		c.Recirc = recircID(f.frozen, f.table)
	}
	return c
}

// fork sends a copy of a tracked frame into the table of a stepCT.
func (s *Switch) fork(f *frame, p *pass, steps []step, level int) {
	st := &steps[0]
	if !st.recirc || level >= maxRecirc {
		return
	}
	c := f
	if len(steps) > 1 {
		c = s.copied(f)
	}
	var stack []openflow.Value
	if st.stack != nil {
		stack = *st.stack
	}
	switch {
	case p.fork == nil:
	case s.tracer != nil:
		s.foretell(c, &p.fork.megaflows, p.fork.frozen.InPort(), &c.ct.Meta)
	default:
		if o, next := s.behind(c, p.fork, p.sequel); o != nil {
			s.replay(c, o, next, level+1)
			return
		}
	}
	s.recirculate(c, &p.keys[st.key], st.table, stack, level)
}

// recirculate sends a tracked frame into a table, with the fields that were kept for it.
func (s *Switch) recirculate(f *frame, frozen *flow.Key, table openflow.TableID, stack []openflow.Value, level int) {
	f.frozen, f.table, f.recirc = frozen, table, 0
	k := &s.pass(level + 1).key
	*k = *frozen
	f.Packet.Layout, _ = flow.Refresh(f.Bytes(), k)
	f.key.CopyFrame(k)
	setConntrack(k, &f.ct.Meta)
	if s.tracer != nil {
		s.tracer.fork(f, table)
	}
	s.walk(f, table, stack, level+1)
}

// recircID tells frozen states apart: fragments wait together in a later pass only if they were
// frozen alike. It is not 0.
func recircID(k *flow.Key, table openflow.TableID) uint32 {
	return k.MetadataHash() ^ uint32(table)<<24 | 1
}

// transmit sends a frame out of a port.
func (s *Switch) transmit(number uint16, b []byte) {
	port := s.ports.find(openflow.PortNo(number))
	if s.tracer != nil {
		s.tracer.output(port.Number, b)
	}
	if !s.preview {
		s.send(port, b)
	}
}

// send lets a frame leave, and counts it.
func (s *Switch) send(port *datapath.Port, b []byte) {
	port.TxFrames++
	port.TxBytes += uint64(len(b))
	s.fate.outputs++
	if s.emit != nil {
		s.emit(datapath.Output{Port: port.Number, Frame: b})
	}
}

// packetIn sends a frame to the controllers of a connection id. We are one with id 0, as every one is
// that has not asked for another.
func (s *Switch) packetIn(st *step, b []byte) {
	s.fate.packetIns++
	if s.preview || st.id != 0 {
		return
	}
	s.event(datapath.Event{
		Kind:   datapath.PacketIn,
		Packet: datapath.Injection{InPort: openflow.PortNo(st.port), Frame: slices.Clone(b)},
		Reason: st.reason,
	})
}
