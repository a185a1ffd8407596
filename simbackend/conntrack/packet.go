package conntrack

import "encoding/binary"

// Packet is a packet inside the datapath: its frame and what travels with it.
type Packet struct {
	Frame     []byte // the whole Ethernet frame; nat rewrites it in place
	L3        int    // offset of the network header, 0 if there is none
	EtherType uint16 // dl_type as the pipeline sees it; only 0x0800 is tracked
	Meta      Meta

	// Recirc separates fragments that wait in different places of a pipeline. It
	// belongs to the pass the packet is in: 0 on the first, whatever the registers
	// hold, and behind a ct(table=) equal exactly for equal frozen states.
	Recirc uint32
	// Tag is the caller's own (the ingress port, say); it comes back with a
	// released fragment.
	Tag uint64
}

// Meta is the tracking state a packet carries through the datapath, across
// recirculation and clones. The zero value is an untracked packet.
//
// It is not what the flow tables see: after ct() without table=, and for the packet
// that continues behind ct(table=N), a pipeline clears its ct_ fields but the packet
// keeps its Meta, and a later ct() in the same zone builds on it.
type Meta struct {
	State State
	Zone  uint16
	Mark  uint32
	Label Label
	Orig  Tuple // original direction, before translation; zero if invalid

	conn    *conn // found by an earlier ct(); spares the next one a lookup
	reply   bool
	related bool
}

// Clear is the ct_clear action.
func (m *Meta) Clear() {
	m.State = 0
	m.conn = nil
}

// HeaderChanged must follow every change of an IPv4 address, a TCP, UDP or SCTP port,
// an ICMP type or code, or a push or pop of MPLS: a later ct() then looks again.
// MAC, VLAN, TTL and TOS changes do not count.
func (m *Meta) HeaderChanged() { m.conn = nil }

// write leaves the findings in the packet: the connection's original tuple, mark and
// label, else the packet's own tuple, else nothing.
func (m *Meta) write(zone uint16, c *conn, l *lookup) {
	m.State |= StateTrk
	m.Zone = zone
	switch {
	case c != nil:
		orig := c.orig()
		m.Mark, m.Label = c.mark, c.label
		orig.write(&m.Orig)
	case l != nil:
		m.Mark, m.Label = 0, Label{}
		l.key.write(&m.Orig)
	default:
		m.Mark, m.Label, m.Orig = 0, Label{}, Tuple{}
	}
}

// exec writes the action's mark and label into the packet and the connection.
func (m *Meta) exec(c *conn, r *Request) {
	if r.MarkMask != 0 {
		m.Mark = r.Mark&r.MarkMask | m.Mark&^r.MarkMask
		c.mark = m.Mark
	}
	if r.LabelMask != (Label{}) {
		m.Label = m.Label.set(r.Label, r.LabelMask)
		c.label = m.Label
	}
}

const (
	etherIPv4 = 0x0800
	ipHeader  = 20
	udpHeader = 8
	tcpHeader = 20
	icmpLen   = 8
)

// view is a frame with the bounds of its IPv4 packet, padding left out.
type view struct {
	frame  []byte
	l3, l4 int
	end    int // behind the last byte of the IP packet
}

// view finds the IPv4 packet as OVS's flow extraction does: the version nibble and the
// checksum do not matter, the lengths do.
func (p *Packet) view() (v view, ok bool) {
	l4, end, ok := p.bounds()
	if !ok {
		return v, false
	}
	return view{frame: p.Frame, l3: p.L3, l4: l4, end: end}, true
}

func (p *Packet) bounds() (l4, end int, ok bool) {
	if p.EtherType != etherIPv4 || p.L3 <= 0 || len(p.Frame)-p.L3 < ipHeader {
		return 0, 0, false
	}
	first := binary.BigEndian.Uint32(p.Frame[p.L3:])
	header, total := int(first>>24&0x0f)*4, int(first&0xffff)
	if header < ipHeader || header > total || total > len(p.Frame)-p.L3 {
		return 0, 0, false
	}
	return p.L3 + header, p.L3 + total, true
}

func (v *view) proto() uint8    { return v.frame[v.l3+9] }
func (v *view) payload() []byte { return v.frame[v.l4:v.end] }
func (v *view) header() []byte  { return v.frame[v.l3:v.l4] }

func (v *view) addrs() (src, dst [4]byte) {
	copy(src[:], v.frame[v.l3+12:])
	copy(dst[:], v.frame[v.l3+16:])
	return src, dst
}

func (v *view) addr(at int) uint32 { return binary.BigEndian.Uint32(v.frame[v.l3+at:]) }
