package conformance

import (
	"math/rand/v2"

	"hpnn/datapath/openflow"
	"hpnn/datapath/openflow/openflowtest"
	"hpnn/simbackend/flow"
)

// Generate makes the case of a number. Talks in it follow what the simulator sends, so that answers go where a real host
// would send them. captures, which may be empty, are frames to take some from.
func Generate(seed uint64, captures Captures) Case {
	m := newMaker(seed, captures)
	m.samples = m.sampleFrames()
	m.learnKeys()
	c := Case{Flows: node()}
	if !m.traits.node {
		c.Flows = m.program()
	}
	m.traits.changes = m.traits.changes && !c.does(learnsTCI)
	w, err := newWorld()
	if err != nil {
		panic("conformance: " + err.Error())
	}
	c.Flows = accepted(w, c.Flows)
	m.world, m.parts, m.partsOfOp = w, c.does(blindlyWritesPart), c.does(writesPartOfOp)
	for range 2 + m.IntN(9) {
		c.Events = append(c.Events, m.events()...)
	}
	return c
}

// accepted is the flows that the simulator takes together. It has them then.
func accepted(w *world, flows []openflow.Flow) []openflow.Flow {
	var kept []openflow.Flow
	for _, f := range flows {
		refused := len(w.record.Refused)
		err := w.commit(0, openflow.Bundle{{Command: openflow.Add, Flow: f}})
		if err == nil && len(w.record.Refused) == refused {
			kept = append(kept, f)
		}
	}
	return kept
}

// maker makes one case.
type maker struct {
	*rand.Rand
	seed      uint64
	gen       *openflowtest.Gen
	captures  Captures
	samples   []Frame    // kinds of frames that the case is about
	keys      []flow.Key // of the samples
	traits    traits
	world     *world
	talks     []*talk
	fields    []openflow.Field // that the actions being made may speak of
	past      []Frame
	datagram  uint16 // id of the next fragmented datagram
	parts     bool   // of ports are written blindly: no fragments
	partsOfOp bool   // of arp_op are written: no operations above 255
	learns    uint16 // learn actions so far: each has a priority of its own
	tables    int
}

// traits are what a case is about, so that not every case is about everything.
type traits struct {
	tracking  bool // uses ct
	nat       bool // uses nat: no ICMP errors
	actionSet bool // uses write_actions: no ct(table=)
	learning  bool
	vlan      bool
	ipv6      bool
	odd       bool // malformed and mutated frames
	fragments bool
	time      bool
	changes   bool
	node      bool // runs the rules of the node
}

func newMaker(seed uint64, captures Captures) *maker {
	m := &maker{
		Rand: rand.New(rand.NewPCG(seed, 1)), seed: seed, gen: openflowtest.New(seed),
		captures: captures, datagram: uint16(seed * 16), tables: 2,
	}
	m.tables += m.IntN(4)
	m.gen.Tables = openflow.TableID(m.tables)
	m.gen.Ports = []openflow.PortNo{1, 2, 3, 4, 7}
	m.gen.Values = m.value
	m.traits = traits{
		tracking: m.chance(55), learning: m.chance(30), vlan: m.chance(25), ipv6: m.chance(20),
		odd: m.chance(40), fragments: m.chance(15), time: m.chance(20), changes: m.chance(20),
	}
	m.traits.ipv6 = m.traits.ipv6 && !m.traits.tracking
	if m.chance(8) {
		m.traits.node, m.traits.tracking, m.traits.learning, m.traits.ipv6 = true, true, true, false
		m.tables = 26
	}
	m.traits.nat = m.traits.node || m.traits.tracking && m.chance(60)
	m.traits.actionSet = !m.traits.tracking && m.chance(40)
	return m
}

// chance is true in percent of all cases.
func (m *maker) chance(percent int) bool { return m.IntN(100) < percent }

func pick[T any](m *maker, list ...T) T { return list[m.IntN(len(list))] }

// weighted picks from alternatives by weight.
func weighted[T any](m *maker, list []choice[T]) T {
	total := 0
	for _, c := range list {
		total += c.weight
	}
	n := m.IntN(total)
	for _, c := range list {
		if n -= c.weight; n < 0 {
			return c.what
		}
	}
	panic("conformance: weights do not add up")
}

type choice[T any] struct {
	weight int
	what   T
}

func (m *maker) learnKeys() {
	for _, f := range m.samples {
		var k flow.Key
		if _, ok := flow.Extract(f.Bytes, uint16(f.Port), &k); ok {
			m.keys = append(m.keys, k)
		}
	}
}

// value is a value of a field that some sample has, most of the time.
func (m *maker) value(f openflow.Field) (openflow.Value, bool) {
	if m.chance(25) || f == openflow.EthType || f == openflow.IPProto || f == openflow.InPort || f == openflow.CTState {
		return openflow.Value{}, false
	}
	if v, ok := m.constant(f); ok {
		return v, true
	}
	for range 4 {
		if k := pick(m, m.keys...); flow.Present(&k, f) {
			return k.Get(f), true
		}
	}
	return openflow.Value{}, false
}

// constant is a value of a field that no frame brings along, one of few.
func (m *maker) constant(f openflow.Field) (openflow.Value, bool) {
	switch {
	case f >= openflow.Reg0 && f <= openflow.Reg15, f == openflow.Metadata, f == openflow.CTMark, f == openflow.CTLabel, f == openflow.PktMark:
		return openflow.U64(uint64(m.IntN(4))), true
	case f == openflow.CTZone:
		return openflow.U64(uint64(m.IntN(3))), true
	}
	return openflow.Value{}, false
}
