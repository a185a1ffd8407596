package ofwire

import (
	"slices"

	of "hpnn/datapath/openflow"
)

// matchOrder is the order in which Open vSwitch sends conditions: what others depend on comes first.
var matchOrder = []of.Field{
	of.InPort, of.EthSrc, of.EthDst, of.EthType, of.VLANTCI,
	of.IPSrc, of.IPDst, of.IPv6Src, of.IPv6Dst, of.IPFrag, of.IPDSCP, of.IPECN, of.IPTTL, of.IPv6Label, of.IPProto,
	of.TCPSrc, of.TCPDst, of.TCPFlags, of.UDPSrc, of.UDPDst, of.SCTPSrc, of.SCTPDst,
	of.ICMPType, of.ICMPCode, of.ICMPv6Type, of.ICMPv6Code, of.NDTarget, of.NDSll, of.NDTll,
	of.ARPOp, of.ARPSpa, of.ARPTpa, of.ARPSha, of.ARPTha, of.TunID,
	of.Reg0, of.Reg1, of.Reg2, of.Reg3, of.Reg4, of.Reg5, of.Reg6, of.Reg7,
	of.Reg8, of.Reg9, of.Reg10, of.Reg11, of.Reg12, of.Reg13, of.Reg14, of.Reg15,
	of.PktMark, of.CTState, of.CTZone, of.CTMark, of.CTLabel,
	of.CTNwSrc, of.CTNwDst, of.CTIPv6Src, of.CTIPv6Dst, of.CTNwProto, of.CTTpSrc, of.CTTpDst, of.Metadata,
}

var matchRank = makeRanks()

func makeRanks() (ranks [of.XXReg3 + 1]uint8) {
	for i, f := range matchOrder {
		ranks[f] = uint8(i + 1)
	}
	return ranks
}

// matchOXM is the only type of match (section 7.2.3.1).
const matchOXM = 1

// match appends the conditions, padded to a multiple of eight.
func (w *writer) match(m of.Match) {
	start := w.begin(matchOXM)
	var buffer [16]of.Term
	terms := append(buffer[:0], m.Terms()...)
	slices.SortFunc(terms, func(a, b of.Term) int { return int(rank(a.Field)) - int(rank(b.Field)) })
	for i := 0; i < len(terms); i++ {
		t := terms[i]
		if t.Field < of.Reg0 || t.Field > of.Reg15 {
			w.term(t)
			continue
		}
		n := 1
		if i+1 < len(terms) && (t.Field-of.Reg0)%2 == 0 && terms[i+1].Field == t.Field+1 {
			n = 2
		}
		w.registers(terms[i : i+n])
		i += n - 1
	}
	w.setLength(start, 2)
	w.pad(start)
}

func rank(f of.Field) uint8 {
	if !known(f) {
		return 0
	}
	return matchRank[f]
}

// registers appends conditions on one or two registers as one on the double one that they are halves of.
func (w *writer) registers(terms []of.Term) {
	var v, mask of.Value
	for _, t := range terms {
		shift := 32
		if (t.Field-of.Reg0)%2 == 1 {
			shift = 0
		}
		v, mask = v.Or(t.Value.Shl(shift)), mask.Or(t.Mask.Shl(shift))
	}
	w.oxm(of.XReg0+(terms[0].Field-of.Reg0)/2, v, mask)
}

// term appends one condition.
func (w *writer) term(t of.Term) {
	switch {
	case rank(t.Field) == 0:
		w.fail(unsupported(t.Field, "is no field of a match"))
	case t.Value.AndNot(t.Mask) != of.Value{}:
		w.fail(unsupported(t, "has bits outside its mask"))
	case t.Field == of.InPort && t.Mask == of.Ones(16):
		w.exact(codeInPort, 4, of.U64(uint64(widePort(of.PortNo(t.Value.Lo)))))
	case t.Field == of.VLANTCI:
		w.tag(t)
	case t.Field == of.CTState && t.Mask == of.Ones(32) && t.Value.Lo <= 0xff:
		w.oxm(of.CTState, t.Value, of.U64(0xff)) // all that there are
	default:
		w.oxm(t.Field, t.Value, t.Mask)
	}
}

// tag appends the conditions on a VLAN tag: its id with the bit that says it is there, and its priority.
func (w *writer) tag(t of.Term) {
	const pcp, vid = 0xe000, 0x1fff
	if t.Mask.Lo&pcp != 0 && (t.Mask.Lo&pcp != pcp || t.Mask.Lo&t.Value.Lo&of.VLANPresent == 0) {
		w.fail(unsupported(t, "a priority needs a tag and takes no mask"))
	}
	switch mask := t.Mask.Lo & vid; mask {
	case 0:
	case vid:
		w.exact(codeTable[of.VLANVID].modern, 2, of.U64(t.Value.Lo&vid))
	default:
		w.masked(codeTable[of.VLANVID].modern, 2, of.U64(t.Value.Lo&vid), of.U64(mask))
	}
	if t.Mask.Lo&pcp != 0 {
		w.exact(codeTable[of.VLANPCP].modern, 1, of.U64(t.Value.Lo>>13))
	}
}

// match is the next match with its padding.
func (r *reader) match() (m of.Match) {
	kind, length := r.u16(), int(r.u16())
	if r.err == nil && (kind != matchOXM || length < 4) {
		r.fail(foreign("a match of type %d and %d bytes", kind, length))
	}
	terms := r.section(length - 4)
	r.skip((8 - length%8) % 8)
	for len(terms.b) > 0 {
		m = terms.term(m)
	}
	r.join(terms)
	return m
}

// term adds the next condition to m.
func (r *reader) term(m of.Match) of.Match {
	c, v, mask, n := r.oxm()
	if c == codeInPort && n == 4 && mask == of.Ones(32) {
		p, err := narrowPort(uint32(v.Lo))
		if err != nil {
			r.fail(err)
		}
		return m.With(of.InPort, of.U64(uint64(p)))
	}
	f := r.field(c, n)
	if f == of.VLANVID {
		f = of.VLANTCI
		mask = mask.And(of.Ones(13))
	}
	mask = mask.And(f.Mask())
	if v.BitLen() > f.Width() {
		r.fail(foreign("%v: the value is wider than the field", f))
	}
	if r.err != nil {
		return m
	}
	return m.WithMask(f, v, mask)
}
