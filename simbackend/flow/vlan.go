package flow

import of "hpnn/datapath/openflow"

const vidBits, pcpBits = 0x0fff, 0xe000

// partOfTag reports whether writing a field may put a tag on the frame or take it off.
func partOfTag(f of.Field) bool { return f == of.VLANTCI || f == of.VLANVID || f == of.VLANPCP }

// tagBits is the part of the tag that a write to a VLAN field changes. vlan_vid and vlan_pcp
// always say that a tag is there; vlan_tci says only what it says.
func tagBits(a of.SetField) (value, mask uint64) {
	switch a.Field {
	case of.VLANVID:
		return a.Value.Lo&vidBits | of.VLANPresent, a.Mask.Lo&vidBits | of.VLANPresent
	case of.VLANPCP:
		return a.Value.Lo<<13&pcpBits | of.VLANPresent, a.Mask.Lo<<13&pcpBits | of.VLANPresent
	}
	return a.Value.Lo & 0xffff, a.Mask.Lo & 0xffff
}

// fixTPID gives an outer tag that was not there the type 0x8100. A tag that a write to vlan_tci
// has taken off leaves its type behind, for the next one.
func (k *Key) fixTPID() {
	if k[wordTags]>>shiftOuterTPID == 0 && k.tci() != 0 {
		k[wordTags] |= of.EthTypeVLAN << shiftOuterTPID
	}
}

func (k *Key) setTCI(tci uint16) {
	k[wordL2] = k[wordL2]&^(0xffff<<shiftTCI) | uint64(tci)<<shiftTCI
}

// SetVLANVID is mod_vlan_vid: the tag's VLAN id becomes vid, and an untagged frame gets a tag.
func (k *Key) SetVLANVID(vid uint16) {
	k.setTCI(k.tci()&^vidBits | vid&vidBits | of.VLANPresent)
	k.fixTPID()
}

// SetVLANPCP is mod_vlan_pcp: the tag's priority becomes pcp, and an untagged frame gets a tag.
func (k *Key) SetVLANPCP(pcp uint8) {
	k.setTCI(k.tci()&^pcpBits | uint16(pcp)<<13 | of.VLANPresent)
	k.fixTPID()
}

// tag is a VLAN tag: TPID<<16 | TCI, as on the wire but for the CFI bit.
type tag uint32

func (t tag) present() bool { return t&of.VLANPresent != 0 }

func (k *Key) outerTag() tag {
	return tag(k[wordTags]>>shiftOuterTPID)<<16 | tag(k.tci())
}

func (k *Key) innerTag() tag { return tag(k[wordTags]) }

func (k *Key) setTags(outer, inner tag) {
	k.setTCI(uint16(outer))
	k[wordTags] = uint64(outer>>16)<<shiftOuterTPID | uint64(inner)
}

// PushVLAN puts a tag of VLAN 0 and priority 0 in front of those there are. A Key knows two tags: the
// inner of two is lost, and a frame it was pushed onto in the same pass loses it too.
func (k *Key) PushVLAN(tpid uint16) {
	k.setTags(tag(tpid)<<16|of.VLANPresent, k.outerTag())
}

// PopVLAN takes off the outermost tag the switch knows of, if any.
func (k *Key) PopVLAN() {
	switch k.tagCount() {
	case 2:
		k.setTags(k.innerTag(), 0)
	case 1:
		k.setTags(0, k.innerTag())
	}
}

// tagCount is how many tags the switch would say the frame has: it stops at the first that
// is not present.
func (k *Key) tagCount() int {
	switch {
	case !k.outerTag().present():
		return 0
	case !k.innerTag().present():
		return 1
	}
	return 2
}
