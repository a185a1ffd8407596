package pipeline

import (
	of "hpnn/datapath/openflow"
)

// A member that calls its own VIP and is chosen itself would get packets from its own address, which no stack accepts. So
// the source is translated too, to the gateway's address, and the answers pass both translations in reverse:
//
//	M:c > VIP:80   member, delivery    M:c > M:8080   (zone balanced)
//	               hairpin             G:c > M:8080   (zone hairpin), back to M
//	M:8080 > G:c   classify            M:8080 > M:c   (zone hairpin undone)
//	               hairpin back        VIP:80 > M:c   (zone balanced undone)
//	               hairpin home        back to M

var stageHairpin = stage{
	Table: Table{
		ID:      tableHairpin,
		Name:    "hairpin",
		Purpose: "Returns a packet to the member that sent it, from the gateway's address.",
		Matches: []of.Field{of.CTState, of.EthType, of.IPDst},
		Sets:    []of.Field{of.EthSrc, of.EthDst},
		Drops: []Drop{
			{Priority: hairpinInvalid, Reason: "invalid to the connection tracker"},
			{Reason: "not translated"},
		},
	},
	render: func(n network, w *writer) {
		w.add(hairpinInvalid, always.state(of.CTInv))
		returnToSender(n, w, of.CTSNAT)
	},
}

var stageHairpinBack = stage{
	Table: Table{
		ID:      tableHairpinBack,
		Name:    "hairpin back",
		Purpose: "Undoes the translation to a VIP of an answer whose translation of the source is undone.",
		Matches: []of.Field{of.CTState, of.EthType, of.IPProto},
		Tracked: []of.TableID{tableHairpinHome},
		Drops:   []Drop{{Reason: "an answer to the gateway that belongs to no session"}},
	},
	render: func(_ network, w *writer) {
		w.add(hairpinReturn, isTCP.state(of.CTRpl|of.CTDNAT), untranslate(zoneBalanced, tableHairpinHome))
	},
}

var stageHairpinHome = stage{
	Table: Table{
		ID:      tableHairpinHome,
		Name:    "hairpin home",
		Purpose: "Returns an answer of a member to itself, now from the VIP.",
		Matches: []of.Field{of.CTState, of.EthType, of.IPDst},
		Sets:    []of.Field{of.EthSrc, of.EthDst},
		Drops:   []Drop{{Reason: "an answer to itself that belongs to no session"}},
	},
	render: func(n network, w *writer) {
		returnToSender(n, w, of.CTRpl|of.CTSNAT)
	},
}

// Priorities of the hairpin tables.
const (
	hairpinInvalid = 200
	hairpinReturn  = 100
)

// masquerade commits the second translation of a hairpin.
func masquerade(m service) of.Action {
	from := of.Addr(m.hop.in.Gateway.Address)
	return of.CT{
		Commit: true,
		Zone:   zoneHairpin,
		Recirc: true,
		Table:  tableHairpin,
		NAT:    &of.NAT{Kind: of.NATSrc, Addr: [2]of.Value{from, from}},
	}
}

// returnToSender sends packets to the members that they came from, by the port that they came from.
func returnToSender(n network, w *writer, state uint32) {
	for _, m := range n.membersByAddress() {
		w.add(hairpinReturn, isIP.state(state).dst(m.Addr()),
			setMAC(of.EthDst, m.hop.MAC), setMAC(of.EthSrc, m.hop.in.Gateway.MAC), back)
	}
}
