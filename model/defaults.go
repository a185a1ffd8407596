package model

import (
	"net/netip"
)

// WithDefaults returns t with every field that is zero set to its default (see [Keys]), as the loader does for keys that are
// not given. A weight of zero stays: in Go it cannot be told from one that was meant.
func WithDefaults(t Topology) Topology {
	return fill(t, filler{})
}

// A filler knows which fields were given, if the topology comes from a file.
type filler struct {
	index   map[string]place // nil for a topology built in Go
	unknown map[string]bool  // gets the fields whose default follows from one that is at fault
}

func (f filler) knows() bool { return f.index != nil }

func (f filler) given(path string) bool {
	_, ok := f.index[path]
	return ok
}

// fill sets what is not given: first the defaults that are constants, then those that follow from other fields.
func fill(t Topology, f filler) Topology {
	topologyKeys.fill(f, "", &t)
	for i := range t.Segments {
		fillSegment(&t.Segments[i], i, f)
	}
	names := newDirectory(&t) // ports do not matter to it
	for i := range t.Hosts {
		fillHost(&t.Hosts[i], names, item("hosts", i), f)
	}
	for i := range t.Pools {
		p, path := &t.Pools[i], item("pools", i)
		derive(f, join(path, "id"), &p.ID, position(i))
		for j := range p.Members {
			fillMember(&p.Members[j], j, names, item(join(path, "members"), j), f)
		}
	}
	return t
}

// derive sets a field that was not given. If v is not known either, the field is no fault of its own.
func derive[V comparable](f filler, path string, field *V, v V) {
	var unset V
	if *field != unset || f.given(path) {
		return
	}
	*field = v
	if v == unset && f.knows() {
		f.unknown[path] = true
	}
}

// position is the number that the i-th element of a list gets; a list longer than the numbers gets none.
func position(i int) uint16 {
	if i >= 65535 {
		return 0
	}
	return uint16(i + 1)
}

func fillSegment(s *Segment, i int, f filler) {
	path := item("segments", i)
	derive(f, join(path, "id"), &s.ID, position(i))
	derive(f, join(path, "gateway.mac"), &s.Gateway.MAC, macFor(s.Gateway.Address))
	if s.Uplink != nil {
		derive(f, join(path, "uplink.name"), &s.Uplink.Name, s.Name)
	}
	if s.Probe != nil {
		derive(f, join(path, "probe.mac"), &s.Probe.MAC, macFor(s.Probe.Address))
		derive(f, join(path, "probe.port.name"), &s.Probe.Port.Name, probePortName(s.Name))
	}
}

func probePortName(segment string) string {
	if segment == "" {
		return ""
	}
	return "hcif-" + segment
}

// macFor makes a locally administered MAC of an IPv4 address.
func macFor(a netip.Addr) MAC {
	if !a.Is4() {
		return MAC{}
	}
	b := a.As4()
	return MAC{0x02, 0x42, b[0], b[1], b[2], b[3]}
}

// fillHost names a host's port after the uplink if it has that number, otherwise after the host.
func fillHost(h *Host, names directory, path string, f filler) {
	name := h.Name
	if s, ok := names.segments[h.Segment]; ok && s.Uplink != nil && s.Uplink.Number == h.Port.Number {
		name = s.Uplink.Name
	}
	derive(f, join(path, "port.name"), &h.Port.Name, name)
}

func fillMember(m *Member, i int, names directory, path string, f filler) {
	derive(f, join(path, "id"), &m.ID, position(i))
	if h, ok := names.hosts[m.Host]; ok && m.Host != "" {
		derive(f, join(path, "address"), &m.Address, h.Address)
	}
	if h, ok := names.nextHop(m.Address); ok {
		derive(f, join(path, "host"), &m.Host, h.Name)
	}
	name := m.Host
	if h, ok := names.hosts[m.Host]; ok && h.Address != m.Address && m.Address.IsValid() {
		name = m.Address.String()
	}
	derive(f, join(path, "name"), &m.Name, name)
}
