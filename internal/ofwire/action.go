package ofwire

import (
	"fmt"

	of "hpnn/datapath/openflow"
)

// Types of actions (section 7.2.6; those that Open vSwitch sends in OpenFlow 1.5).
const (
	actOutput       = 0
	actPushVLAN     = 17
	actPopVLAN      = 18
	actSetQueue     = 21
	actGroup        = 22
	actDecTTL       = 24
	actSetField     = 25
	actCopyField    = 28
	actMeter        = 29
	actExperimenter = 0xffff
)

// actions appends a list of actions.
func (w *writer) actions(list []of.Action) {
	for _, a := range list {
		w.action(a)
	}
}

// action appends one action; what is not of the standard is an extension.
func (w *writer) action(a of.Action) {
	switch a := a.(type) {
	case of.Output:
		w.output(widePort(a.Port), 0)
	case of.PushVLAN:
		start := w.begin(actPushVLAN)
		w.u16(a.EthType)
		w.finish(start)
	case of.PopVLAN:
		w.number(actPopVLAN, 0)
	case of.SetQueue:
		w.number(actSetQueue, a.ID)
	case of.Group:
		w.number(actGroup, a.ID)
	case of.Meter:
		w.number(actMeter, a.ID)
	case of.SetField:
		w.setField(a)
	case of.Move:
		w.move(a)
	case of.DecTTL:
		if len(a.Controllers) > 0 {
			w.extension(a)
		} else {
			w.number(actDecTTL, 0)
		}
	case of.Controller:
		if a.Reason == of.ReasonAction && a.ID == 0 {
			w.output(widePort(of.PortController), a.MaxLen)
		} else {
			w.extension(a)
		}
	default:
		w.extension(a)
	}
}

func (w *writer) output(port uint32, maxLen uint16) {
	start := w.begin(actOutput)
	w.u32(port)
	w.u16(maxLen)
	w.finish(start)
}

// number appends an action that is a type and four bytes.
func (w *writer) number(kind uint16, v uint32) {
	start := w.begin(kind)
	w.u32(v)
	w.finish(start)
}

func (w *writer) setField(a of.SetField) {
	start := w.begin(actSetField)
	switch {
	case !known(a.Field):
		w.fail(unsupported(a, "unknown field"))
	case a.Field != of.VLANVID:
		w.oxm(a.Field, a.Value, a.Mask)
	case a.Mask == a.Field.Mask(): // the bit says that there is a tag
		w.exact(codeTable[a.Field].modern, 2, a.Value.Or(of.U64(of.VLANPresent)))
	default:
		w.masked(codeTable[a.Field].modern, 2, a.Value.Or(of.U64(of.VLANPresent)), a.Mask.Or(of.U64(of.VLANPresent)))
	}
	w.finish(start)
}

func (w *writer) move(a of.Move) {
	start := w.begin(actCopyField)
	w.u16(uint16(a.Dst.Width))
	w.u16(uint16(a.Src.Offset))
	w.u16(uint16(a.Dst.Offset))
	w.u16(0)
	for _, s := range []of.Subfield{a.Src, a.Dst} {
		if !known(s.Field) {
			w.fail(unsupported(a, "unknown field"))
			return
		}
		w.u32(header(codeTable[s.Field].modern, size(s.Field), false))
	}
	if a.Src.Width != a.Dst.Width {
		w.fail(unsupported(a, "the fields differ in width"))
	}
	w.finish(start)
}

// name appends the old header of a field.
func (w *writer) name(a fmt.Stringer, f of.Field) {
	if !known(f) {
		w.fail(unsupported(a, "unknown field"))
		return
	}
	w.u32(header(codeTable[f].old, size(f), false))
}

// bits appends offset and width of a subfield in 16 bits.
func (w *writer) bits(a fmt.Stringer, s of.Subfield) {
	if s.Width < 1 || s.Width > 64 {
		w.fail(unsupported(a, "a subfield here has 1 to 64 bits"))
		return
	}
	w.u16(uint16(s.Offset)<<6 | uint16(s.Width-1))
}
