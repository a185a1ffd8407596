package pipeline

import of "hpnn/datapath/openflow"

// Three decisions meet in the flow of a member.
//
// The translation is committed with the packet, and the tracker prefers the one that the connection already has. Therefore a
// session stays where it began when its slot moves, and therefore all members share one zone.
//
// The label of the connection is the MAC and the port that its client was heard from, renewed with every valid packet. Answers
// follow it (adjacency.go), so that clients need no learned neighbour: a flood of spoofed sources that uses up the room for learned
// flows does not keep a VIP from serving.
//
// ICMP does not come here: in Open vSwitch 3.1 an error that is translated can crash the switch.
var stageMember = stage{
	Table: Table{
		ID:   tableMember,
		Name: "member",
		Purpose: "Translates the destination to the chosen member, or to the one that the connection already has, " +
			"and labels the connection with the way back to its client.",
		Matches: []of.Field{regPool, regMember, of.EthType, of.IPProto},
		Sets:    []of.Field{regSlot, of.CTLabel},
		Tracked: []of.TableID{tableDelivery},
		Drops:   []Drop{{Reason: "a member that is not known"}},
	},
	render: renderMembers,
}

const memberChosen = 100 // priority

// renderMembers writes a flow for every member, also for those that own no slot.
func renderMembers(n network, w *writer) {
	for _, p := range n.pools {
		for _, m := range p.members {
			// A packet waits for the connection tracker together with its registers. Without the slot in them there is one such
			// state, and one set of datapath flows behind it, for each member and not for each slot.
			w.add(memberChosen, isTCP.with(regPool, uint64(p.ID)).with(regMember, uint64(m.ID)),
				set(regSlot, 0), translate(m.service))
		}
	}
}

// translate commits a balanced connection. Its zone is the same for all members: a packet whose slot has moved must still
// find the connection, whose own translation then applies.
func translate(s service) of.Action {
	to := of.Addr(s.Addr())
	return of.CT{
		Commit: true,
		Zone:   zoneBalanced,
		Recirc: true,
		Table:  tableDelivery,
		NAT:    &of.NAT{Kind: of.NATDst, Addr: [2]of.Value{to, to}, Port: [2]uint16{s.Port(), s.Port()}},
		Exec: []of.Action{
			of.Move{Src: of.Whole(of.EthSrc), Dst: labelMAC},
			of.Move{Src: of.Whole(of.InPort), Dst: labelPort},
		},
	}
}

// Behind the tracker a packet carries the address of a member, the chosen one or that of its connection, and delivery looks at
// nothing else. What the tracker did not translate has no business here, for whatever reason, and ends.
//
// A client and a member that are neighbours in a private segment stay neighbours: the frame keeps the client's MAC as its
// source, so that the member answers it directly, and the answer is found again on its way through the switch (return.go).
var stageDelivery = stage{
	Table: Table{
		ID:   tableDelivery,
		Name: "delivery",
		Purpose: "Sends a translated packet to its member: by switching if both are neighbours, else by routing; " +
			"nothing passes untranslated.",
		Matches: []of.Field{regSegment, of.CTState, of.EthType, of.IPSrc, of.IPDst, of.IPProto},
		Sets:    []of.Field{of.EthDst},
		Next:    []of.TableID{tableRoute, tableSwitch},
		Tracked: []of.TableID{tableHairpin},
		Drops: []Drop{
			{Priority: deliveryInvalid, Reason: "invalid to the connection tracker"},
			{Reason: "not translated"},
		},
	},
	render: renderDelivery,
}

// Priorities of the delivery table.
const (
	deliveryInvalid   = 400 // the connection tracker translates these too
	deliveryHairpin   = 300
	deliveryNeighbour = 200
	deliveryRouted    = 100
)

func renderDelivery(n network, w *writer) {
	w.add(deliveryInvalid, always.state(of.CTInv))
	w.add(deliveryRouted, always.state(of.CTDNAT), jump(tableRoute))
	for _, m := range n.membersByAddress() {
		a := m.Addr()
		w.add(deliveryHairpin, isTCP.state(of.CTDNAT).src(a).dst(a), masquerade(m))
		if m.onLink && m.hop.in.private() {
			w.add(deliveryNeighbour, isIP.state(of.CTDNAT).segment(m.hop.in).dst(a),
				setMAC(of.EthDst, m.hop.MAC), jump(tableSwitch))
		}
	}
}
