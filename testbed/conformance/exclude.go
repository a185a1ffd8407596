package conformance

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
		{"learned-tcp-flags", "a flow for exactly some TCP flags in a program that learns NXM_NX_TCP_FLAGS[]: the mask of a learned one has 12 bits, that of " +
			"one that ovs-ofctl adds or deletes has 16, so they are two flows, which dumps show alike.", learnedFlags},
		{"learned-tagless-tci", "vlan_tci written, or move, multipath or pop to the VLAN id, in a program that learns NXM_OF_VLAN_TCI[]: on an untagged frame they make " +
			"a vlan_tci without a tag, and a flow learned for that is one that ovs-ofctl cannot read from its own switch.", learnedTagless},
		{"learned-mpls", "MPLS frames in a program that learns: a flow learned for dl_type 0x8847 is dumped as mpls, which " +
			"is not in the language.", learnedMPLS},
		{"part-of-address-after-nat", "an action on a part of an IP address or a port in a program with nat: after a ct(nat) that does not " +
			"recirculate, the real switch writes those bits only that have mattered to the translation so far, which depends on " +
			"its classifier's tries and staged lookups.", partAfterNAT},
		{"part-of-port-of-fragment", "multipath or pop to a part of a port in a case with later fragments: the real switch takes payload for " +
			"the port and keeps the bits that have not mattered so far, as above.", partOfFragment},
		{"part-of-large-arp-op", "an action on a part of arp_op in a case with an ARP operation above 255, which the real switch takes for 0: " +
			"when it writes, it keeps the bits of the frame that have not mattered so far, as above.", partOfLargeOp},
		{"part-of-arp-op", "move, multipath, pop or learn to a part of arp_op: an operation of 255 leaves as 65535 if all of its bits have mattered, " +
			"and as 255 if not, as above.", partOfOp},
		{"tags-by-loose-modify", "a loose modify that pushes a tag: the real switch holds its actions against the match of the command, not of the flows, and so " +
			"comes to hold flows with three tags, which it would refuse to add and ovs-ofctl cannot read.", pushesByModify},
		{"tracker-abort", "a case at which the real switch ends by an assertion in its tracker, as the simulator knows " +
			"(conntrack.Table.Aborts), is compared no further.", nil},
		{"actions-over-64k", "a case in which more than 1000 frames are sent is not compared: when one frame makes 64 KiB of " +
			"datapath actions, the real switch ends the translation and sends what it has.", nil},
		{"learned-twice", "a frame that learns a flow again, and changes it each time (its actions, or a flag that the flow had), within one pass is not compared: from the " +
			"second time on, the real switch does not find in that pass the flow that was there before.", nil},
		{"controller-behind-tags", "a tagged frame that goes to the controller, by that action or by dec_ttl at TTL 1, and then on, is not " +
			"compared: on the way the real switch dissects it anew, takes a second tag for the IP header, and rewrites there.", nil},
		{"fragment-behind-recirculation", "a case in which a fragment stays waiting behind ct(table=), which only one can that was found invalid before, is not " +
			"compared: the real switch forgets the recirculation with the frame, for it was told to keep no flows.", nil},
		{"commit-by-loose-modify", "a loose modify with ct(commit): it may reach flows for ct_state=+inv, which no dump should show, and " +
			"reading the dump fails.", commitByModify},
		{"many-packet-ins", "a case in which more than 300 frames or 150 kB go to the controller is not compared: the real switch loses them when " +
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
