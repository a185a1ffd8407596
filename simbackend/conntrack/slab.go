package conntrack

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
)

// slab holds the connections, in chunks that never move and hold no pointers, so that neither the
// allocator nor the collector of garbage has much to do with a million of them.
type slab struct {
	chunks []*[chunkSize]conn
	live   []uint64 // a bit for each number, set if a connection has it
	count  int
	seq    uint64   // that the newest was given
	next   uint32   // number of the next that was never used; the first is 1
	free   []uint32 // numbers of those that were removed
}

const chunkSize = 256

func (s *slab) at(id uint32) *conn { return &s.chunks[id/chunkSize][id%chunkSize] }

// put makes a connection of an original tuple, the last in the order, and gives it a number, that of a removed one if
// there is any. No packet refers to that one any more: fragments that wait refer to none, and no other packet outlives a
// change by Expire or Flush.
func (s *slab) put(orig *key) *conn {
	id := s.next + 1
	if last := len(s.free) - 1; last >= 0 {
		id, s.free = s.free[last], s.free[:last]
	} else {
		s.next = id
		if int(id/chunkSize) >= len(s.chunks) {
			s.chunks = append(s.chunks, new([chunkSize]conn))
			s.live = append(s.live, make([]uint64, chunkSize/64)...)
		}
	}
	s.seq++
	s.count++
	s.live[id/64] |= 1 << (id % 64)
	c := s.at(id)
	*c = conn{}
	c.src, c.dst, c.zone, c.proto = orig.src, orig.dst, orig.zone, orig.proto
	c.id, c.seq, c.due = id, s.seq, never
	return c
}

// drop gives the number of a connection back. What it holds stays until it is used again, but for its place in the order.
func (s *slab) drop(c *conn) {
	s.count--
	s.live[c.id/64] &^= 1 << (c.id % 64)
	s.free = append(s.free, c.id)
	c.seq = 0
}

// inOrder gives the connections in the order of insertion. Those that are removed meanwhile must be ones it has given.
func (s *slab) inOrder() iter.Seq[*conn] {
	type numbered struct {
		seq uint64
		id  uint32
	}
	all := make([]numbered, 0, s.count)
	for i, word := range s.live {
		for ; word != 0; word &= word - 1 {
			id := uint32(i*64 + bits.TrailingZeros64(word))
			all = append(all, numbered{s.at(id).seq, id})
		}
	}
	slices.SortFunc(all, func(a, b numbered) int { return cmp.Compare(a.seq, b.seq) })
	return func(yield func(*conn) bool) {
		for _, n := range all {
			if !yield(s.at(n.id)) {
				return
			}
		}
	}
}
