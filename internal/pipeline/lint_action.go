package pipeline

import (
	"slices"

	of "hpnn/datapath/openflow"
)

// A place is where an action may stand.
type place uint8

const (
	anywhere place = iota
	early          // before the last
	last
)

// misplaced is the place of an action that may not stand where it does.
func misplaced(isLast bool) place {
	if isLast {
		return early
	}
	return last
}

// action checks one action and tells its place.
func (l *linter) action(t declaration, f of.Flow, a of.Action) place {
	switch a := a.(type) {
	case of.Output:
		if a.Port >= of.PortMax && a.Port != of.PortIn {
			l.report(RuleAction, f, "%v is no port of the topology", a)
		}
		return anywhere
	case of.OutputField:
		return last
	case of.GotoTable:
		l.jump(t, f, a.Table, t.Next)
		return last
	case of.CT:
		l.track(t, f, a)
		return last
	case of.SetField:
		l.sets(t, f, a.Field)
	case of.Move:
		l.sets(t, f, a.Dst.Field)
	case of.Pop:
		l.sets(t, f, a.Dst.Field)
	case of.Multipath:
		l.sets(t, f, a.Dst.Field)
	case of.DecTTL:
		l.sets(t, f, of.IPTTL)
		if len(a.Controllers) > 0 {
			l.report(RuleAction, f, "%v would send frames to controllers", a)
		}
	case of.Learn:
		l.learn(t, f, a)
	case of.Push:
	case of.Controller:
		if !t.Reports {
			l.report(RuleAction, f, "%v: table %s tells the daemon nothing", a, t.Name)
		}
		return anywhere
	default:
		l.report(RuleAction, f, "%v is no action of the pipeline", a)
		return anywhere
	}
	return early
}

func (l *linter) sets(t declaration, f of.Flow, field of.Field) {
	if !t.sets.has(field) {
		l.report(RuleSet, f, "table %s does not change %v", t.Name, field)
	}
	// Open vSwitch 3.1 writes behind an ARP frame that is shorter than its header; one with an operation is not.
	if _, ok := f.Match.Exact(of.ARPOp); !ok && slices.Contains(arpFields, field) {
		l.report(RuleSet, f, "%v changes without arp_op in the match: a short frame may crash the switch", field)
	}
}

var arpFields = []of.Field{of.ARPOp, of.ARPSpa, of.ARPTpa, of.ARPSha, of.ARPTha}

// track checks a use of the connection tracker.
func (l *linter) track(t declaration, f of.Flow, ct of.CT) {
	known := slices.ContainsFunc(Zones(), func(z Zone) bool { return z.ID == ct.Zone })
	switch {
	case !ct.Recirc:
		l.report(RuleAction, f, "%v without a table: its verdict would be lost", ct)
	case ct.Force || ct.ALG != of.ALGNone || ct.ZoneSrc != of.Subfield{} || !known:
		l.report(RuleAction, f, "%v: use a named zone, and neither force nor alg", ct)
	}
	if ct.Recirc {
		l.jump(t, f, ct.Table, t.Tracked)
	}
	for _, a := range ct.Exec {
		l.action(t, f, a)
	}
	if ct.NAT != nil {
		l.translation(f, ct)
	}
}

// translation checks what Open vSwitch 3.1 does not survive or does differently on each run.
func (l *linter) translation(f of.Flow, ct of.CT) {
	nat := *ct.NAT
	// An ICMP error whose inner TCP header is cut off makes it write out of bounds.
	if proto, ok := f.Match.Exact(of.IPProto); !ok || proto != of.U64(of.ProtoTCP) {
		l.report(RuleNAT, f, "%v on a match that is not of TCP: an ICMP error may crash the switch", ct)
	}
	switch {
	case nat.Kind == of.NATExisting && ct.Commit: // it would make a connection whose answers go to 0.0.0.0
		l.report(RuleNAT, f, "%v: commit with an address, or without nat", ct)
	case nat.Addr[0] != nat.Addr[1] || nat.Port[0] != nat.Port[1]: // a range is chosen from by a seed of the process
		l.report(RuleNAT, f, "%v: use one address and at most one port", ct)
	case nat.Kind != of.NATExisting && nat.Addr[0].IsZero():
		l.report(RuleNAT, f, "%v: name the address", ct)
	case nat.Persistent || nat.Hash || nat.Random:
		l.report(RuleNAT, f, "%v: use no options: there is nothing to choose", ct)
	}
}

// learn checks what a flow learns, as a flow of the table it goes to.
func (l *linter) learn(t declaration, f of.Flow, a of.Learn) {
	into, ok := l.tables[a.Table]
	switch kind := a.Cookie & CookieKind; {
	case !ok || !slices.Contains(t.Learns, a.Table):
		l.report(RuleLearn, f, "table %s does not learn into table %d", t.Name, a.Table)
		return
	case a.HardTimeout == 0 || a.Limit == 0:
		l.report(RuleLearn, f, "give learned flows a hard timeout and a limit")
	case kind != CookieFDB && kind != CookieAdjacency:
		l.report(RuleLearn, f, "cookie %#x is of no known kind", a.Cookie)
	}
	l.learned[level{a.Table, a.Priority}] = true
	for _, spec := range a.Specs {
		switch s := spec.(type) {
		case of.LearnMatchField:
			l.allow(into, f, s.Dst.Field, into.matches)
		case of.LearnMatchValue:
			l.allow(into, f, s.Dst.Field, into.matches)
		case of.LearnLoadField:
			l.allow(into, f, s.Dst.Field, into.sets)
		case of.LearnLoadValue:
			l.allow(into, f, s.Dst.Field, into.sets)
		}
	}
}

func (l *linter) allow(into declaration, f of.Flow, field of.Field, allowed fieldSet) {
	if !allowed.has(field) {
		l.report(RuleLearn, f, "a learned flow uses %v, which table %s does not declare", field, into.Name)
	}
}
