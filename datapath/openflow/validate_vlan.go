package openflow

// checkVLAN follows the tags: OpenFlow 1.5 takes no action on a tag that may not be there.
func (c *checker) checkVLAN(a Action) error {
	switch a := a.(type) {
	case SetVLANVID:
		if a.VID > 0xfff {
			return invalid(a, "VLAN id does not fit in 12 bits", "at most 4095")
		}
		return c.pushIfUntagged(a)
	case SetVLANPCP:
		if a.PCP > 7 {
			return invalid(a, "VLAN priority does not fit in 3 bits", "at most 7")
		}
		return c.pushIfUntagged(a)
	case PushVLAN:
		if a.EthType != EthTypeVLAN && a.EthType != EthTypeQinQ {
			return invalid(a, "not a VLAN Ethernet type", "write 0x8100 or 0x88a8")
		}
		if c.tagged[1] {
			return invalid(a, "OVS keeps no more than two tags", "pop one first")
		}
		c.tagged = [2]bool{true, c.tagged[0]}
	case PopVLAN:
		if !c.tagged[0] {
			return lacks(a, "needs a VLAN tag", "add dl_vlan=VID or vlan_tci=0x1000/0x1000 to the match")
		}
		c.tagged = [2]bool{c.tagged[1], false}
	}
	return nil
}

// pushIfUntagged wants an action that may push a tag only where there may be none. Elsewhere it
// is a SetField, and there is one value for one meaning.
func (c *checker) pushIfUntagged(a Action) error {
	if c.tagged[0] {
		return invalid(a, "there is a tag for sure", "set the field instead")
	}
	c.tagged[0] = true
	return nil
}
