package conntrack_test

import (
	"math/rand/v2"

	"hpnn/simbackend/conntrack"
)

// A world has a few hosts in conversation, with few addresses and ports, so that they
// get into each other's way.
type world struct {
	*rand.Rand
	rig   *rig
	talks []*talk
	deep  bool // a few long TCP conversations, tracked plainly
}

// talk is a conversation. Side 0 began it.
type talk struct {
	proto   byte
	out     [2]flow // what each side sends
	id      uint16  // of pings
	seq     [2]uint32
	window  [2]uint16
	shift   [2]int // window scale option, -1: none
	stage   int
	scripts [2]int
	last    [2][]byte // the last frame that left the switch
}

func newWorld(rng *rand.Rand, r *rig) *world { return &world{Rand: rng, rig: r} }

func (w *world) step() {
	if w.deep {
		w.stepDeep()
		return
	}
	if len(w.talks) == 0 || len(w.talks) < 8 && w.IntN(5) == 0 || w.IntN(25) == 0 {
		w.talks = append(w.talks, w.begin())
		if len(w.talks) > 12 {
			w.talks = w.talks[1:]
		}
	}
	t := w.talks[w.IntN(len(w.talks))]
	if w.IntN(3) == 0 {
		t = w.talks[len(w.talks)-1]
	}
	switch {
	case w.IntN(20) == 0:
		w.complain(t)
	case t.proto == protoTCP:
		w.segment(t)
	case t.proto == protoUDP:
		w.datagram(t)
	case t.proto == protoICMP:
		w.ping(t)
	default:
		w.other(t)
	}
}

// stepDeep goes on with one conversation for some thirty segments, then begins the next.
func (w *world) stepDeep() {
	if len(w.talks) == 0 || w.IntN(30) == 0 {
		t := w.begin()
		t.proto, t.scripts = protoTCP, [2]int{1, 1}
		t.out[0].sport = uint16(1024 + w.IntN(60000))
		t.out[1] = t.out[0].back()
		w.talks = []*talk{t}
	}
	w.segment(w.talks[0])
}

func (w *world) begin() *talk {
	f := flow{src: clients[w.IntN(len(clients))], dst: servers[w.IntN(len(servers))]}
	if w.IntN(8) == 0 {
		f = f.back()
	}
	f.sport = []uint16{1000, 1000, 550, 511, 1023, 40000, 40001, 65535, 80}[w.IntN(9)]
	f.dport = []uint16{80, 80, 80, 8080, 21, 69}[w.IntN(6)]
	t := &talk{
		proto: []byte{protoTCP, protoTCP, protoTCP, protoTCP, protoUDP, protoUDP, protoICMP, 47, 58}[w.IntN(9)],
		out:   [2]flow{f, f.back()},
		id:    uint16(1 + w.IntN(2)),
		seq:   [2]uint32{w.Uint32(), w.Uint32()},
		shift: [2]int{w.IntN(18) - 2, w.IntN(18) - 2},
	}
	if w.IntN(3) == 0 {
		t.seq[0] = -uint32(w.IntN(200))
	}
	for side := range 2 {
		t.window[side] = []uint16{0, 1, 500, 29200, 65535}[w.IntN(5)]
		t.scripts[side] = w.IntN(len(w.rig.scripts))
	}
	if w.IntN(3) == 0 {
		t.stage = 3 // as if it had begun before we looked
	}
	return t
}

// emit sends a frame of side and learns from what leaves where the other one is.
func (w *world) emit(t *talk, side int, frame []byte) {
	k := t.scripts[side]
	if !w.deep && w.IntN(6) == 0 {
		k = w.IntN(len(w.rig.scripts))
	}
	w.corrupt(frame)
	for _, p := range w.rig.send(k, frame) {
		t.last[side] = p.Frame
		if side == 0 && p.Meta.State&(conntrack.StateInv|conntrack.StateRel) == 0 && w.IntN(8) != 0 {
			t.out[1] = flowOf(p.Frame).back()
		}
	}
}

// corrupt spoils a frame now and then.
func (w *world) corrupt(frame []byte) {
	if w.IntN(60) != 0 {
		return
	}
	at := 14 + w.IntN(len(frame)-14)
	if at == 20 || at == 21 { // fragments are another story
		return
	}
	frame[at] ^= 1 << w.IntN(8)
}

func (w *world) datagram(t *talk) {
	side := w.IntN(2)
	u := udp{flow: t.out[side], payload: make([]byte, w.IntN(30)), noChecksum: w.IntN(5) == 0}
	p := u.ip()
	if w.IntN(20) == 0 {
		put16(p.payload, 4, uint16(w.IntN(60))) // a length that may not fit
		put16(p.payload, 6, 0)
		put16(p.payload, 6, l4sum(u.src, u.dst, protoUDP, p.payload))
	}
	w.trim(&p)
	w.emit(t, side, p.frame())
}

// trim adds options or padding.
func (w *world) trim(p *ip4) {
	if w.IntN(10) == 0 {
		p.options = []byte{1, 1, 1, 0}
	}
	if w.IntN(4) == 0 {
		p.padding = w.IntN(20)
	}
}

func (w *world) ping(t *talk) {
	side := w.IntN(2)
	kinds := [2][]byte{{8, 8, 8, 13, 15}, {0, 0, 0, 14, 16}}[side]
	kind := kinds[w.IntN(len(kinds))]
	if w.IntN(15) == 0 {
		kind = byte(w.IntN(20))
	}
	e := echo(t.out[side].src, t.out[side].dst, kind, t.id, uint16(w.IntN(3)))
	if w.IntN(25) == 0 {
		e.code = 1
	}
	w.emit(t, side, e.frame())
}

func (w *world) other(t *talk) {
	side := w.IntN(2)
	p := ip4{src: t.out[side].src, dst: t.out[side].dst, proto: t.proto, payload: []byte{128, 0, 0, 0, 0, 0, 0, 0, 0}}
	if w.IntN(4) == 0 {
		p.payload[0] = byte(w.IntN(256))
	}
	w.emit(t, side, p.frame())
}

// complain sends an ICMP error about the last packet one side sent.
func (w *world) complain(t *talk) {
	side := w.IntN(2)
	quoted := t.last[side]
	if len(quoted) < 14+20+20 {
		return
	}
	quoted = quoted[14:]
	kind := []byte{3, 3, 11, 4, 5, 12}[w.IntN(6)]
	var to addr
	copy(to[:], quoted[12:])
	n := int(quoted[0]&15)*4 + 20 + w.IntN(30) // a whole TCP header: less is not safe to ask about
	if w.IntN(10) == 0 {
		to = clients[w.IntN(2)]
	}
	from := t.out[1-side].src
	if w.IntN(3) == 0 {
		from = ip("10.7.7.7")
	}
	k := t.scripts[1-side]
	w.rig.send(k, about(from, to, kind, byte(w.IntN(3)), quoted, n).frame())
}

// segment sends the next thing a TCP would say, or something near it.
func (w *world) segment(t *talk) {
	side := w.IntN(2)
	s := tcp{flow: t.out[side], window: t.window[side]}
	w.script(t, side, &s)
	s.seq, s.ack = t.seq[side], t.seq[1-side]
	if w.IntN(4) == 0 {
		w.mutate(t, side, &s)
	}
	if s.ack != 0 {
		s.flags += "."
	}
	if w.IntN(5) == 0 {
		t.window[side] = uint16(w.Uint32())
	}
	p := s.ip()
	w.trim(&p)
	w.emit(t, side, p.frame())
	if w.IntN(5) != 0 {
		t.seq[side] += uint32(len(s.payload))
		for _, f := range s.flags {
			if f == 'S' || f == 'F' {
				t.seq[side]++
			}
		}
	}
}

// script fills flags, options and payload by the stage of the conversation.
func (w *world) script(t *talk, side int, s *tcp) {
	switch {
	case t.stage == 0 && side == 0, t.stage == 1 && side == 1:
		s.flags = "S"
		s.options = w.synOptions(t, side)
		t.stage++
		if side == 0 && w.IntN(6) != 0 {
			s.ack = 1 // undone below: a first SYN has no ACK
		}
	case t.stage < 8 || w.IntN(3) != 0:
		s.payload = make([]byte, []int{0, 0, 1, 10, 100, 1000}[w.IntN(6)])
		if len(s.payload) > 0 {
			s.flags = "P"
		}
		t.stage++
	default:
		s.flags = []string{"F", "F", "F", "R", "S"}[w.IntN(5)]
	}
}

func (w *world) synOptions(t *talk, side int) []byte {
	if t.shift[side] < 0 {
		return []byte{2, 4, 5, 0xb4}
	}
	return []byte{2, 4, 5, 0xb4, 1, 3, 3, byte(t.shift[side])}
}

// mutate bends a segment.
func (w *world) mutate(t *talk, side int, s *tcp) {
	near := func() uint32 {
		return uint32([]int{0, 1, -1, 2, 100, -100, 65535, -65535, 67035, -67035, 67036, -67036, 1 << 20, -(1 << 20), 1 << 31}[w.IntN(15)])
	}
	switch w.IntN(6) {
	case 0:
		s.seq += near()
	case 1:
		s.ack += near()
	case 2:
		s.ack = 0
	case 3:
		s.flags = []string{"", "S", "F", "R", "P", "U", "SF", "SR", "FR", "FPU"}[w.IntN(10)]
		s.options = w.synOptions(t, side)
	case 4:
		s.seq = w.Uint32()
	case 5:
		s.options = make([]byte, w.IntN(12))
		for i := range s.options {
			s.options[i] = byte(w.IntN(6))
		}
	}
}
