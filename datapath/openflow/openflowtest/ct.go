package openflowtest

import (
	"hpnn/datapath/openflow"
)

func (g *Gen) ct(m openflow.Match) openflow.Action {
	a := openflow.CT{Commit: g.chance(2), Recirc: g.chance(2)}
	a.Force = a.Commit && g.chance(4)
	if a.Recirc {
		a.Table = g.Table()
	}
	switch g.IntN(3) {
	case 0:
		a.Zone = uint16(g.Bits(16).Lo)
	case 1:
		a.ZoneSrc = openflow.Subfield{Field: openflow.Register(g.IntN(16)), Offset: uint8(g.IntN(17)), Width: 16}
	}
	if g.chance(2) {
		a.NAT = g.nat(m, a.Commit)
	}
	if g.chance(6) {
		a.ALG = pick(g, openflow.ALGFTP, openflow.ALGTFTP)
	}
	if a.Commit && g.chance(2) {
		a.Exec = g.exec(m)
	}
	return a
}

func (g *Gen) exec(m openflow.Match) []openflow.Action {
	var list []openflow.Action
	for range 1 + g.IntN(2) {
		f := pick(g, openflow.CTMark, openflow.CTLabel)
		part := g.Part(f)
		if g.chance(2) {
			src := g.Subfield(m)
			width := min(src.Width, part.Width)
			src.Width, part.Width = width, width
			list = append(list, openflow.Move{Src: src, Dst: part})
			continue
		}
		mask := g.Mask(f.Width())
		list = append(list, openflow.SetField{Field: f, Value: g.Bits(f.Width()).And(mask), Mask: mask})
	}
	return list
}

func (g *Gen) nat(m openflow.Match, commit bool) *openflow.NAT {
	if !commit || g.chance(4) {
		return &openflow.NAT{}
	}
	n := openflow.NAT{Kind: pick(g, openflow.NATSrc, openflow.NATDst)}
	if g.chance(5) {
		return &n
	}
	width := 32
	if v, ok := m.Exact(openflow.EthType); ok && v == openflow.U64(openflow.EthTypeIPv6) {
		n.IPv6, width = true, 128
	}
	first := g.Bits(width).Or(openflow.U64(1))
	n.Addr = [2]openflow.Value{first, first}
	if g.chance(3) {
		n.Addr[1] = first.Or(openflow.U64(0xff))
	}
	if g.chance(2) {
		port := uint16(1 + g.IntN(60000))
		n.Port = [2]uint16{port, port + pick[uint16](g, 0, 9)}
	}
	n.Persistent = g.chance(3)
	n.Hash = g.chance(3)
	n.Random = !n.Hash && g.chance(3)
	return &n
}
