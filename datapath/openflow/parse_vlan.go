package openflow

import "fmt"

// vlan reads the three ways to speak of a tag. Bit 0x1000 of vlan_vid and vlan_tci says that
// there is one; dl_vlan says so by itself, but for 0xffff, which says that there is none.
func (p *matchParser) vlan(c *condition, value text) error {
	if value.s == "*" {
		return p.put(c, VLANTCI, Value{}, Value{}, Ones(16))
	}
	if c.key.s == "dl_vlan" {
		return p.dlVLAN(c, value)
	}
	width := 16
	if c.key.s == "vlan_vid" {
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
		return c.all.fault("without bit 0x1000 it would match untagged frames only",
			fmt.Sprintf("write %s=0x%x", c.key.s, v.Lo|VLANPresent))
	}
	return p.put(c, VLANTCI, v, mask, Ones(width))
}

func (p *matchParser) dlVLAN(c *condition, value text) error {
	vid, err := value.uint(16)
	switch {
	case err != nil:
		return err
	case vid == 0xffff:
		return p.put(c, VLANTCI, Value{}, Ones(16), Ones(16))
	case vid > 0xfff:
		return value.fault("VLAN id does not fit in 12 bits", "at most 4095, or 0xffff for untagged")
	}
	return p.put(c, VLANVID, U64(vid), Ones(12), Ones(12))
}
