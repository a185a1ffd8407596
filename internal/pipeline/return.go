package pipeline

import of "hpnn/datapath/openflow"

// An answer of a member is that of a balanced connection, to be translated back, or that of a direct one, to be left alone.
// One client port may have been used for both, so the tracker decides, on either way that an answer can take:
//
//	services  ct(zone balanced, nat)       the usual case: one lookup
//	undone    translated and valid?        yes: onward, from the VIP
//	          else ct(zone direct)         with its own source again, if the tracker changed that of an invalid packet
//	verdict   of a direct connection?      yes: onward; else drop
//
// Packets to a service are committed to the zone of direct connections, so that their answers are known.
type way struct {
	name                    string
	services, undone, judge of.TableID
	onward                  of.TableID
}

var (
	routed   = way{"routed", tableRouted, tableRoutedUndone, tableRoutedVerdict, tableRoute}
	switched = way{"switched", tableSwitched, tableSwitchedUndone, tableSwitchedVerdict, tableSwitch}
)

// Priorities of the tables on both ways.
const (
	wayFragment = 110 // of a member's answer: it has no port to tell which service it belongs to
	wayBroken   = 105 // a TCP header that cannot be read has port 0
	wayAnswer   = 100
	wayDirect   = 90
	wayError    = 80

	undoneAnswer   = 100
	undoneRestored = 90 // translated, but invalid or not an answer
	undoneDirect   = 80
	undoneOurs     = 70 // an ICMP error about a balanced connection, which would show its member
	undoneError    = 60

	verdictKnown   = 100
	verdictRequest = 90
	verdictCall    = 85 // a member opens a connection from its service port
	verdictInvalid = 50
)

// icmpErrors are the ICMP messages about other packets (RFC 792): unreachable, source quench, redirect, time exceeded,
// parameter problem.
var icmpErrors = []uint64{3, 4, 5, 11, 12}

func (y way) entry() stage {
	return stage{
		Table: Table{
			ID:      y.services,
			Name:    y.name,
			Purpose: "Picks the traffic of members' services, whose answers may belong to a VIP, from what is " + y.name + ".",
			Matches: []of.Field{of.EthType, of.IPSrc, of.IPDst, of.IPProto, of.IPFrag, of.TCPSrc, of.TCPDst, of.ICMPType},
			Sets:    []of.Field{regOrigin, regOriginPort},
			Tracked: []of.TableID{y.undone, y.judge},
			Miss:    jumps(y.onward),
			Drops: []Drop{
				{Priority: wayFragment, Reason: "a fragment of a member's TCP, which has no port to tell its service by"},
				{Priority: wayBroken, Reason: "a member's TCP whose header cannot be read"},
			},
		},
		render: y.renderServices,
	}
}

func (y way) renderServices(n network, w *writer) {
	for _, m := range n.membersByAddress() {
		w.add(wayFragment, when{isTCP.src(m.Addr()).WithMask(of.IPFrag, of.U64(of.FragFirst), of.U64(of.FragFirst))})
		w.add(wayBroken, isTCP.src(m.Addr()).with(of.TCPSrc, 0))
	}
	for _, s := range n.services {
		w.add(wayAnswer, isTCP.from(s),
			of.Set(regOrigin, of.Addr(s.Addr())), set(regOriginPort, uint64(s.Port())), untranslate(zoneBalanced, y.undone))
		w.add(wayDirect, isTCP.to(s), commit(zoneDirect, y.judge))
	}
	for _, kind := range icmpErrors {
		w.add(wayError, isICMP.with(of.ICMPType, kind), track(zoneBalanced, y.undone))
	}
}

func (y way) translated() stage {
	return stage{
		Table: Table{
			ID:      y.undone,
			Name:    y.name + " undone",
			Purpose: "Passes answers that are the VIP's again, asks about all others, and drops ICMP errors about balanced connections.",
			Matches: []of.Field{of.CTState, of.EthType, of.IPProto},
			Sets:    []of.Field{of.IPSrc, of.TCPSrc},
			Next:    []of.TableID{y.onward},
			Tracked: []of.TableID{y.judge},
			Drops: []Drop{
				{Priority: undoneOurs, Reason: "an ICMP error about a balanced session, which would show its member"},
				{Reason: "neither TCP nor ICMP"},
			},
		},
		render: func(_ network, w *writer) {
			w.add(undoneAnswer, isTCP.state(of.CTRpl|of.CTSNAT), jump(y.onward))
			w.add(undoneRestored, isTCP.state(of.CTSNAT), restore(y.judge)...)
			w.add(undoneDirect, isTCP, track(zoneDirect, y.judge))
			w.add(undoneOurs, isICMP.state(of.CTRel))
			w.add(undoneError, isICMP, jump(y.onward))
		},
	}
}

// restore gives a packet its own source again. The connection tracker translates a packet of a connection it knows even if
// it calls the packet invalid, as it does when a client port that was balanced before is now used directly.
func restore(next of.TableID) []of.Action {
	return []of.Action{
		move(regOrigin, of.IPSrc),
		of.Move{Src: of.Subfield{Field: regOriginPort, Width: 16}, Dst: of.Whole(of.TCPSrc)},
		track(zoneDirect, next),
	}
}

func (y way) verdict() stage {
	return stage{
		Table: Table{
			ID:      y.judge,
			Name:    y.name + " verdict",
			Purpose: "Passes packets of direct connections; an answer that belongs to no connection never leaves with its member's address.",
			Matches: []of.Field{of.CTState, regOrigin, of.EthType, of.IPProto, of.TCPFlags},
			Next:    []of.TableID{y.onward},
			Tracked: []of.TableID{y.onward},
			Drops: []Drop{
				{Priority: verdictInvalid, Reason: "invalid to the connection tracker"},
				{Reason: "an answer of a member that belongs to no session"},
			},
		},
		render: func(_ network, w *writer) {
			w.add(verdictKnown, always.state(of.CTEst), jump(y.onward))
			w.add(verdictRequest, always.state(of.CTNew).with(regOrigin, 0), jump(y.onward))
			w.add(verdictCall, isTCP.state(of.CTNew).calling(), commit(zoneDirect, y.onward))
			w.add(verdictInvalid, always.state(of.CTInv))
		},
	}
}
