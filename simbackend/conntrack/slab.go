package conntrack

// slab holds the connections, in chunks that never move and hold no pointers, so that neither the
// allocator nor the collector of garbage has much to do with a million of them.
type slab struct {
	chunks []*[chunkSize]conn
	next   uint32   // number of the next that was never used; the first is 1
	free   []uint32 // numbers of those that were removed
}

const chunkSize = 256

func (s *slab) at(id uint32) *conn { return &s.chunks[id/chunkSize][id%chunkSize] }

// put stores a connection and gives it a number, that of a removed one if there is any.
func (s *slab) put(c conn) *conn {
	if last := len(s.free) - 1; last >= 0 {
		c.id = s.free[last]
		s.free = s.free[:last]
	} else {
		s.next++
		c.id = s.next
		if int(c.id/chunkSize) == len(s.chunks) {
			s.chunks = append(s.chunks, new([chunkSize]conn))
		}
	}
	at := s.at(c.id)
	*at = c
	return at
}

// drop gives the number of a connection back. What it holds stays until it is used again.
func (s *slab) drop(c *conn) { s.free = append(s.free, c.id) }
