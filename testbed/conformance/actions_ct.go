package conformance

import (
	"hpnn/datapath/openflow"
)

func (m *maker) trackingAction(_ openflow.Match, table openflow.TableID) openflow.Action {
	switch {
	case !m.traits.tracking:
		return nil
	case m.chance(10):
		return openflow.CTClear{}
	}
	return m.ct(table)
}

// ct is a random ct() for a flow of a table.
func (m *maker) ct(table openflow.TableID) openflow.Action {
	a := openflow.CT{Commit: m.chance(50), Recirc: m.chance(70), Zone: uint16(pick(m, 0, 0, 1, 2))}
	if a.Recirc {
		a.Table = m.later(table)
	}
	a.Force = a.Commit && m.chance(8)
	if m.chance(8) {
		a.Zone, a.ZoneSrc = 0, openflow.Subfield{Field: openflow.Register(m.IntN(4)), Offset: 0, Width: 16}
	}
	if m.traits.nat && m.chance(60) {
		a.NAT = m.nat(a.Commit)
	}
	if a.Commit && m.chance(35) {
		a.Exec = m.exec()
	}
	return a
}

func (m *maker) nat(commit bool) *openflow.NAT {
	if !commit {
		return &openflow.NAT{}
	}
	n := openflow.NAT{Kind: pick(m, openflow.NATSrc, openflow.NATDst)}
	if m.chance(10) && n.Kind == openflow.NATSrc {
		return &n
	}
	to := openflow.Addr(pick(m, natTargets...))
	n.Addr = [2]openflow.Value{to, to}
	if m.chance(50) {
		port := pick(m, natPorts...)
		n.Port = [2]uint16{port, port}
	}
	return &n
}

func (m *maker) exec() []openflow.Action {
	var list []openflow.Action
	for range 1 + m.IntN(2) {
		f := pick(m, openflow.CTMark, openflow.CTLabel)
		if m.chance(30) {
			src, dst := m.register(), openflow.Whole(f)
			dst.Width, src.Width = min(src.Width, dst.Width), min(src.Width, dst.Width)
			list = append(list, openflow.Move{Src: src, Dst: dst})
			continue
		}
		mask := f.Mask()
		if m.chance(30) {
			mask = m.gen.Mask(f.Width())
		}
		list = append(list, openflow.SetField{Field: f, Value: m.gen.Value(f).And(mask), Mask: mask})
	}
	return list
}
