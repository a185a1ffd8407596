package ofwire

import of "hpnn/datapath/openflow"

// vendor is Nicira's number, which Open vSwitch's extensions have (nicira-ext.h).
const vendor = 0x00002320

// Subtypes of extension actions (ofp-actions.c, NXAST_*).
const (
	nxResubmit      = 1 // in the same table; not sent
	nxPopQueue      = 5
	nxNote          = 8
	nxMultipath     = 10
	nxResubmitTable = 14
	nxOutputReg     = 15
	nxLearn         = 16
	nxExit          = 17
	nxFinTimeout    = 19
	nxController    = 20
	nxDecTTL        = 21
	nxPush          = 27
	nxPop           = 28
	nxConjunction   = 34
	nxCT            = 35
	nxNAT           = 36
	nxClone         = 42
	nxCTClear       = 43
	nxLearn2        = 45
	nxCheckLarger   = 49
)

func (w *writer) beginExtension(subtype uint16) (start int) {
	start = w.begin(actExperimenter)
	w.u32(vendor)
	w.u16(subtype)
	return start
}

// plain appends an extension without arguments.
func (w *writer) plain(subtype uint16) { w.finish(w.beginExtension(subtype)) }

func (w *writer) extension(a of.Action) {
	switch a := a.(type) {
	case of.Exit:
		w.plain(nxExit)
	case of.PopQueue:
		w.plain(nxPopQueue)
	case of.CTClear:
		w.plain(nxCTClear)
	case of.Resubmit:
		w.resubmit(a)
	case of.OutputField:
		start := w.beginExtension(nxOutputReg)
		w.bits(a, a.Src)
		w.name(a, a.Src.Field)
		w.u16(0xffff)
		w.finish(start)
	case of.Multipath:
		w.multipath(a)
	case of.Push:
		w.stack(nxPush, a, a.Src)
	case of.Pop:
		w.stack(nxPop, a, a.Dst)
	case of.CT:
		w.ct(a)
	case of.Learn:
		w.learn(a)
	default:
		w.extension2(a)
	}
}

func (w *writer) extension2(a of.Action) {
	var start int
	switch a := a.(type) {
	case of.Controller:
		start = w.beginExtension(nxController)
		w.u16(a.MaxLen)
		w.u16(a.ID)
		w.u8(uint8(a.Reason))
	case of.DecTTL:
		start = w.beginExtension(nxDecTTL)
		w.u16(uint16(len(a.Controllers)))
		w.zero(4)
		for _, id := range a.Controllers {
			w.u16(id)
		}
	case of.Clone:
		start = w.beginExtension(nxClone)
		w.zero(6)
		w.actions(a.Actions)
	case of.CheckPacketLarger:
		start = w.beginExtension(nxCheckLarger)
		w.u16(a.Length)
		w.u16(uint16(a.Dst.Offset))
		w.name(a, a.Dst.Field)
		if a.Dst.Width != 1 {
			w.fail(unsupported(a, "the destination is one bit"))
		}
	case of.FinTimeout:
		start = w.beginExtension(nxFinTimeout)
		w.u16(a.Idle)
		w.u16(a.Hard)
	case of.Conjunction:
		start = w.beginExtension(nxConjunction)
		w.u8(a.Clause - 1)
		w.u8(a.Clauses)
		w.u32(a.ID)
	case of.Note:
		start = w.beginExtension(nxNote)
		w.b = append(w.b, a.Data...)
		if len(a.Data)%8 != 6 {
			w.fail(unsupported(a, "the length is not 6, 14, 22 and so on"))
		}
	default:
		w.fail(unsupported(a, "cannot stand here"))
		return
	}
	w.finish(start)
}

func (w *writer) resubmit(a of.Resubmit) {
	start := w.beginExtension(nxResubmitTable)
	w.u16(uint16(a.InPort))
	w.u8(uint8(a.Table))
	w.finish(start)
}

func (w *writer) multipath(a of.Multipath) {
	if a.Fields > of.HashSymmetricL3 || a.Algorithm > of.IterHash || a.Links < 1 || a.Links > 1<<16 {
		w.fail(unsupported(a, "unknown hash or number of links"))
	}
	start := w.beginExtension(nxMultipath)
	w.u16(uint16(a.Fields))
	w.u16(a.Basis)
	w.u16(0)
	w.u16(uint16(a.Algorithm))
	w.u16(uint16(a.Links - 1))
	w.u32(a.Arg)
	w.u16(0)
	w.bits(a, a.Dst)
	w.name(a, a.Dst.Field)
	w.finish(start)
}

func (w *writer) stack(subtype uint16, a of.Action, s of.Subfield) {
	start := w.beginExtension(subtype)
	w.u16(uint16(s.Offset))
	w.name(a, s.Field)
	w.u16(uint16(s.Width))
	w.finish(start)
}
