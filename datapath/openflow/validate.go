package openflow

import "fmt"

// Validate reports, as an *InvalidError, why the flow cannot be put into a switch: conditions
// and actions without their prerequisites, values that do not fit, instructions out of order.
// What passes here is accepted by Open vSwitch, given that the groups and meters exist.
func (f Flow) Validate() error {
	if err := f.validateCondition(); err != nil {
		return err
	}
	c := newChecker(f.Match, int(f.Table))
	for _, a := range f.Actions {
		if err := c.check(a); err != nil {
			return err
		}
	}
	return nil
}

// ValidateLike is Validate where o is known to be valid: if the flows share one list of actions, in one
// table and under conditions that promise the same headers, the list is not looked at again.
func (f *Flow) ValidateLike(o *Flow) error {
	if f.sharesActions(o) && f.Table == o.Table && f.Match.sameHeaders(o.Match) {
		return f.validateCondition()
	}
	return f.Validate()
}

// sharesActions reports whether the flows have not just equal lists, but the same.
func (f *Flow) sharesActions(o *Flow) bool {
	n := len(f.Actions)
	return n == len(o.Actions) && (n == 0 || &f.Actions[0] == &o.Actions[0])
}

// validateCondition is Validate but for the actions.
func (f *Flow) validateCondition() error {
	if f.Table > maxTable {
		return &InvalidError{Token: fmt.Sprintf("table=%d", f.Table), Problem: "no such table", Remedy: "0 to 253"}
	}
	if f.Cookie == reservedCookie {
		return &InvalidError{Token: "cookie=0xffffffffffffffff", Problem: reservedCookieProblem, Remedy: "use another"}
	}
	return f.Match.Validate()
}

// reservedCookie, in an add that replaces a flow, leaves the old cookie in place.
const (
	reservedCookie        = ^uint64(0)
	reservedCookieProblem = "cookie is reserved: OVS takes it for no change of the cookie"
)

// maxTable is the last table that takes flows; OVS keeps 254 for itself.
const maxTable = 253

// Validate reports, as an *InvalidError, why no switch takes the match: a condition without
// its prerequisite, a mask that its field does not take, or a value that no frame has.
func (m Match) Validate() error {
	for i := range m.terms {
		t := &m.terms[i]
		if problem, remedy := t.check(m); problem != "" {
			return &InvalidError{Token: t.String(), Problem: problem, Remedy: remedy, field: t.Field}
		}
	}
	return nil
}

// check says what is wrong with a term of m, or nothing.
func (t *Term) check(m Match) (problem, remedy string) {
	i := t.Field.info()
	switch {
	case i.width == 0 || t.Field >= VLANVID:
		return "is not a field of a match", ""
	case t.Value.Or(t.Mask).BitLen() > int(i.width):
		return fmt.Sprintf("is wider than the field's %d bits", i.width), ""
	case t.Value.AndNot(t.Mask) != (Value{}):
		return "has bits outside its mask", "clear them"
	case i.mask == maskNone && t.Mask != t.Field.Mask():
		return i.name + " takes no mask", "match all of it"
	case i.style == styleIPv6 && !isReadableMask(t.Mask):
		return unreadableMask, "use a prefix, or a mask that starts with a letter or with zeros"
	case !i.prereq.met(m):
		if m.isLaterFragment() && i.prereq >= prereqTCP && i.prereq <= prereqNAOnly {
			return "later fragments have no such header", "drop nw_frag=later"
		}
		return prereqNeeds[i.prereq].problem, prereqNeeds[i.prereq].remedy
	}
	return t.checkValue(m)
}

const unreadableMask = "ovs-ofctl takes such a mask for a prefix length"

// checkValue finds values that OVS cannot keep or that no frame has.
func (t *Term) checkValue(m Match) (problem, remedy string) {
	switch t.Field {
	case CTNwProto:
		if t.Value.IsZero() {
			return "OVS drops protocol 0 of a connection", "match another"
		}
	case CTTpSrc, CTTpDst:
		if m.Get(CTNwProto).Mask.IsZero() {
			return "OVS drops it without ct_nw_proto", "add ct_nw_proto=6 or ct_nw_proto=17"
		}
	case VLANTCI:
		return t.checkVLAN()
	case EthType:
		if t.Value.Lo == 0x8847 || t.Value.Lo == 0x8848 {
			return "MPLS is not supported", ""
		}
	case ARPOp:
		if t.Value.Lo > 0xff {
			return "OVS keeps only 8 bits of arp_op", "at most 255"
		}
	case CTState:
		if t.Value.Lo > 0xff {
			return "unknown connection state bits", "at most 0xff"
		}
	case IPFrag:
		if t.Value.Lo == 2 {
			return "no frame is a later fragment without being a fragment", "write later"
		}
	case InPort:
		switch p := PortNo(t.Value.Lo); {
		case p < PortMax, p == PortLocal, p == PortController, p == PortNone:
		default:
			return "no frame comes from such a port", "write the number of a port, LOCAL, CONTROLLER or ANY"
		}
	}
	return "", ""
}

// checkVLAN refuses what OpenFlow 1.5 cannot carry: OVS drops or widens such conditions.
func (t *Term) checkVLAN() (problem, remedy string) {
	pcp, present := t.Mask.Lo&0xe000, t.Mask.Lo&t.Value.Lo&VLANPresent != 0
	switch {
	case t.Mask.Lo&VLANPresent != 0 && !present && t.Value.Lo != 0:
		return "no untagged frame has a VLAN id or priority", "set bit 0x1000 for a tagged frame"
	case pcp != 0 && !present:
		return "a VLAN priority needs a tag", "set bit 0x1000 in value and mask"
	case pcp != 0 && pcp != 0xe000:
		return "a VLAN priority takes no mask", "match all of 0xe000 or none"
	}
	return "", ""
}
