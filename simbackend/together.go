package simbackend

import (
	"hpnn/internal/packet"
	"hpnn/simbackend/conntrack"
	"hpnn/simbackend/flow"
)

// released makes frames of the fragments that a stepCT has let go. The steps behind were made for the frame that
// came to it, at the place given: of a fragment they write what they change of that frame, whatever it holds.
func (p *pass) released(st *step, packets []conntrack.Packet, at int) (frames []*frame) {
	for i := range packets {
		r := &packets[i]
		g := &frame{ct: conntrack.Packet{Meta: r.Meta}, key: p.keys[st.key], at: at, recirc: r.Recirc}
		g.key.SetInPort(uint16(r.Tag))
		g.Packet.Load(r.Frame, fragmentLayout(r))
		frames = append(frames, g)
	}
	return frames
}

// fragmentLayout is where the headers of a fragment are. It is not read from the frame, which would
// not find them behind more than one tag.
func fragmentLayout(r *conntrack.Packet) flow.Layout {
	ip := r.Frame[r.L3:]
	return flow.Layout{
		Len: len(r.Frame), L3: uint16(r.L3), L4: uint16(r.L3 + int(ip[0]&15)*4),
		Pad: uint16(len(ip) - int(packet.Word(ip, 2))),
	}
}

// together takes frames that a stepCT, the first of steps, has let go through the steps behind it: all
// of them through one step before any comes to the next.
func (s *Switch) together(frames []*frame, p *pass, steps []step, level int) {
	for _, f := range frames {
		s.fork(f, p, steps, level)
	}
	s.executeTogether(frames, p, steps[1:], level)
}

func (s *Switch) executeTogether(frames []*frame, p *pass, steps []step, level int) {
	for i := 0; i < len(steps) && len(frames) > 0; i++ {
		st := &steps[i]
		switch st.kind {
		case stepClone:
			s.executeTogether(copies(frames), p, steps[i+1:i+1+int(st.n)], level)
			i += int(st.n)
		case stepCT:
			s.together(s.trackTogether(frames, p, st), p, steps[i:], level)
			return
		default:
			for _, f := range frames {
				s.do(f, p, st)
			}
		}
	}
}

// trackTogether sends frames through the connection tracker and returns those that go on.
func (s *Switch) trackTogether(frames []*frame, p *pass, st *step) (on []*frame) {
	packets := make([]*conntrack.Packet, len(frames))
	for i, f := range frames {
		packets[i] = f.tracked()
	}
	held, released := s.ct.ExecuteTogether(s.now, packets, st.request)
	for i, f := range frames {
		if !held[i] {
			on = append(on, f)
		}
	}
	return append(on, p.released(st, released, frames[0].at)...)
}

// copies are copies of frames that share nothing with them.
func copies(frames []*frame) (list []*frame) {
	for _, f := range frames {
		c := &frame{key: f.key, ct: conntrack.Packet{Meta: f.ct.Meta}, at: f.at, frozen: f.frozen, table: f.table, recirc: f.recirc}
		c.Packet.Load(f.Bytes(), f.Layout)
		list = append(list, c)
	}
	return list
}
