package conntrack

// node puts a connection into the index under one of its tuples. A connection has a
// node for the original tuple, which answers for the reverse of it too, and, if it is
// translated, a second one for the reply tuple.
type node struct {
	conn  *conn
	next  *node // in the same bucket, older
	hash  uint64
	reply bool // this is the second one
}

// key is the tuple the node stands under; back is the connection's other one.
func (n *node) key() *key {
	if n.reply {
		return &n.conn.reply
	}
	return &n.conn.orig
}

func (n *node) back() *key {
	if n.reply {
		return &n.conn.orig
	}
	return &n.conn.reply
}

// index finds nodes by key. Nodes of one hash are found newest first, as in OVS.
type index struct {
	buckets []*node // a power of two
	nodes   int
}

const minBuckets = 64

// find gives the first node that stands under k, or whose connection's other tuple is k
// (back is true then). Expired connections are passed over, but the second node of a
// translated one is found until the entry is removed.
func (x *index) find(k *key, hash uint64, now int64) (n *node, back bool) {
	if len(x.buckets) == 0 {
		return nil, false
	}
	for n = x.buckets[hash&uint64(len(x.buckets)-1)]; n != nil; n = n.next {
		if n.hash != hash || !n.reply && n.conn.expired(now) {
			continue
		}
		if *n.key() == *k {
			return n, false
		}
		if *n.back() == *k {
			return n, true
		}
	}
	return nil, false
}

func (x *index) insert(n *node) {
	bucket := &x.buckets[n.hash&uint64(len(x.buckets)-1)]
	n.next, *bucket = *bucket, n
	x.nodes++
}

func (x *index) remove(n *node) {
	at := &x.buckets[n.hash&uint64(len(x.buckets)-1)]
	for *at != n {
		if *at == nil {
			panic("conntrack: node is not in its bucket")
		}
		at = &(*at).next
	}
	*at = n.next
	x.nodes--
}

// full tells that two more nodes want a larger index.
func (x *index) full() bool { return x.nodes+2 > len(x.buckets) }

// resize starts an empty index; its owner inserts every node again, oldest first.
func (x *index) resize(buckets int) {
	x.buckets = make([]*node, buckets)
	x.nodes = 0
}
