package shard

import (
	"encoding/binary"
	"hash/maphash"

	"hpnn/datapath/openflow"
)

// state is what is known of a frame on its way through the tables.
type state struct {
	port     uint16 // that lookups see; 0: unknown
	ipv4     bool
	proto    constant // of IPv4
	src, dst value
	regs     [16]constant
}

// constant is the known part of a field.
type constant struct{ value, mask uint32 }

// whole gives the value of a register if all of it is known.
func (c constant) whole() (uint32, bool) { return c.value, c.mask == ^uint32(0) }

// signature tells states in tables apart.
type signature uint64

var seed = maphash.MakeSeed()

func (s *state) signature(table openflow.TableID) signature {
	var h maphash.Hash
	h.SetSeed(seed)
	word := func(w uint32) {
		var b [4]byte
		binary.LittleEndian.PutUint32(b[:], w)
		h.Write(b[:])
	}
	word(uint32(table)<<16 | uint32(s.port))
	for _, v := range []*value{&s.src, &s.dst} {
		word(uint32(v.kind))
		word(v.area.value)
		word(v.area.mask)
		word(uint32(len(v.set)))
		for _, each := range v.set {
			word(each)
		}
	}
	word(s.proto.value)
	word(s.proto.mask)
	for _, r := range s.regs {
		word(r.value)
		word(r.mask)
	}
	return signature(h.Sum64())
}

// forget makes unknown what an action may have written to a field.
func (s *state) forget(f openflow.Field) {
	switch {
	case f == openflow.InPort:
		s.port = 0
	case f == openflow.IPProto:
		s.proto = constant{}
	case f == openflow.IPSrc:
		s.src = value{}
	case f == openflow.IPDst:
		s.dst = value{}
	case isRegister(f):
		s.regs[f-openflow.Reg0] = constant{}
	case f >= openflow.XXReg0 && f <= openflow.XXReg3:
		first := int(f-openflow.XXReg0) * 4
		clear(s.regs[first : first+4])
	case f >= openflow.XReg0 && f <= openflow.XReg7:
		first := int(f-openflow.XReg0) * 2
		clear(s.regs[first : first+2])
	}
}

// forgetAll makes unknown what actions can write at all.
func (s *state) forgetAll() {
	s.port, s.proto, s.src, s.dst, s.regs = 0, constant{}, value{}, value{}, [16]constant{}
}

// met is what a rule's match comes to for a state.
type met struct {
	feasible, certain bool
	where             state // what is known if the rule matches
	elsewhere         state // and if it does not
}

// meet asks whether frames of a state match.
func (s *state) meet(terms []openflow.Term) met {
	m := met{feasible: true, where: *s, elsewhere: *s}
	open := 0 // conditions of which it is not known whether they are met
	for _, t := range terms {
		var a answer
		switch t.Field {
		case openflow.IPSrc:
			a, m.where.src, m.elsewhere.src = s.src.meets(prefixOf(t))
		case openflow.IPDst:
			a, m.where.dst, m.elsewhere.dst = s.dst.meets(prefixOf(t))
		case openflow.IPProto:
			a = s.answer(t)
			m.where.proto = constant{uint32(t.Value.Lo), uint32(t.Mask.Lo)}
		default:
			a = s.answer(t)
		}
		switch a {
		case no:
			return met{elsewhere: *s}
		case maybe:
			open++
		}
	}
	m.certain = open == 0
	if open > 1 { // any of them may be the one that is not met
		m.elsewhere = *s
	}
	return m
}

func prefixOf(t openflow.Term) prefix { return prefix{uint32(t.Value.Lo), uint32(t.Mask.Lo)} }

// answer is what a condition on anything but an address comes to.
func (s *state) answer(t openflow.Term) answer {
	var known constant
	switch {
	case t.Field == openflow.InPort && s.port != 0:
		known = constant{uint32(s.port), 0xffff}
	case t.Field == openflow.EthType && s.ipv4:
		known = constant{ipv4Type, 0xffff}
	case t.Field == openflow.EthType && t.Value.Lo == ipv4Type && t.Mask == t.Field.Mask():
		return no
	case t.Field == openflow.IPProto:
		known = s.proto
	case isRegister(t.Field):
		known = s.regs[t.Field-openflow.Reg0]
	}
	mask := uint32(t.Mask.Lo)
	if both := known.mask & mask; known.value&both != uint32(t.Value.Lo)&both {
		return no
	}
	if known.mask != 0 && mask&^known.mask == 0 {
		return yes
	}
	return maybe
}

const ipv4Type = 0x0800
