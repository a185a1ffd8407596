package openflow

import "fmt"

// checkSubfield refuses bits that the field does not have.
func checkSubfield(a fmt.Stringer, s Subfield) error {
	switch {
	case s.Field == FieldNone || s.Field >= numFields:
		return invalid(a, "unknown field", "")
	case s.Width == 0 || int(s.Offset)+int(s.Width) > s.Field.Width():
		return invalid(a, fmt.Sprintf("%v has only %d bits", s.Field, s.Field.Width()), fmt.Sprintf("the last is %d", s.Field.Width()-1))
	}
	return nil
}

// checkPrereq refuses a field that a frame of the match may lack.
func (c *checker) checkPrereq(a fmt.Stringer, f Field) error {
	p := f.info().prereq
	if p == prereqVLAN && c.tagged[0] || p != prereqVLAN && p.met(c.match) {
		return nil
	}
	return lacks(a, fmt.Sprintf("%v %s", f, prereqNeeds[p].problem), prereqNeeds[p].remedy+" to the match")
}

// checkSource checks a subfield that is read.
func (c *checker) checkSource(a fmt.Stringer, s Subfield) error {
	if err := checkSubfield(a, s); err != nil {
		return err
	}
	return c.checkPrereq(a, s.Field)
}

// checkTarget checks a subfield that is written.
func (c *checker) checkTarget(a fmt.Stringer, s Subfield) error {
	if err := checkSubfield(a, s); err != nil {
		return err
	}
	if err := c.checkWritable(a, s.Field); err != nil {
		return err
	}
	return c.checkPrereq(a, s.Field)
}

func (c *checker) checkWritable(a fmt.Stringer, f Field) error {
	switch access := f.info().access; {
	case access == readOnly:
		return invalid(a, fmt.Sprintf("%v is read-only", f), "")
	case access == ctExecOnly && c.scope != inCT:
		return invalid(a, fmt.Sprintf("%v can be changed only inside ct", f), "write ct(commit,exec(...))")
	}
	return nil
}

// checkSetField checks self, which is a.
func (c *checker) checkSetField(a SetField, self Action) error {
	width := a.Field.Width()
	switch {
	case width == 0:
		return invalid(self, "unknown field", "")
	case a.Value.Or(a.Mask).BitLen() > width:
		return invalid(self, fmt.Sprintf("value does not fit in %d bits", width), "")
	case a.Mask.IsZero():
		return invalid(self, "changes nothing", "remove it")
	case a.Value.AndNot(a.Mask) != (Value{}):
		return invalid(self, "value has bits outside its mask", "clear them")
	case a.Field.info().style == styleIPv6 && !isReadableMask(a.Mask):
		return invalid(self, unreadableMask, "use a prefix, or set part of the field with load")
	}
	if _, ok := a.subfield(); !ok && a.Field.info().mask == maskNone {
		return invalid(self, fmt.Sprintf("%v takes no such mask", a.Field), "set all of it, or one run of bits with load")
	}
	if err := c.checkWritable(self, a.Field); err != nil {
		return err
	}
	if a.Field == VLANVID && !c.tagged[0] {
		return lacks(self, "vlan_vid needs a VLAN tag", "push one with push_vlan:0x8100, or write mod_vlan_vid")
	}
	if err := c.checkPrereq(self, a.Field); err != nil {
		return err
	}
	if a.Field == VLANTCI {
		c.tagged[0] = a.Value.Lo&VLANPresent != 0
	}
	return nil
}

// checkMove checks self, which is a.
func (c *checker) checkMove(a Move, self Action) error {
	if a.Src.Width != a.Dst.Width {
		return invalid(self, fmt.Sprintf("source is %d bits wide, destination is %d", a.Src.Width, a.Dst.Width), "make them the same")
	}
	if err := c.checkSource(self, a.Src); err != nil {
		return err
	}
	return c.checkTarget(self, a.Dst)
}

// maxLinks is the most links that a Multipath chooses from.
const maxLinks = 1 << 16

func (c *checker) checkMultipath(a Multipath) error {
	switch {
	case int(a.Fields) >= len(hashFieldNames) || int(a.Algorithm) >= len(hashAlgorithmNames):
		return invalid(a, "unknown hash", "")
	case a.Links < 1 || a.Links > maxLinks:
		return invalid(a, "number of links is out of range", "1 to 65536")
	case a.Dst.Width < 16 && a.Links > 1<<a.Dst.Width:
		return invalid(a, fmt.Sprintf("%d links do not fit in %d bits", a.Links, a.Dst.Width), "use a wider destination")
	}
	if err := checkNarrow(a, a.Dst); err != nil {
		return err
	}
	return c.checkTarget(a, a.Dst)
}

// checkNarrow refuses what OpenFlow has no room for: some actions give the width six bits, and
// OVS then takes other bits of the field.
func checkNarrow(a Action, s Subfield) error {
	if s.Width > 64 {
		return invalid(a, "more than 64 bits cannot be expressed here", "take a part of the field")
	}
	return nil
}
