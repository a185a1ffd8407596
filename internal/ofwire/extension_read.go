package ofwire

import of "hpnn/datapath/openflow"

// extension is what follows the subtype of one of Open vSwitch's actions.
func (r *reader) extension(subtype uint16) of.Action {
	switch subtype {
	case nxExit:
		return of.Exit{}
	case nxPopQueue:
		return of.PopQueue{}
	case nxCTClear:
		return of.CTClear{}
	case nxResubmit:
		return of.Resubmit{InPort: of.PortNo(r.u16()), Table: of.CurrentTable}
	case nxResubmitTable:
		return of.Resubmit{InPort: of.PortNo(r.u16()), Table: of.TableID(r.u8())}
	case nxOutputReg:
		v := r.u16()
		src := r.subfield(r.name(), v>>6, v&63+1)
		r.skip(2) // the most bytes for a controller
		return of.OutputField{Src: src}
	case nxMultipath:
		return r.multipath()
	case nxPush:
		return of.Push{Src: r.stack()}
	case nxPop:
		return of.Pop{Dst: r.stack()}
	case nxCT:
		return r.ct()
	case nxLearn, nxLearn2:
		return r.learn(subtype == nxLearn2)
	}
	return r.extension2(subtype)
}

func (r *reader) extension2(subtype uint16) of.Action {
	switch subtype {
	case nxController:
		a := of.Controller{MaxLen: r.u16(), ID: r.u16(), Reason: of.PacketInReason(r.u8())}
		if a.Reason > of.ReasonInvalidTTL {
			r.fail(foreign("reason %d of a packet-in", a.Reason))
		}
		return a
	case nxDecTTL:
		a := of.DecTTL{Controllers: make([]uint16, min(int(r.u16()), len(r.b)))}
		r.skip(4)
		for i := range a.Controllers {
			a.Controllers[i] = r.u16()
		}
		return a
	case nxClone:
		r.skip(6)
		return of.Clone{Actions: r.actions()}
	case nxCheckLarger:
		length, offset := r.u16(), r.u16()
		return of.CheckPacketLarger{Length: length, Dst: r.subfield(r.name(), offset, 1)}
	case nxFinTimeout:
		return of.FinTimeout{Idle: r.u16(), Hard: r.u16()}
	case nxConjunction:
		return of.Conjunction{Clause: r.u8() + 1, Clauses: r.u8(), ID: r.u32()}
	case nxNote:
		return of.Note{Data: string(r.take(len(r.b)))}
	}
	r.fail(foreign("action %d of Open vSwitch is not supported", subtype))
	return of.Exit{}
}

func (r *reader) multipath() of.Action {
	a := of.Multipath{Fields: of.HashFields(r.u16()), Basis: r.u16()}
	r.skip(2)
	a.Algorithm = of.HashAlgorithm(r.u16())
	a.Links = uint32(r.u16()) + 1
	a.Arg = r.u32()
	r.skip(2)
	v := r.u16()
	a.Dst = r.subfield(r.name(), v>>6, v&63+1)
	if a.Fields > of.HashSymmetricL3 || a.Algorithm > of.IterHash {
		r.fail(foreign("hash %d or algorithm %d of multipath", a.Fields, a.Algorithm))
	}
	return a
}

func (r *reader) stack() of.Subfield {
	offset := r.u16()
	f := r.name()
	return r.subfield(f, offset, r.u16())
}
