package ofwire

import of "hpnn/datapath/openflow"

// Flags and specs of NXAST_LEARN and NXAST_LEARN2 (nicira-ext.h).
const (
	learnSendFlowRem   = 1
	learnDeleteLearned = 2
	learnWriteResult   = 4

	specWidth     = 0x07ff
	specLoad      = 0x0800
	specOutput    = 0x1000
	specDst       = 0x1800
	specImmediate = 0x2000
)

func (w *writer) learn(a of.Learn) {
	result := a.ResultDst != (of.Subfield{})
	subtype := uint16(nxLearn)
	if a.Limit != 0 || result {
		subtype = nxLearn2
	}
	start := w.beginExtension(subtype)
	w.u16(a.IdleTimeout)
	w.u16(a.HardTimeout)
	w.u16(a.Priority)
	w.u64(a.Cookie)
	w.u16(bit(a.SendFlowRem, learnSendFlowRem) | bit(a.DeleteLearned, learnDeleteLearned) | bit(result, learnWriteResult))
	w.u8(uint8(a.Table))
	w.u8(0)
	w.u16(a.FinIdleTimeout)
	w.u16(a.FinHardTimeout)
	if subtype == nxLearn2 {
		w.u32(a.Limit)
		w.u16(uint16(a.ResultDst.Offset))
		w.u16(0)
		if result {
			w.name(a, a.ResultDst.Field)
			if a.ResultDst.Width != 1 {
				w.fail(unsupported(a, "result_dst is one bit"))
			}
		}
	}
	for _, s := range a.Specs {
		w.spec(s)
	}
	w.finish(start)
}

func (w *writer) spec(s of.LearnSpec) {
	switch s := s.(type) {
	case of.LearnMatchField:
		w.u16(uint16(s.Dst.Width))
		w.part(s, s.Src)
		w.part(s, s.Dst)
		w.sameWidth(s, s.Src, s.Dst)
	case of.LearnMatchValue:
		v := s.Value
		if s.Dst == of.Whole(of.VLANVID) {
			v = v.Or(of.U64(of.VLANPresent))
		} else {
			w.fits(s, v, s.Dst)
		}
		w.u16(specImmediate | uint16(s.Dst.Width))
		w.value(v, immediate(s.Dst.Width))
		w.part(s, s.Dst)
	case of.LearnLoadField:
		w.u16(specLoad | uint16(s.Dst.Width))
		w.part(s, s.Src)
		w.part(s, s.Dst)
		w.sameWidth(s, s.Src, s.Dst)
	case of.LearnLoadValue:
		w.fits(s, s.Value, s.Dst)
		w.u16(specImmediate | specLoad | uint16(s.Dst.Width))
		w.value(s.Value, immediate(s.Dst.Width))
		w.part(s, s.Dst)
	case of.LearnOutput:
		w.u16(specOutput | uint16(s.Src.Width))
		w.part(s, s.Src)
	}
}

// immediate is the number of bytes of a constant: as many 16-bit words as hold it.
func immediate(width uint8) int { return 2 * min((int(width)+15)/16, 8) }

// part appends a field and where in it a subfield begins.
func (w *writer) part(s of.LearnSpec, f of.Subfield) {
	if f.Width == 0 || int(f.Offset)+int(f.Width) > f.Field.Width() {
		w.fail(unsupported(s, "the field has no such bits"))
	}
	w.name(s, f.Field)
	w.u16(uint16(f.Offset))
}

func (w *writer) sameWidth(s of.LearnSpec, a, b of.Subfield) {
	if a.Width != b.Width {
		w.fail(unsupported(s, "the fields differ in width"))
	}
}

func (w *writer) fits(s of.LearnSpec, v of.Value, f of.Subfield) {
	if v.BitLen() > int(f.Width) {
		w.fail(unsupported(s, "the value does not fit"))
	}
}

// learn is the rest of an NXAST_LEARN or NXAST_LEARN2.
func (r *reader) learn(more bool) of.Action {
	a := of.Learn{IdleTimeout: r.u16(), HardTimeout: r.u16(), Priority: r.u16(), Cookie: r.u64()}
	known := uint16(learnSendFlowRem | learnDeleteLearned)
	if more {
		known |= learnWriteResult
	}
	flags := r.known(r.u16(), known, "flags of learn")
	a.SendFlowRem, a.DeleteLearned = flags&learnSendFlowRem != 0, flags&learnDeleteLearned != 0
	a.Table = of.TableID(r.u8())
	r.skip(1)
	a.FinIdleTimeout, a.FinHardTimeout = r.u16(), r.u16()
	if more {
		a.Limit = r.u32()
		offset := r.u16()
		r.skip(2)
		if flags&learnWriteResult != 0 {
			a.ResultDst = r.subfield(r.name(), offset, 1)
		}
	}
	for len(r.b) >= 2 {
		h := r.u16()
		if h == 0 { // padding
			break
		}
		a.Specs = append(a.Specs, r.spec(h))
	}
	return a
}

func (r *reader) spec(h uint16) of.LearnSpec {
	width := h & specWidth
	value := func() of.Value {
		if width > 128 {
			r.fail(foreign("a constant of %d bits in learn", width))
			return of.Value{}
		}
		return r.value(immediate(uint8(width)))
	}
	part := func() of.Subfield {
		f := r.name()
		return r.subfield(f, r.u16(), width)
	}
	switch h &^ specWidth {
	case 0:
		src := part()
		return of.LearnMatchField{Src: src, Dst: part()}
	case specImmediate:
		v := value()
		return r.condition(v, part())
	case specLoad:
		src := part()
		return of.LearnLoadField{Src: src, Dst: part()}
	case specLoad | specImmediate:
		s := of.LearnLoadValue{Value: value(), Dst: part()}
		if s.Value.BitLen() > int(s.Dst.Width) {
			r.fail(foreign("a constant that does not fit in %v", s.Dst))
		}
		return s
	case specOutput:
		return of.LearnOutput{Src: part()}
	}
	r.fail(foreign("spec %#x of learn is not supported", h))
	return of.LearnOutput{}
}

// condition is the match on a constant. A VLAN id has a bit more, which says that there is a tag.
func (r *reader) condition(v of.Value, dst of.Subfield) of.LearnSpec {
	if dst == of.Whole(of.VLANVID) && v.Lo&of.VLANPresent != 0 {
		v.Lo &^= of.VLANPresent
	}
	if v.BitLen() > int(dst.Width) {
		r.fail(foreign("a constant that does not fit in %v", dst))
	}
	return of.LearnMatchValue{Dst: dst, Value: v}
}
