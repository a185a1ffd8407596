package conformance

import (
	"slices"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
)

// Exclusion is something that cases leave out on purpose, because OVS 3.1.0 is wrong there, or undefined, or the
// question makes no sense.
type Exclusion struct {
	Name string
	// Why says what the real switch does.
	Why string
	// In reports whether a case holds it. It is nil for what only shows when the case is run; see Judge.
	In func(Case) bool
}

// Exclusions lists what cases leave out.
func Exclusions() []Exclusion {
	return []Exclusion{
		{"action-set-at-ct", "write_actions in a program with ct(table=): if the action set is not empty when the frame is " +
			"sent to the tracker, ovs-vswitchd 3.1.0 ends with a failed assertion (still so in its development branch).", actionSetAtCT},
		{"icmp-error-through-nat", "ICMP and ICMPv6 errors in a program with nat: on a quoted TCP header cut to 8 bytes 3.1.0 " +
			"writes behind the packet, and it corrupts the quoted header in ICMPv6.", icmpErrorWithNAT},
		{"ipv6-tracking", "IPv6 frames in a program with ct: the simulator does not track IPv6.", ipv6Tracking},
		{"loose-change-after-add", "a loose modify or delete behind an add in one bundle: the real switch does not find flows " +
			"that the bundle has added if their mask is new to the table, for it publishes new subtables only when the bundle ends.", looseAfterAdd},
		{"learned-untagged", "bundles in a program that learns NXM_OF_VLAN_TCI[]: of an untagged frame the real switch learns " +
			"vlan_tci=0 under a mask of 16 bits, which OpenFlow 1.5 can neither show nor name: dumps show, and bundles speak of, " +
			"the flow under 13 bits, which is another one.", learnedUntagged},
		{"learned-part-of-pcp", "flows learned for a part of vlan_tci that has some bits of the priority: OpenFlow 1.5 cannot show them, " +
			"and dumps show the whole priority.", learnedPCP},
		{"learned-tagless-tci", "move, multipath or pop to the VLAN id in a program that learns NXM_OF_VLAN_TCI[]: on an untagged frame they make " +
			"a vlan_tci without a tag, and a flow learned for that is one that ovs-ofctl cannot read from its own switch.", learnedTagless},
		{"learned-mpls", "MPLS frames in a program that learns: a flow learned for dl_type 0x8847 is dumped as mpls, which " +
			"is not in the language.", learnedMPLS},
		{"part-of-address-after-nat", "an action on a part of an IP address or a port in a program with nat: after a ct(nat) that does not " +
			"recirculate, the real switch writes those bits only that have mattered to the translation so far, which depends on " +
			"its classifier's tries and staged lookups.", partAfterNAT},
		{"part-of-port-of-fragment", "multipath or pop to a part of a port in a case with later fragments: the real switch takes payload for " +
			"the port and keeps the bits that have not mattered so far, as above.", partOfFragment},
		{"tracker-abort", "a case at which the real switch ends by an assertion in its tracker, as the simulator knows " +
			"(conntrack.Table.Aborts), is compared no further.", nil},
		{"actions-over-64k", "a case in which more than 1000 frames are sent is not compared: when one frame makes 64 KiB of " +
			"datapath actions, the real switch ends the translation and sends what it has.", nil},
		{"learned-twice", "a frame that learns a flow again, with other actions each time, within one pass is not compared: from the " +
			"second time on, the real switch does not find in that pass the flow that was there before.", nil},
		{"controller-behind-tags", "a tagged frame that goes to the controller, by that action or by dec_ttl at TTL 1, and then on, is not " +
			"compared: on the way the real switch dissects it anew, takes a second tag for the IP header, and rewrites there.", nil},
		{"commit-by-loose-modify", "a loose modify with ct(commit): it may reach flows for ct_state=+inv, which no dump should show, and " +
			"reading the dump fails.", commitByModify},
		{"many-packet-ins", "a case in which more than 300 frames go to the controller is not compared: the real switch loses them when " +
			"its queue is full.", nil},
		{"nsh", "frames of Ethernet type 0x894f: the real switch reads a network service header, whose fields are not in the language, " +
			"and shows them in traces.", hasNSH},
		{"oversize", "frames above 1500 bytes: dummy ports drop above 1514 bytes (1518 with a tag) on output.", oversize},
	}
}

// Excluded names the first exclusion that the case holds, or nothing.
func Excluded(c Case) string {
	for _, e := range Exclusions() {
		if e.In != nil && e.In(c) {
			return e.Name
		}
	}
	return ""
}

// does reports whether any action of the case, nested or not, is as wanted.
func (c Case) does(wanted func(openflow.Action) bool) bool {
	for f := range c.flows {
		if contains(f.Actions, wanted) {
			return true
		}
	}
	return false
}

func contains(actions []openflow.Action, wanted func(openflow.Action) bool) bool {
	for _, a := range actions {
		nested := []openflow.Action(nil)
		switch a := a.(type) {
		case openflow.Clone:
			nested = a.Actions
		case openflow.WriteActions:
			nested = a.Actions
		}
		if wanted(a) || contains(nested, wanted) {
			return true
		}
	}
	return false
}

func writesActions(a openflow.Action) bool {
	_, ok := a.(openflow.WriteActions)
	return ok
}

func recirculates(a openflow.Action) bool {
	ct, ok := a.(openflow.CT)
	return ok && ct.Recirc
}

func translates(a openflow.Action) bool {
	ct, ok := a.(openflow.CT)
	return ok && ct.NAT != nil
}

func actionSetAtCT(c Case) bool { return c.does(writesActions) && c.does(recirculates) }

func icmpErrorWithNAT(c Case) bool {
	if !c.does(translates) {
		return false
	}
	for f := range c.frames {
		if isICMPError(f.Bytes) {
			return true
		}
	}
	return false
}

func ipv6Tracking(c Case) bool {
	if !c.does(func(a openflow.Action) bool { _, ok := a.(openflow.CT); return ok }) {
		return false
	}
	for f := range c.frames {
		if isIPv6(f.Bytes) {
			return true
		}
	}
	return false
}

func isIPv6(frame []byte) bool {
	etherType, _ := network(frame)
	return etherType == packet.TypeIPv6
}

func looseAfterAdd(c Case) bool {
	for _, e := range c.Events {
		commit, ok := e.(Commit)
		added := false
		for i := range commit.Bundle {
			switch commit.Bundle[i].Command {
			case openflow.Add:
				added = true
			case openflow.Modify, openflow.Delete:
				if ok && added {
					return true
				}
			}
		}
	}
	return false
}

func learnedUntagged(c Case) bool {
	return slices.ContainsFunc(c.Events, isCommit) && c.does(learnsTCI)
}

func learnedPCP(c Case) bool {
	return c.does(func(a openflow.Action) bool {
		l, _ := a.(openflow.Learn)
		return slices.ContainsFunc(l.Specs, func(s openflow.LearnSpec) bool {
			m, ok := s.(openflow.LearnMatchField)
			return ok && m.Dst.Field == openflow.VLANTCI && cutsPCP(m.Dst)
		})
	})
}

// cutsPCP reports whether a part of vlan_tci has some bits of the priority, but not all.
func cutsPCP(s openflow.Subfield) bool {
	const pcp = 7 << 13
	bits := s.Mask().Lo & pcp
	return bits != 0 && bits != pcp
}

func learnedTagless(c Case) bool { return c.does(learnsTCI) && c.does(writesTagless) }

// writesTagless reports whether an action writes the VLAN id of untagged frames, too.
func writesTagless(a openflow.Action) bool {
	_, set := a.(openflow.SetField)
	return !set && written(a) == openflow.VLANVID
}

func isCommit(e Event) bool {
	_, ok := e.(Commit)
	return ok
}

func learnsTCI(a openflow.Action) bool {
	l, _ := a.(openflow.Learn)
	return slices.ContainsFunc(l.Specs, func(s openflow.LearnSpec) bool {
		switch s := s.(type) {
		case openflow.LearnMatchField:
			return s.Dst == openflow.Whole(openflow.VLANTCI)
		case openflow.LearnMatchValue:
			return s.Dst == openflow.Whole(openflow.VLANTCI)
		}
		return false
	})
}

func hasNSH(c Case) bool {
	for f := range c.frames {
		if isNSH(f.Bytes) {
			return true
		}
	}
	return false
}

func isNSH(frame []byte) bool {
	etherType, _ := network(frame)
	return etherType == 0x894f
}

func learnedMPLS(c Case) bool {
	if !c.does(func(a openflow.Action) bool { _, ok := a.(openflow.Learn); return ok }) {
		return false
	}
	for f := range c.frames {
		if isMPLS(f.Bytes) {
			return true
		}
	}
	return false
}

func isMPLS(frame []byte) bool {
	etherType, _ := network(frame)
	return etherType == 0x8847 || etherType == 0x8848
}

func partAfterNAT(c Case) bool { return c.does(translates) && c.does(writesPartOfAddress) }

func partOfFragment(c Case) bool {
	if !c.does(blindlyWritesPart) {
		return false
	}
	for f := range c.frames {
		if isFragment(f.Bytes) {
			return true
		}
	}
	return false
}

// blindlyWritesPart reports whether an action writes a part of an address or port without asking whether the frame has it.
func blindlyWritesPart(a openflow.Action) bool {
	_, move := a.(openflow.Move)
	_, set := a.(openflow.SetField)
	return !move && !set && writesPartOfAddress(a)
}

// writesPartOfAddress reports whether an action writes a part of what nat may translate.
func writesPartOfAddress(a openflow.Action) bool {
	var dst openflow.Subfield
	switch a := a.(type) {
	case openflow.SetField:
		return isTranslated(a.Field) && a.Mask != a.Field.Mask()
	case openflow.Move:
		dst = a.Dst
	case openflow.Pop:
		dst = a.Dst
	case openflow.Multipath:
		dst = a.Dst
	case openflow.Learn:
		dst = a.ResultDst
	}
	return isTranslated(dst.Field) && !dst.IsWhole()
}

func isTranslated(f openflow.Field) bool {
	switch f {
	case openflow.IPSrc, openflow.IPDst, openflow.TCPSrc, openflow.TCPDst, openflow.UDPSrc, openflow.UDPDst,
		openflow.SCTPSrc, openflow.SCTPDst, openflow.ICMPType, openflow.ICMPCode:
		return true
	}
	return false
}

func commitByModify(c Case) bool {
	for _, e := range c.Events {
		commit, _ := e.(Commit)
		for _, m := range commit.Bundle {
			if m.Command == openflow.Modify && contains(m.Flow.Actions, commits) {
				return true
			}
		}
	}
	return false
}

func commits(a openflow.Action) bool {
	ct, ok := a.(openflow.CT)
	return ok && ct.Commit
}

func oversize(c Case) bool {
	for f := range c.frames {
		if len(f.Bytes) > maxFrame {
			return true
		}
	}
	return false
}

const (
	header   = 14 // bytes, of Ethernet
	maxFrame = 1500
)

// isICMPError reports whether a frame may be taken for an ICMP or ICMPv6 error.
func isICMPError(frame []byte) bool {
	etherType, l3 := network(frame)
	switch {
	case etherType == packet.TypeIPv4 && len(l3) >= 20 && l3[9] == packet.ProtoICMP:
		header := int(l3[0]&15) * 4
		if len(l3) <= header {
			return false
		}
		kind := l3[header]
		return kind == 3 || kind == 4 || kind == 5 || kind == 11 || kind == 12
	case etherType == packet.TypeIPv6 && len(l3) > 40:
		return l3[6] != packet.ProtoTCP && l3[6] != packet.ProtoUDP && !(l3[6] == packet.ProtoICMPv6 && l3[40] >= 128)
	}
	return false
}

// allowed reports whether a frame may be part of the case that is being made.
func (m *maker) allowed(frame []byte) bool {
	return len(frame) >= header && len(frame) <= maxFrame && !isNSH(frame) && !(m.traits.nat && isICMPError(frame)) && !(m.traits.tracking && isIPv6(frame)) &&
		!(m.traits.learning && isMPLS(frame)) && !(m.parts && isFragment(frame))
}
