package pcap

import (
	"fmt"
	"math/bits"
)

// Block types (draft-ietf-opsawg-pcapng 4).
const (
	blockSection   = 0x0a0d0d0a // reads the same in both byte orders
	blockInterface = 1
	blockPacket    = 2 // obsolete
	blockSimple    = 3
	blockEnhanced  = 6
)

// byteOrderMagic is how a section tells its byte order.
const byteOrderMagic = 0x1a2b3c4d

// maxInterfaces bounds what a section can make the reader remember.
const maxInterfaces = 1 << 16

// ng reads pcapng: sections of blocks; every block has its length at both ends.
type ng struct {
	swapped bool   // numbers of this section are big-endian
	ports   []port // interfaces of this section
	block   block  // the block the reader is in
	last    int64  // time of the last frame, in nanoseconds
}

// block is where a block lies.
type block struct {
	at    int64  // offset of its first byte
	kind  uint32 // block type
	total int64  // length with both length fields
}

func newNG(r *Reader) (format, error) {
	n := &ng{}
	if err := n.enter(r); err != nil {
		return nil, err
	}
	return n, nil
}

// next implements format.
func (n *ng) next(r *Reader, rec *Record) error {
	for {
		if err := n.leave(r); err != nil {
			return err
		}
		if err := n.enter(r); err != nil {
			return err
		}
		switch n.block.kind {
		case blockInterface:
			if err := n.addPort(r); err != nil {
				return err
			}
		case blockPacket, blockSimple, blockEnhanced:
			if ok, err := n.frame(r, rec); ok || err != nil {
				return err
			}
		}
	}
}

// enter reads the head of a block, and of a section what follows it; it consumes nothing.
func (n *ng) enter(r *Reader) error {
	b := block{at: r.in.offset()}
	h := r.in.peek(12)
	if len(h) == 0 {
		return r.end()
	}
	if len(h) < 12 {
		return r.short(b.at, "the shortest block", 12, len(h))
	}
	b.kind = n.uint32(h)
	if b.kind == blockSection {
		if err := n.startSection(r); err != nil {
			return err
		}
		h = r.in.peek(12) // looking further may have moved the bytes
	}
	b.total = int64(n.uint32(h[4:]))
	if least := b.least(); b.total < least || b.total%4 != 0 {
		return r.fault(b.at, BadLength, fmt.Sprintf("a block of type %#x and %d bytes; at least %d and a multiple of 4 are due", b.kind, b.total, least))
	}
	n.block = b
	return nil
}

// least is the length in bytes a block of the type has at least.
func (b block) least() int64 {
	switch b.kind {
	case blockSection:
		return 28
	case blockInterface:
		return 20
	case blockPacket, blockEnhanced:
		return 32
	case blockSimple:
		return 16
	}
	return 12
}

// startSection learns the byte order of a section and forgets the interfaces of the
// section before.
func (n *ng) startSection(r *Reader) error {
	at := r.in.offset()
	switch magic := leUint32(r.in.peek(12)[8:]); magic {
	case byteOrderMagic:
		n.swapped = false
	case bits.ReverseBytes32(byteOrderMagic):
		n.swapped = true
	default:
		return r.fault(at+8, BadMagic, fmt.Sprintf("byte-order magic of the section is %#x", magic))
	}
	h := r.in.peek(16)
	if len(h) < 16 {
		return r.short(at, "the section header", 28, len(h))
	}
	if major := n.uint16(h[12:]); major != 1 {
		return r.fault(at+12, BadHeader, fmt.Sprintf("pcapng version %d.%d, but 1.0 is the one in use", major, n.uint16(h[14:])))
	}
	n.ports = n.ports[:0]
	return nil
}

// leave consumes the rest of the block and checks the length at its end.
func (n *ng) leave(r *Reader) error {
	b := n.block
	if b.total == 0 {
		return nil
	}
	n.block = block{}
	rest := b.at + b.total - 4 - r.in.offset()
	if done := r.in.skip(rest); done < rest {
		return r.short(b.at, "the block", int(b.total), int(b.total-4-rest+done))
	}
	tail := r.in.peek(4)
	if len(tail) < 4 {
		return r.short(b.at, "the block", int(b.total), int(b.total)-4+len(tail))
	}
	if length := int64(n.uint32(tail)); length != b.total {
		return r.fault(b.at, BadBlock, fmt.Sprintf("the block begins with length %d and ends with %d", b.total, length))
	}
	r.in.skip(4)
	return nil
}

// uint32 reads a number in the section's byte order.
func (n *ng) uint32(b []byte) uint32 {
	v := leUint32(b)
	if n.swapped {
		return bits.ReverseBytes32(v)
	}
	return v
}

// uint16 reads a number in the section's byte order.
func (n *ng) uint16(b []byte) uint16 {
	if n.swapped {
		return uint16(b[0])<<8 | uint16(b[1])
	}
	return uint16(b[1])<<8 | uint16(b[0])
}
