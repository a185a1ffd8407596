package conntrack

import "time"

// Filter selects entries as ovs-ofctl ct-flush does: Proto and each field of the two
// tuples that is not zero must agree. The tuples' own Proto does not count.
//
// Two habits of ct-flush are kept. With all addresses and ports of Orig and nothing of
// Reply it flushes the one entry found by that tuple, in zone 0 if no zone is given.
// With Proto ICMP the identifiers, types and codes of both tuples are always compared.
type Filter struct {
	Zone        uint16
	AnyZone     bool // Zone does not matter
	Proto       uint8
	Orig, Reply Tuple
}

// Flush removes the entries that match and returns how many. The filter of AnyZone
// alone, or of a zone alone, removes expired ones too.
func (t *Table) Flush(now time.Duration, f Filter) int {
	f.Orig.Proto, f.Reply.Proto = 0, 0
	all := f.Proto == 0 && f.Orig == Tuple{} && f.Reply == Tuple{}
	if !all && f.exact() {
		return t.flushOne(millis(now), f)
	}
	before := t.conns.count
	for c := range t.conns.inOrder() {
		if f.zoneMatches(c) && (all || !c.expired(millis(now)) && f.matches(c)) {
			t.remove(c)
		}
	}
	return before - t.conns.count
}

// exact: Orig is complete and Reply empty.
func (f *Filter) exact() bool {
	icmp := f.Proto == protoICMP || f.Proto == protoICMPv6
	ports := icmp || f.Orig.SrcPort != 0 && f.Orig.DstPort != 0
	none := icmp || f.Reply.SrcPort == 0 && f.Reply.DstPort == 0
	return f.Orig.Src != [4]byte{} && f.Orig.Dst != [4]byte{} && ports &&
		f.Reply.Src == [4]byte{} && f.Reply.Dst == [4]byte{} && none
}

// flushOne removes the entry a packet with that tuple would find, unless it finds a
// translated connection by its reply tuple.
func (t *Table) flushOne(now int64, f Filter) int {
	f.Orig.Proto = f.Proto
	zone := f.Zone
	if f.AnyZone {
		zone = 0
	}
	k, ok := keyOf(f.Orig, zone)
	if !ok {
		return 0
	}
	found, _ := t.index.find(&t.conns, &k, k.hash(), now)
	if found.conn == nil || found.second {
		return 0
	}
	t.remove(found.conn)
	return 1
}

func (f *Filter) zoneMatches(c *conn) bool { return f.AnyZone || f.Zone == c.zone }

func (f *Filter) matches(c *conn) bool {
	orig, reply := c.orig(), c.reply()
	return (f.Proto == 0 || f.Proto == c.proto) &&
		f.Orig.partOf(orig.tuple(), f.Proto) && f.Reply.partOf(reply.tuple(), f.Proto)
}

// partOf tells whether t agrees with whole in every field that t gives.
func (t Tuple) partOf(whole Tuple, proto uint8) bool {
	if t.Src != [4]byte{} && t.Src != whole.Src || t.Dst != [4]byte{} && t.Dst != whole.Dst {
		return false
	}
	if proto == protoICMP || proto == protoICMPv6 {
		return t.ID == whole.ID && t.SrcPort == whole.SrcPort && t.DstPort == whole.DstPort
	}
	return (t.SrcPort == 0 || t.SrcPort == whole.SrcPort) && (t.DstPort == 0 || t.DstPort == whole.DstPort)
}

// FlushFunc removes the entries that the caller chooses, expired ones among them, and
// returns how many. The Timeout of what it is shown means nothing.
func (t *Table) FlushFunc(choose func(Conn) bool) int {
	before := t.conns.count
	for c := range t.conns.inOrder() {
		if choose(c.public(0)) {
			t.remove(c)
		}
	}
	return before - t.conns.count
}
