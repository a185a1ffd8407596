package openflow

import "fmt"

// setField reads "set_field:VALUE[/MASK]->FIELD".
func (p *actionParser) setField(it item) (Action, error) {
	from, to, err := it.arrow()
	if err != nil {
		return nil, err
	}
	n, err := to.actionField()
	if err != nil {
		return nil, err
	}
	if meanings[to.s].header {
		return nil, to.fault("set_field takes no header names", "write "+n.field.String())
	}
	if n.field == VLANVID {
		return setVID(from)
	}
	v, mask, err := p.o.fieldValue(n, from)
	if err != nil {
		return nil, err
	}
	if n.field.info().mask == maskNone && mask != n.field.Mask() && !p.o.dump {
		return nil, from.fault(n.field.String()+" takes no mask", "write load:VALUE->"+n.field.Header()+"[FIRST..LAST]")
	}
	return SetField{n.field, v, mask}, nil
}

// setVID reads a VLAN id with the bit that says that there is a tag.
func setVID(t text) (Action, error) {
	v, mask, err := t.masked(integerOf(13), integerOf(13), Ones(13))
	switch {
	case err != nil:
		return nil, err
	case v.Lo&mask.Lo&VLANPresent == 0:
		return nil, t.fault("vlan_vid lacks the bit that says there is a tag", fmt.Sprintf("write %d", v.Lo|VLANPresent))
	case v.AndNot(mask) != Value{}:
		return nil, t.fault("value has bits outside its mask", "clear them")
	}
	return SetField{VLANVID, v.And(Ones(12)), mask.And(Ones(12))}, nil
}

// load reads "load:NUMBER->SUBFIELD".
func (p *actionParser) load(it item) (Action, error) {
	from, to, err := it.arrow()
	if err != nil {
		return nil, err
	}
	dst, err := to.subfield()
	if err != nil {
		return nil, err
	}
	if dst.Field == VLANVID {
		return nil, it.all.fault("OVS refuses to load vlan_vid without its bit 0x1000", "write set_field:VID+4096->vlan_vid")
	}
	v, err := from.integer(int(dst.Width))
	return Load(v, dst), err
}

func (p *actionParser) move(it item) (Action, error) {
	from, to, err := it.arrow()
	if err != nil {
		return nil, err
	}
	src, err := from.subfield()
	if err != nil {
		return nil, err
	}
	dst, err := to.subfield()
	return Move{src, dst}, err
}

func (p *actionParser) push(it item) (Action, error) {
	value, err := it.argument()
	if err != nil {
		return nil, err
	}
	s, err := value.subfield()
	return Push{s}, err
}

func (p *actionParser) pop(it item) (Action, error) {
	value, err := it.argument()
	if err != nil {
		return nil, err
	}
	s, err := value.subfield()
	return Pop{s}, err
}

// mod reads "mod_KEYWORD:VALUE" of a field.
func mod(f Field) actionReader {
	return func(p *actionParser, it item) (Action, error) {
		value, err := it.argument()
		if err != nil {
			return nil, err
		}
		v, mask, err := p.o.fieldValue(fieldName{field: f}, value)
		if err == nil && mask != f.Mask() {
			err = value.fault(it.key.s+" takes no mask", "use set_field")
		}
		return Set(f, v), err
	}
}

// modPort reads mod_tp_src and mod_tp_dst: the match says whose port is meant.
func modPort(ports ...Field) actionReader {
	return func(p *actionParser, it item) (Action, error) {
		for _, f := range ports {
			if f.info().prereq.met(p.c.match) {
				return mod(f)(p, it)
			}
		}
		return nil, it.all.fault("needs tcp, udp or sctp", "add one of them to the match")
	}
}

// modTOS reads the TOS byte, whose two low bits must be zero.
func (p *actionParser) modTOS(it item) (Action, error) {
	value, err := it.argument()
	if err != nil {
		return nil, err
	}
	v, _, err := p.o.number(fieldName{field: IPDSCP, tos: true}, value)
	return Set(IPDSCP, v), err
}

// modVLANVID is SetField where a tag is known to be there, and SetVLANVID otherwise.
func (p *actionParser) modVLANVID(it item) (Action, error) {
	value, err := it.argument()
	if err != nil {
		return nil, err
	}
	n, err := value.uint(12)
	if p.c.tagged[0] {
		return Set(VLANVID, U64(n)), err
	}
	return SetVLANVID{uint16(n)}, err
}

// modVLANPCP is SetField where a tag is known to be there, and SetVLANPCP otherwise.
func (p *actionParser) modVLANPCP(it item) (Action, error) {
	value, err := it.argument()
	if err != nil {
		return nil, err
	}
	n, err := value.uint(3)
	if p.c.tagged[0] {
		return Set(VLANPCP, U64(n)), err
	}
	return SetVLANPCP{uint8(n)}, err
}

func (p *actionParser) pushVLAN(it item) (Action, error) {
	value, err := it.argument()
	if err != nil {
		return nil, err
	}
	n, err := value.uint(16)
	return PushVLAN{uint16(n)}, err
}
