package openflow

import "fmt"

// vlan reads the three ways to speak of a tag. Bit 0x1000 of vlan_vid and vlan_tci says that
// there is one; dl_vlan says so by itself, but for 0xffff, which says that there is none.
func (p *matchParser) vlan(it item, value text) error {
	if value.s == "*" {
		return p.put(it, VLANTCI, Value{}, Value{}, Ones(16))
	}
	if it.key.s == "dl_vlan" {
		return p.dlVLAN(it, value)
	}
	width := 16
	if it.key.s == "vlan_vid" {
		width = 13
	}
	v, mask, err := value.masked(integerOf(width), integerOf(width), Ones(width))
	if err != nil {
		return err
	}
	if v.AndNot(mask) != (Value{}) {
		clean := Term{VLANTCI, v.And(mask), mask}
		return value.fault("value has bits outside its mask", "write "+string(clean.appendValue(nil)))
	}
	if mask.Lo&VLANPresent != 0 && v.Lo&VLANPresent == 0 && v.Lo != 0 {
		return it.all.fault("without bit 0x1000 it would match untagged frames only",
			fmt.Sprintf("write %s=0x%x", it.key.s, v.Lo|VLANPresent))
	}
	return p.put(it, VLANTCI, v, mask, Ones(width))
}

func (p *matchParser) dlVLAN(it item, value text) error {
	vid, err := value.uint(16)
	switch {
	case err != nil:
		return err
	case vid == 0xffff:
		return p.put(it, VLANTCI, Value{}, Ones(16), Ones(16))
	case vid > 0xfff:
		return value.fault("VLAN id does not fit in 12 bits", "at most 4095, or 0xffff for untagged")
	}
	return p.put(it, VLANVID, U64(vid), Ones(12), Ones(12))
}
