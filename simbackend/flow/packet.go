package flow

import (
	"slices"

	of "hpnn/datapath/openflow"
)

// headroom is how many bytes a Packet keeps free in front of the frame: four VLAN tags.
const headroom = 4 * vlanLen

// Packet is a frame that may be changed, with room in front for VLAN tags. Loading it again
// reuses its memory.
type Packet struct {
	// Layout is where the headers are.
	Layout
	buffer []byte
	start  int
}

// Load makes the packet a copy of frame, whose layout Extract told.
func (p *Packet) Load(frame []byte, l Layout) {
	p.Layout = l
	p.start = headroom
	p.buffer = slices.Grow(p.buffer[:0], headroom+len(frame))[:headroom+len(frame)]
	copy(p.buffer[headroom:], frame)
}

// Bytes is the frame. It is valid until the packet next changes.
func (p *Packet) Bytes() []byte { return p.buffer[p.start:] }

// pushTag puts a tag behind the addresses. The CFI bit, which means "present" in a Key, is 0.
func (p *Packet) pushTag(t tag) {
	if p.start < vlanLen {
		p.buffer = slices.Insert(p.buffer, 0, make([]byte, headroom)...)
		p.start += headroom
	}
	p.start -= vlanLen
	b := p.Bytes()
	copy(b[:12], b[vlanLen:])
	t &^= of.VLANPresent
	b[12], b[13], b[14], b[15] = byte(t>>24), byte(t>>16), byte(t>>8), byte(t)
	p.shift(vlanLen)
}

// popTag takes off the first tag, if there is one.
func (p *Packet) popTag() {
	b := p.Bytes()
	if len(b) < ethLen+vlanLen || !isTPID(uint16(b[12])<<8|uint16(b[13])) {
		return
	}
	copy(b[vlanLen:], b[:12])
	p.start += vlanLen
	p.shift(-vlanLen)
}

// shift moves the offsets when the frame's front has grown by n bytes.
func (p *Packet) shift(n int) {
	p.Len += n
	p.L3 += uint16(n)
	if p.HasL4() {
		p.L4 += uint16(n)
	}
}
