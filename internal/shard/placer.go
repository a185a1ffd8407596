package shard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/simbackend/flow"
)

// Placer chooses the shard of a frame. It is not safe for concurrent use.
type Placer struct {
	program *program
	shards  uint32
	classes map[class]verdict
	// Learned is how many learned flows all shards together may have at any time; negative: any number.
	Learned int
	fields  flow.Key
	recent  [recentEnds]placed
}

// recentEnds is how many pairs of addresses a Placer has at hand.
const recentEnds = 1 << 12

// placed are addresses that were found to be placeable.
type placed struct {
	port     uint16
	used     bool
	tracks   bool
	src, dst uint32
	key      uint32
}

// class is what the walk of a frame depends on.
type class struct {
	port     uint16
	ipv4     bool
	src, dst end
}

// end is what kind of address a frame has at one end.
type end struct {
	foreign bool
	area    int    // of a foreign one: the number of the longest prefix
	name    uint32 // of another: which name it is, 0 for any
}

// verdict is what the walk of a class came to.
type verdict struct {
	err             error
	tracks, touches bool
}

// New prepares to place the frames of a program on so many shards. The error says why no frame of
// this program can be executed apart.
func New(p openflow.Program, shards int) (*Placer, error) {
	for f := range p.All() {
		if f.IdleTimeout != 0 || f.HardTimeout != 0 {
			return nil, fmt.Errorf("%v: it times out", f)
		}
	}
	n, err := namesOf(p)
	if err != nil {
		return nil, err
	}
	return &Placer{program: newProgram(p, n), shards: uint32(shards), classes: map[class]verdict{}, Learned: learnLimit(p)}, nil
}

// Place chooses the shard of a frame that comes in by a port. The error says why it cannot be
// executed apart from the frames before and behind it.
func (p *Placer) Place(port openflow.PortNo, frame []byte) (shard int, err error) {
	k := &p.fields
	layout, ok := flow.Extract(frame, uint16(port), k)
	if !ok {
		return 0, nil // it is ignored
	}
	if k.Get(openflow.EthType).Lo != ipv4Type {
		return 0, p.verdict(class{port: uint16(port)}).err
	}
	at := p.remember(port, uint32(k.Get(openflow.IPSrc).Lo), uint32(k.Get(openflow.IPDst).Lo))
	if !at.used {
		if err := p.judge(at); err != nil {
			return 0, err
		}
	}
	if at.tracks {
		if err := p.alone(k, layout, frame, at.key); err != nil {
			return 0, err
		}
	}
	return p.shard(at.key), nil
}

// remember finds the place for two addresses, which is not in use if they are new.
func (p *Placer) remember(port openflow.PortNo, src, dst uint32) *placed {
	at := &p.recent[(src*0x9e3779b1^dst*0x85ebca77^uint32(port))>>16%recentEnds]
	if at.src != src || at.dst != dst || at.port != uint16(port) {
		*at = placed{port: uint16(port), src: src, dst: dst}
	}
	return at
}

// judge finds out about new addresses.
func (p *Placer) judge(at *placed) error {
	c := class{port: at.port, ipv4: true}
	if n := &p.program.names; !n.set[at.src] {
		c.src, at.key = end{foreign: true, area: n.area(at.src)}, at.src
	}
	if n := &p.program.names; !n.set[at.dst] {
		c.dst, at.key = end{foreign: true, area: n.area(at.dst)}, at.dst
	}
	v := p.verdict(c)
	if v.err != nil { // perhaps it is not so of these very names
		c.src.named(at.src)
		c.dst.named(at.dst)
		v = p.verdict(c)
	}
	at.used, at.tracks = v.err == nil, v.tracks
	return v.err
}

func (e *end) named(a uint32) {
	if !e.foreign {
		e.name = a
	}
}

// alone demands of a frame that may be tracked that no other key has to do with it.
func (p *Placer) alone(k *flow.Key, l flow.Layout, frame []byte, key uint32) error {
	if k.Get(openflow.IPFrag).Lo != 0 {
		return fmt.Errorf("it is a fragment, which waits for others in the connection tracker")
	}
	const quote, header = 8, 20 // bytes of ICMP before the quoted packet, and the least of its header
	if k.Get(openflow.IPProto).Lo != packet.ProtoICMP || !l.HasL4() || len(frame) < int(l.L4)+quote+header {
		return nil
	}
	if !isError(frame[l.L4]) {
		return nil
	}
	quoted := frame[int(l.L4)+quote:]
	src, dst := binary.BigEndian.Uint32(quoted[12:]), binary.BigEndian.Uint32(quoted[16:])
	for _, a := range [2]uint32{src, dst} {
		if a != key && !p.program.names.set[a] {
			return errForeignQuote
		}
	}
	if key != 0 && src != key && dst != key {
		return errForeignQuote
	}
	return nil
}

var errForeignQuote = errors.New("it is an ICMP error about a packet of other addresses than its own")

// isError reports whether an ICMP message of a type quotes the packet that it is about (RFC 792).
func isError(icmpType byte) bool {
	switch icmpType {
	case 3, 4, 5, 11, 12:
		return true
	}
	return false
}

// shard spreads keys. Frames without one go to the first shard.
func (p *Placer) shard(key uint32) int {
	if key == 0 {
		return 0
	}
	hash := key * 0x9e3779b1
	hash ^= hash >> 15
	hash *= 0x85ebca77
	high, _ := bits.Mul32(hash, p.shards)
	return int(high)
}

// verdict walks the rules for a class, once.
func (p *Placer) verdict(c class) verdict {
	v, known := p.classes[c]
	if !known {
		v = p.program.judge(c)
		p.classes[c] = v
	}
	return v
}

// judge walks the rules for a class.
func (w *program) judge(c class) verdict {
	s := state{port: c.port, ipv4: c.ipv4}
	for i := range s.regs {
		s.regs[i] = constant{0, ^uint32(0)}
	}
	foreign := c.src.foreign && c.dst.foreign
	if c.ipv4 {
		s.src, s.dst = w.value(c.src, foreign), w.value(c.dst, foreign)
	}
	t := walk{program: w, seen: map[signature]bool{}, keyed: c.src.foreign || c.dst.foreign, foreign: foreign}
	err := t.enter(s, 0)
	if err == nil && foreign && t.touches {
		err = fmt.Errorf("neither of its addresses is one of the program's, and the rules may remember either")
	}
	return verdict{err, t.tracks, t.touches}
}

func (w *program) value(e end, foreign bool) value {
	switch {
	case e.name != 0:
		return value{kind: name, set: []uint32{e.name}}
	case !e.foreign:
		return value{kind: name, set: w.all}
	case foreign:
		return value{kind: foreigner, area: w.names.prefixes[e.area]}
	}
	return value{kind: key, area: w.names.prefixes[e.area]}
}

// learnLimit is how many flows may be learned before the first limit is met; negative: any number.
func learnLimit(p openflow.Program) int {
	least := -1
	for f := range p.All() {
		for a := range deep(f.Actions) {
			l, ok := a.(openflow.Learn)
			if !ok || l.Limit == 0 {
				continue
			}
			room := int(l.Limit)
			for g := range p.All() {
				if g.Table == l.Table && g.Cookie == l.Cookie {
					room--
				}
			}
			if room = max(room, 0); least < 0 || room < least {
				least = room
			}
		}
	}
	return least
}
