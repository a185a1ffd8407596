package conformance

import (
	"slices"
	"time"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
)

// events makes the next thing that happens, and lets it happen in the simulator.
func (m *maker) events() []Event {
	t := m.traits
	which := weighted(m, []choice[func() []Event]{
		{45 + scaled(t.node, 60), m.converse}, {20, m.sample}, {10, m.stray}, {15, m.again},
		{scaled(t.odd, 15), m.oddOne}, {scaled(t.fragments, 15), m.fragmented},
		{scaled(t.time, 15), m.wait}, {scaled(t.changes, 10), m.change}, {scaled(len(m.captures) > 0, 4), m.captured},
	})
	events := which()
	for _, e := range events {
		if f, ok := e.(Frame); ok {
			m.past = append(m.past, f)
		}
	}
	return events
}

func scaled(on bool, weight int) int {
	if on {
		return weight
	}
	return 0
}

// arrive lets frames happen.
func (m *maker) arrive(frames ...Frame) (events []Event) {
	for _, f := range frames {
		if m.allowed(f.Bytes) {
			m.world.receive(f)
			events = append(events, f)
		}
	}
	return events
}

// converse lets a talk go on, or begins one.
func (m *maker) converse() (events []Event) {
	if len(m.talks) == 0 || m.chance(30) && len(m.talks) < 4 {
		m.talks = append(m.talks, m.newTalk())
	}
	t := pick(m, m.talks...)
	for range 1 + m.IntN(4) {
		if e := m.say(t); e != nil {
			events = append(events, e)
		}
	}
	return events
}

func (m *maker) sample() []Event { return m.arrive(pick(m, m.samples...)) }

// stray is an ordinary frame that nobody has announced.
func (m *maker) stray() []Event { return m.arrive(Frame{m.ingress(), m.ordinary()}) }

// again repeats a frame, perhaps on another port, and perhaps a few times: a switch may remember what it did.
func (m *maker) again() []Event {
	if len(m.past) == 0 {
		return m.sample()
	}
	f := pick(m, m.past...)
	if m.chance(30) {
		f.Port = m.ingress()
	}
	if isFragment(f.Bytes) {
		return nil
	}
	return m.arrive(slices.Repeat([]Frame{f}, 1+m.IntN(4))...)
}

func (m *maker) oddOne() []Event {
	f := pick(m, append(m.samples, m.past...)...)
	if isFragment(f.Bytes) {
		return nil
	}
	f.Bytes = m.odd(f.Bytes)
	return m.arrive(f)
}

// fragmented sends a datagram in pieces, in any order, and sometimes not all of them.
func (m *maker) fragmented() []Event {
	m.datagram++
	body := make([]byte, 1300+8*m.IntN(150))
	for i := range body {
		body[i] = byte(i)
	}
	k := pick(m, m.samples...)
	src, dst := pick(m, ipv4...), pick(m, ipv4...)
	eth := m.ether()
	if etherType, l3 := network(k.Bytes); etherType == packet.TypeIPv4 && len(l3) >= 20 {
		src, dst = addr4(l3[12:]), addr4(l3[16:])
	}
	ip := packet.IP{Src: src, Dst: dst, ID: m.datagram}
	whole := packet.UDP{Eth: eth, IP: ip, SrcPort: m.port(), DstPort: m.port(), Payload: body}.Bytes()
	if m.chance(20) {
		whole = packet.ICMP{Eth: eth, IP: ip, Type: packet.EchoRequest, ID: 7, Payload: body}.Bytes()
	}
	frames := m.pieces(k.Port, eth, ip, whole)
	m.Shuffle(len(frames), func(i, j int) {
		if m.chance(50) {
			frames[i], frames[j] = frames[j], frames[i]
		}
	})
	if m.chance(15) {
		frames = frames[1:]
	}
	return m.arrive(frames...)
}

// pieces cuts the payload of an IPv4 frame.
func (m *maker) pieces(port openflow.PortNo, eth packet.Ether, ip packet.IP, whole []byte) (frames []Frame) {
	_, l3 := network(whole)
	payload, size := l3[20:], pick(m, 1200, 1208, 1240, 600)
	for at := 0; at < len(payload); at += size {
		h := ip
		h.Offset, h.More = at, at+size < len(payload)
		piece := packet.Datagram{Eth: eth, IP: h, Proto: l3[9], Payload: payload[at:min(at+size, len(payload))]}
		frames = append(frames, Frame{port, piece.Bytes()})
	}
	return frames
}

func (m *maker) wait() []Event {
	by := time.Duration(pick(m, 1, 1, 2, 3, 5, 8, 13, 20, 31, 61, 301)) * time.Second
	m.world.now += by
	m.world.sim.Advance(m.world.now)
	return []Event{Advance{by}}
}
