package ofwire

import of "hpnn/datapath/openflow"

// actions is a list of actions up to the end.
func (r *reader) actions() (list []of.Action) {
	for len(r.b) > 0 {
		list = append(list, r.action())
	}
	return list
}

// action is the next action.
func (r *reader) action() of.Action {
	kind, body := r.part()
	a := body.actionOf(kind)
	body.rest()
	r.join(body)
	return a
}

// rest must be padding.
func (r *reader) rest() {
	for _, b := range r.b {
		if b != 0 {
			r.fail(foreign("%d bytes more than are understood", len(r.b)))
			return
		}
	}
}

func (r *reader) actionOf(kind uint16) of.Action {
	switch kind {
	case actOutput:
		port, err := narrowPort(r.u32())
		if err != nil {
			r.fail(err)
		}
		maxLen := r.u16()
		if port == of.PortController {
			return of.Controller{MaxLen: maxLen, Reason: of.ReasonAction}
		}
		return of.Output{Port: port}
	case actPushVLAN:
		return of.PushVLAN{EthType: r.u16()}
	case actPopVLAN:
		return of.PopVLAN{}
	case actSetQueue:
		return of.SetQueue{ID: r.u32()}
	case actGroup:
		return of.Group{ID: r.u32()}
	case actMeter:
		return of.Meter{ID: r.u32()}
	case actDecTTL:
		return of.DecTTL{}
	case actSetField:
		return r.setField()
	case actCopyField:
		return r.move()
	case actExperimenter:
		if v := r.u32(); r.err == nil && v != vendor {
			r.fail(foreign("an action of vendor %#x is not supported", v))
		}
		return r.extension(r.u16())
	}
	r.fail(foreign("action %d is not supported", kind))
	return of.Exit{}
}

func (r *reader) setField() of.Action {
	c, v, mask, n := r.oxm()
	f := r.field(c, n)
	if mask == of.Ones(8*n) {
		mask = f.Mask()
	}
	if f == of.VLANVID {
		if r.err == nil && v.Lo&of.VLANPresent == 0 {
			r.fail(foreign("a VLAN id without the bit that says there is a tag"))
		}
		v, mask = v.And(of.Ones(12)), mask.And(of.Ones(12))
	}
	if v.Or(mask).BitLen() > f.Width() || v.AndNot(mask) != (of.Value{}) {
		r.fail(foreign("set_field of %v: the value does not fit", f))
	}
	return of.SetField{Field: f, Value: v, Mask: mask}
}

func (r *reader) move() of.Action {
	width, from, to := r.u16(), r.u16(), r.u16()
	r.skip(2)
	src := r.subfield(r.name(), from, width)
	return of.Move{Src: src, Dst: r.subfield(r.name(), to, width)}
}

// subfield is some bits of a field, which must have them.
func (r *reader) subfield(f of.Field, offset, width uint16) of.Subfield {
	if width == 0 || int(offset)+int(width) > f.Width() {
		r.fail(foreign("bits %d and %d more of %v", offset, width, f))
		return of.Subfield{}
	}
	return of.Subfield{Field: f, Offset: uint8(offset), Width: uint8(width)}
}

// bits is offset and width in 16 bits.
func (r *reader) bits(f of.Field) of.Subfield {
	v := r.u16()
	return r.subfield(f, v>>6, v&63+1)
}
