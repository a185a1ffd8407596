package ofwire

import of "hpnn/datapath/openflow"

// Flags and ranges of NXAST_CT and NXAST_NAT (nicira-ext.h).
const (
	ctCommit   = 1
	ctForce    = 2
	noTable    = 0xff // no recirculation
	natSrc     = 1
	natDst     = 2
	natPersist = 4
	natHash    = 8
	natRandom  = 16

	rangeIPv4Min = 1
	rangeIPv4Max = 2
	rangeIPv6Min = 4
	rangeIPv6Max = 8
	rangePortMin = 16
	rangePortMax = 32
)

// bit is b if it is to be set.
func bit(set bool, b uint16) uint16 {
	if set {
		return b
	}
	return 0
}

func (w *writer) ct(a of.CT) {
	start := w.beginExtension(nxCT)
	w.u16(bit(a.Commit, ctCommit) | bit(a.Force, ctForce))
	if a.ZoneSrc == (of.Subfield{}) {
		w.u32(0)
		w.u16(a.Zone)
	} else {
		w.name(a, a.ZoneSrc.Field)
		w.bits(a, a.ZoneSrc)
	}
	table := uint8(noTable)
	if a.Recirc {
		table = uint8(a.Table)
		if table == noTable {
			w.fail(unsupported(a, "no such table"))
		}
	}
	w.u8(table)
	w.zero(3)
	w.u16(uint16(a.ALG))
	if a.NAT != nil {
		w.nat(*a.NAT)
	}
	w.actions(a.Exec)
	w.finish(start)
}

func (w *writer) nat(n of.NAT) {
	start := w.beginExtension(nxNAT)
	w.u16(0)
	flags := bit(n.Persistent, natPersist) | bit(n.Hash, natHash) | bit(n.Random, natRandom)
	switch n.Kind {
	case of.NATExisting:
	case of.NATSrc:
		flags |= natSrc
	case of.NATDst:
		flags |= natDst
	default:
		w.fail(unsupported(n, "unknown kind of translation"))
	}
	w.u16(flags)
	ends, width := ranges(n)
	w.u16(ends)
	if ends&(rangeIPv4Min|rangeIPv6Min) != 0 {
		w.value(n.Addr[0], width)
	}
	if ends&(rangeIPv4Max|rangeIPv6Max) != 0 {
		w.value(n.Addr[1], width)
	}
	if ends&rangePortMin != 0 {
		w.u16(n.Port[0])
	}
	if ends&rangePortMax != 0 {
		w.u16(n.Port[1])
	}
	if n.Addr[0].BitLen() > 8*width || n.Addr[1].BitLen() > 8*width || n.Addr[0].Cmp(n.Addr[1]) > 0 || n.Port[0] > n.Port[1] {
		w.fail(unsupported(n, "a range is empty or too wide"))
	}
	w.finish(start)
}

// ranges says which ends of the ranges are sent, and how wide an address is; the last of one is not.
func ranges(n of.NAT) (ends uint16, width int) {
	first, last, width := uint16(rangeIPv4Min), uint16(rangeIPv4Max), 4
	if n.IPv6 {
		first, last, width = rangeIPv6Min, rangeIPv6Max, 16
	}
	if n.Addr != [2]of.Value{} {
		ends = first | bit(n.Addr[0] != n.Addr[1], last)
	}
	if n.Port != [2]uint16{} {
		ends |= rangePortMin | bit(n.Port[0] != n.Port[1], rangePortMax)
	}
	return ends, width
}

// ct is the rest of an NXAST_CT.
func (r *reader) ct() of.Action {
	flags := r.known(r.u16(), ctCommit|ctForce, "flags of ct")
	a := of.CT{Commit: flags&ctCommit != 0, Force: flags&ctForce != 0}
	if h := r.u32(); h == 0 {
		a.Zone = r.u16()
	} else {
		src := reader{b: []byte{byte(h >> 24), byte(h >> 16), byte(h >> 8), byte(h)}}
		a.ZoneSrc = r.bits(src.name())
		r.join(src)
	}
	table := r.u8()
	r.skip(3)
	if a.Recirc = table != noTable; a.Recirc {
		a.Table = of.TableID(table)
	}
	a.ALG = of.ALG(r.u16())
	for len(r.b) > 0 {
		if n, ok := r.nextNAT(); ok {
			if a.NAT != nil {
				r.fail(foreign("two translations in one ct"))
			}
			a.NAT = &n
			continue
		}
		a.Exec = append(a.Exec, r.action())
	}
	return a
}

// nextNAT takes the next action if it is a translation.
func (r *reader) nextNAT() (of.NAT, bool) {
	peek := reader{b: r.b}
	kind, body := peek.part()
	if kind != actExperimenter || body.u32() != vendor || body.u16() != nxNAT || body.err != nil {
		return of.NAT{}, false
	}
	r.b = peek.b
	body.skip(2)
	n := body.nat()
	body.rest()
	r.join(body)
	return n, true
}

func (r *reader) nat() (n of.NAT) {
	flags := r.known(r.u16(), natSrc|natDst|natPersist|natHash|natRandom, "flags of nat")
	n.Persistent, n.Hash, n.Random = flags&natPersist != 0, flags&natHash != 0, flags&natRandom != 0
	switch flags & (natSrc | natDst) {
	case natSrc:
		n.Kind = of.NATSrc
	case natDst:
		n.Kind = of.NATDst
	case natSrc | natDst:
		r.fail(foreign("a translation of both ends"))
	}
	ends := r.known(r.u16(), rangeIPv4Min|rangeIPv4Max|rangeIPv6Min|rangeIPv6Max|rangePortMin|rangePortMax, "ranges of nat")
	width := 4
	if n.IPv6 = ends&(rangeIPv6Min|rangeIPv6Max) != 0; n.IPv6 {
		width = 16
	}
	if ends&(rangeIPv4Min|rangeIPv6Min) != 0 {
		n.Addr[0] = r.value(width)
		n.Addr[1] = n.Addr[0]
	}
	if ends&(rangeIPv4Max|rangeIPv6Max) != 0 {
		n.Addr[1] = r.value(width)
	}
	if ends&rangePortMin != 0 {
		n.Port[0] = r.u16()
		n.Port[1] = n.Port[0]
	}
	if ends&rangePortMax != 0 {
		n.Port[1] = r.u16()
	}
	if again, _ := ranges(n); again != ends {
		r.fail(foreign("ranges %#x of nat are not supported", ends))
	}
	return n
}
