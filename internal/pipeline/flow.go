package pipeline

import (
	"net/netip"

	of "hpnn/datapath/openflow"
	"hpnn/model"
)

// A writer collects the flows of one table.
type writer struct {
	table of.TableID
	flows []of.Flow
}

// add appends a flow; without actions it drops.
func (w *writer) add(priority uint16, m when, actions ...of.Action) {
	w.flows = append(w.flows, of.Flow{Table: w.table, Priority: priority, Match: m.Match, Actions: actions})
}

// A when is a match in the words of the pipeline. Like [of.Match] it never changes: each method returns a narrower one.
type when struct{ of.Match }

var (
	always = when{}
	isARP  = always.with(of.EthType, of.EthTypeARP)
	isIP   = always.with(of.EthType, of.EthTypeIPv4)
	isTCP  = isIP.with(of.IPProto, of.ProtoTCP)
	isUDP  = isIP.with(of.IPProto, of.ProtoUDP)
	isICMP = isIP.with(of.IPProto, of.ProtoICMP)
)

func (w when) with(f of.Field, v uint64) when           { return when{w.With(f, of.U64(v))} }
func (w when) masked(f of.Field, v, mask of.Value) when { return when{w.WithMask(f, v, mask)} }

func (w when) segment(s segment) when    { return w.with(regSegment, uint64(s.ID)) }
func (w when) inPort(p model.Port) when  { return w.with(of.InPort, uint64(p.Number)) }
func (w when) ethSrc(m model.MAC) when   { return when{w.With(of.EthSrc, of.MAC(m))} }
func (w when) ethDst(m model.MAC) when   { return when{w.With(of.EthDst, of.MAC(m))} }
func (w when) src(a netip.Addr) when     { return when{w.With(of.IPSrc, of.Addr(a))} }
func (w when) dst(a netip.Addr) when     { return when{w.With(of.IPDst, of.Addr(a))} }
func (w when) srcIn(p netip.Prefix) when { return w.prefix(of.IPSrc, p) }
func (w when) dstIn(p netip.Prefix) when { return w.prefix(of.IPDst, p) }
func (w when) arpSpa(a netip.Addr) when  { return when{w.With(of.ARPSpa, of.Addr(a))} }
func (w when) arpTpa(a netip.Addr) when  { return when{w.With(of.ARPTpa, of.Addr(a))} }
func (w when) from(s service) when       { return w.src(s.Addr()).with(of.TCPSrc, uint64(s.Port())) }
func (w when) to(s service) when         { return w.dst(s.Addr()).with(of.TCPDst, uint64(s.Port())) }

// state demands that all of these bits of the connection's state are set, and that it is tracked.
func (w when) state(bits uint32) when {
	all := of.U64(uint64(bits | of.CTTrk))
	return w.masked(of.CTState, all, all)
}

// Flags of TCP (RFC 9293, section 3.1).
const (
	flagSYN = 0x02
	flagACK = 0x10
)

// calling demands a SYN that answers nothing.
func (w when) calling() when {
	return w.masked(of.TCPFlags, of.U64(flagSYN), of.U64(flagSYN|flagACK))
}

func (w when) prefix(f of.Field, p netip.Prefix) when {
	return w.masked(f, of.Addr(p.Addr()), of.PrefixMask(p.Bits(), f.Width()))
}

// The actions, in the words of the pipeline.

func jump(t of.TableID) of.Action              { return of.GotoTable{Table: t} }
func setMAC(f of.Field, m model.MAC) of.Action { return of.Set(f, of.MAC(m)) }
func set(f of.Field, v uint64) of.Action       { return of.Set(f, of.U64(v)) }
func output(p model.Port) of.Action            { return of.Output{Port: of.PortNo(p.Number)} }
func move(from, to of.Field) of.Action         { return of.Move{Src: of.Whole(from), Dst: of.Whole(to)} }

// back sends the frame out of the port that it came from, which output would not.
var back of.Action = of.Output{Port: of.PortIn}

// track looks the frame up in a zone and continues in a table.
func track(zone uint16, next of.TableID) of.Action {
	return of.CT{Zone: zone, Recirc: true, Table: next}
}

// commit is track for a frame that may begin a connection.
func commit(zone uint16, next of.TableID) of.Action {
	return of.CT{Commit: true, Zone: zone, Recirc: true, Table: next}
}

// untranslate is track that applies the connection's translation, if it has one.
func untranslate(zone uint16, next of.TableID) of.Action {
	return of.CT{Zone: zone, Recirc: true, Table: next, NAT: &of.NAT{Kind: of.NATExisting}}
}
