package pcap

import "fmt"

// frame reads the frame of a packet block. It reports false for one passed over because its
// interface is not Ethernet.
func (n *ng) frame(r *Reader, rec *Record) (ok bool, err error) {
	head := int(n.block.least()) - 4
	h := r.in.peek(head)
	if len(h) < head {
		return false, r.short(n.block.at, "the block", int(n.block.total), len(h))
	}
	id := n.portOf(h)
	if id >= uint32(len(n.ports)) {
		return false, r.fault(n.block.at, BadBlock, fmt.Sprintf("a frame of interface %d, but the section has declared %d", id, len(n.ports)))
	}
	p := &n.ports[id]
	size, orig := n.lengths(h, p)
	if err := n.checkSize(r, head, size); err != nil {
		return false, err
	}
	if p.link != linkEthernet {
		r.passOver(n.block.at, p.link)
		return false, nil
	}
	if err := n.stamp(r, h, p); err != nil {
		return false, err
	}
	end := head + int(size)
	b := r.in.peek(end)
	if len(b) < end {
		return false, r.short(n.block.at, "the frame", int(size), len(b)-head)
	}
	r.frames++
	*rec = Record{
		Time:    n.last,
		Data:    b[head:end:end],
		OrigLen: wireLength(orig, size),
		Index:   r.frames,
		Offset:  n.block.at,
	}
	return true, nil
}

// portOf gives the interface number of a packet block; simple ones belong to the first.
func (n *ng) portOf(h []byte) uint32 {
	switch n.block.kind {
	case blockEnhanced:
		return n.uint32(h[8:])
	case blockPacket:
		return uint32(n.uint16(h[8:]))
	}
	return 0
}

// lengths gives the captured and the original length. A simple block leaves the first
// to the interface's limit and its own size.
func (n *ng) lengths(h []byte, p *port) (size, orig uint32) {
	if n.block.kind != blockSimple {
		return n.uint32(h[20:]), n.uint32(h[24:])
	}
	orig = n.uint32(h[8:])
	size = min(orig, uint32(n.block.total-n.block.least()))
	if p.snap > 0 {
		size = min(size, p.snap)
	}
	return size, orig
}

// checkSize refuses a captured length that no frame has or the block has no room for.
func (n *ng) checkSize(r *Reader, head int, size uint32) error {
	if size > MaxFrame {
		return r.fault(n.block.at, BadLength, fmt.Sprintf("a frame of %d bytes, more than %d", size, MaxFrame))
	}
	if room := n.block.total - int64(head) - 4; int64(size) > room {
		return r.fault(n.block.at, BadBlock, fmt.Sprintf("a frame of %d bytes in a block with room for %d", size, room))
	}
	return nil
}

// stamp sets the time of the frame at hand. A simple block has none: its frame gets the
// time of the frame before, so that the order of the file is kept.
func (n *ng) stamp(r *Reader, h []byte, p *port) error {
	if n.block.kind == blockSimple {
		return nil
	}
	ticks := uint64(n.uint32(h[12:]))<<32 | uint64(n.uint32(h[16:]))
	ns, ok := p.clock.nanoseconds(ticks)
	if !ok {
		return r.fault(n.block.at, BadTime, fmt.Sprintf("%d ticks of 1/%d s lie outside the years 1678 to 2262", ticks, p.clock.perSecond))
	}
	n.last = ns
	return nil
}
