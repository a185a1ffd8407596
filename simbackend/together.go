package simbackend

import (
	"hpnn/internal/packet"
	"hpnn/simbackend/conntrack"
	"hpnn/simbackend/flow"
)

// released lists the frames that go on behind a stepCT that f came to: f itself if it is not held, and
// the fragments that waited for it. The steps behind were made for f: of a fragment they write what
// they change of f, whatever it holds.
func (s *Switch) released(f *frame, p *pass, st *step, out conntrack.Outcome) (frames []*frame) {
	if !out.Held {
		frames = append(frames, f)
	}
	for i := range out.Released {
		r := &out.Released[i]
		g := &frame{ct: conntrack.Packet{Meta: r.Meta}, key: p.keys[st.key], at: f.at}
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
			var on []*frame
			for _, f := range frames {
				on = append(on, s.released(f, p, st, s.track(f, st))...)
			}
			s.together(on, p, steps[i:], level)
			return
		default:
			for _, f := range frames {
				s.do(f, p, st)
			}
		}
	}
}

// copies are copies of frames that share nothing with them.
func copies(frames []*frame) (list []*frame) {
	for _, f := range frames {
		c := &frame{key: f.key, ct: conntrack.Packet{Meta: f.ct.Meta}, at: f.at, frozen: f.frozen, table: f.table}
		c.Packet.Load(f.Bytes(), f.Layout)
		list = append(list, c)
	}
	return list
}
