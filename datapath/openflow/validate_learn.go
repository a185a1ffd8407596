package openflow

import "fmt"

func (c *checker) checkLearn(a Learn) error {
	if a.Table > maxTable {
		return invalid(a, "no such table", "0 to 253")
	}
	if a.ResultDst != (Subfield{}) {
		if a.ResultDst.Width != 1 {
			return invalid(a, "result_dst must be one bit", "write NXM_NX_REG0[0]")
		}
		if err := c.checkTarget(a, a.ResultDst); err != nil {
			return err
		}
	}
	learned := newLearnChecker(c)
	for _, s := range a.Specs {
		if err := learned.check(s); err != nil {
			return err
		}
	}
	return nil
}

// learnChecker follows the specs of a learn: what the learned flow matches grows with each.
type learnChecker struct {
	outer   *checker
	learned checker // its match is the constants so far
}

func newLearnChecker(outer *checker) *learnChecker { return &learnChecker{outer: outer} }

func (l *learnChecker) check(s LearnSpec) error {
	switch s := s.(type) {
	case LearnMatchField:
		if err := l.checkField(s, s.Src, s.Dst); err != nil {
			return err
		}
		return l.checkCondition(s, s.Dst)
	case LearnLoadField:
		if err := l.checkField(s, s.Src, s.Dst); err != nil {
			return err
		}
		return l.checkLoad(s, s.Dst)
	case LearnMatchValue:
		return l.checkConstant(s)
	case LearnLoadValue:
		if s.Value.BitLen() > int(s.Dst.Width) {
			return invalid(s, fmt.Sprintf("value does not fit in %d bits", s.Dst.Width), "")
		}
		return l.checkLoad(s, s.Dst)
	case LearnOutput:
		return l.outer.checkSource(s, s.Src)
	}
	return nil
}

// checkField checks what is copied from the learning frame.
func (l *learnChecker) checkField(s fmt.Stringer, src, dst Subfield) error {
	if src.Width != dst.Width {
		return invalid(s, fmt.Sprintf("source is %d bits wide, destination is %d", src.Width, dst.Width), "make them the same")
	}
	return l.outer.checkSource(s, src)
}

// checkCondition checks a field that the learned flow matches.
func (l *learnChecker) checkCondition(s fmt.Stringer, dst Subfield) error {
	if err := checkSubfield(s, dst); err != nil {
		return err
	}
	switch {
	case dst.Field == VLANVID || dst.Field == VLANPCP:
		return invalid(s, "does not match the tag's presence", "write NXM_OF_VLAN_TCI[0..12]")
	case !dst.IsWhole() && dst.Field.info().mask == maskNone:
		return invalid(s, "OVS leaves out a condition on a part of "+dst.Field.info().name, "match all of it")
	}
	return l.checkPrereq(s, dst.Field)
}

// checkLoad checks a field that the learned flow writes.
func (l *learnChecker) checkLoad(s fmt.Stringer, dst Subfield) error {
	if err := checkSubfield(s, dst); err != nil {
		return err
	}
	if dst.Field == VLANVID {
		return invalid(s, "OVS refuses the value without its bit 0x1000", "write NXM_OF_VLAN_TCI[0..12]")
	}
	if err := l.learned.checkWritable(s, dst.Field); err != nil {
		return err
	}
	return l.checkPrereq(s, dst.Field)
}

func (l *learnChecker) checkPrereq(s fmt.Stringer, f Field) error {
	p := f.info().prereq
	if p.met(l.learned.match) {
		return nil
	}
	return invalid(s, fmt.Sprintf("%v %s in the learned flow", f, prereqNeeds[p].problem), "put such a condition, as "+p.learnExample()+", before it")
}

// learnExample is how a learn meets p.
func (p prereq) learnExample() string {
	switch p {
	case prereqIPv6, prereqCTv6:
		return "eth_type=0x86dd"
	case prereqARP:
		return "eth_type=0x806"
	case prereqTCP:
		return "eth_type=0x800,nw_proto=6"
	case prereqUDP:
		return "eth_type=0x800,nw_proto=17"
	case prereqSCTP:
		return "eth_type=0x800,nw_proto=132"
	case prereqICMPv4:
		return "eth_type=0x800,nw_proto=1"
	case prereqICMPv6, prereqNS, prereqNSOnly, prereqNAOnly:
		return "eth_type=0x86dd,nw_proto=58"
	case prereqVLAN:
		return "NXM_OF_VLAN_TCI[12]=1"
	}
	return "eth_type=0x800"
}

// checkConstant checks a condition with a constant and adds it to what is known.
func (l *learnChecker) checkConstant(s LearnMatchValue) error {
	if err := checkSubfield(s, s.Dst); err != nil {
		return err
	}
	if s.Value.BitLen() > int(s.Dst.Width) {
		return invalid(s, fmt.Sprintf("value does not fit in %d bits", s.Dst.Width), "")
	}
	whole := s.Dst.IsWhole() && (s.Dst.Field == VLANVID || s.Dst.Field == VLANPCP)
	if err := l.checkPrereq(s, s.Dst.Field); err != nil {
		return err
	}
	if !whole {
		if err := l.checkCondition(s, s.Dst); err != nil {
			return err
		}
	}
	return l.add(s)
}

// add takes a constant into what the learned flow is known to match.
func (l *learnChecker) add(s LearnMatchValue) error {
	v, mask := s.Value.Shl(int(s.Dst.Offset)), s.Dst.Mask()
	for t := range spread(s.Dst.Field, v, mask) {
		old := l.learned.match.Get(t.Field)
		if both := old.Mask.And(t.Mask); old.Value.And(both) != t.Value.And(both) {
			return invalid(s, "contradicts "+old.String(), "keep one")
		}
	}
	l.learned.match = l.learned.match.WithMask(s.Dst.Field, v, mask)
	return nil
}
