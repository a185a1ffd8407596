package conntrack

import (
	"bytes"
	"encoding/binary"
	"slices"

	"hpnn/internal/packet"
)

// Fragments wait in ct() until their datagram is complete. The whole is then tracked,
// and what was found and rewritten is passed on to the fragments, which continue one by
// one, ordered by offset. What never becomes complete leaves as invalid.

const (
	defaultMinFragment = 1200 // bytes; shorter ones cannot hide a header from the tracker
	maxFragments       = 1000 // waiting at a time
	maxPerDatagram     = 58   // that many of the smallest size make the largest datagram
	maxDatagram        = 65535
	maxBurst           = 32 // packets one ct() lets go on

	fragmentTimeout int64 = 15_000 // ms; after that a datagram is given up
	fragmentPurge   int64 = 10_000 // ms more; after that nobody will take it
)

// fragmentKey is what fragments of a datagram have in common (RFC 791), and the place
// in the pipeline where they wait.
type fragmentKey struct {
	src, dst [4]byte
	recirc   uint32
	id, zone uint16
	proto    uint8
}

// fragment is one that waits, and the bytes of the datagram it holds.
type fragment struct {
	packet      Packet
	first, last uint16
}

type datagramState uint8

const (
	collecting datagramState = iota
	complete
	failed // complete, but not a possible datagram
)

// datagram collects fragments.
type datagram struct {
	key               fragmentKey
	fragments         []fragment
	haveHead, haveEnd bool
	state             datagramState
	expires           int64
	joined            []byte // if complete
	released          int    // fragments that have gone on
}

// fragments is the waiting room.
type fragments struct {
	byKey    map[fragmentKey]*datagram
	pending  []*datagram // not complete, oldest first
	finished []*datagram // complete, and not all released
	count    int         // fragments that wait
	aborts   int
}

// Idle reports whether the table holds no fragments. Then no packet that is whole is held or releases
// others: the Outcome of its Execute is the zero value.
func (t *Table) Idle() bool { return t.waiting.idle() }

// WaitingBehind is the number of fragments that are held in a later pass than the first. ovs-vswitchd knows a place behind
// a recirculation again only as long as a flow in its datapath leads there: where it keeps none, fragments of
// different frames never meet there.
func (t *Table) WaitingBehind() (n int) {
	for k, d := range t.waiting.byKey {
		if k.recirc != 0 {
			n += len(d.fragments)
		}
	}
	return n
}

func (w *fragments) idle() bool { return len(w.byKey) == 0 }

// MaybeFragment reports whether p looks like a fragment of an IPv4 packet, sound or not. Only then its
// Recirc matters.
func (p *Packet) MaybeFragment() bool {
	return p.EtherType == etherIPv4 && p.L3 > 0 && len(p.Frame)-p.L3 >= ipHeader &&
		packet.Word(p.Frame, p.L3+6)&0x3fff != 0
}

// executeFragments runs ct() on packets when fragments are about: they themselves may be some, may
// complete datagrams, and let go what has waited too long.
func (t *Table) executeFragments(now int64, packets []*Packet, r *Request) (held []bool, released []Packet) {
	w := &t.waiting
	held = make([]bool, len(packets))
	room := maxBurst
	var ready []*datagram
	for i, p := range packets {
		var d *datagram
		if p.MaybeFragment() {
			d, held[i] = w.accept(now, p, r.Zone, t.config.MinFragment)
		}
		if d != nil && d.state == complete {
			ready = append(ready, d)
		}
		if !held[i] {
			room--
		}
	}
	for i, p := range packets {
		if !held[i] {
			t.track(now, p, r, nil)
		}
	}
	for _, d := range ready {
		t.trackDatagram(now, d, r)
		w.finished = append(w.finished, d)
	}
	return held, w.release(now, room)
}

// accept takes p into the waiting room. It returns the datagram it went to and whether
// it is held there; if not, p continues, as invalid.
func (w *fragments) accept(now int64, p *Packet, zone uint16, minSize int) (*datagram, bool) {
	v, ok := p.view()
	if !ok || !v.soundFragment(minSize) {
		p.Meta.State = StateInv
		return nil, false
	}
	if w.count >= maxFragments {
		return nil, false
	}
	d := w.datagram(now, v.fragmentKey(p.Recirc, zone))
	if d.state != collecting || len(d.fragments) >= maxPerDatagram {
		return nil, false
	}
	f := v.newFragment(p)
	if d.overlaps(f) {
		p.Meta.State = StateInv
		return nil, false
	}
	d.add(f)
	w.count++
	if d.whole() {
		w.finish(d)
	}
	return d, true
}

// soundFragment tells whether the header is right and the packet long enough; the last of
// a datagram may be short.
func (v *view) soundFragment(minSize int) bool {
	word := packet.Word(v.frame, v.l3+6)
	last := word&0x2000 == 0 && word&0x1fff != 0
	return packet.Checksum(v.header()) == 0 && (last || v.end-v.l3 >= minSize)
}

func (v *view) fragmentKey(recirc uint32, zone uint16) fragmentKey {
	k := fragmentKey{recirc: recirc, id: packet.Word(v.frame, v.l3+4), zone: zone, proto: v.proto()}
	k.src, k.dst = v.addrs()
	return k
}

// newFragment copies p: its frame goes on being the caller's.
func (v *view) newFragment(p *Packet) fragment {
	f := fragment{packet: *p}
	f.packet.Frame = bytes.Clone(p.Frame)
	f.first = packet.Word(v.frame, v.l3+6) << 3
	f.last = f.first + uint16(len(v.payload())) - 1
	return f
}

func (w *fragments) datagram(now int64, k fragmentKey) *datagram {
	if d := w.byKey[k]; d != nil {
		return d
	}
	if w.byKey == nil {
		w.byKey = make(map[fragmentKey]*datagram)
	}
	d := &datagram{key: k, expires: now + fragmentTimeout}
	w.byKey[k] = d
	w.pending = append(w.pending, d)
	return d
}

// overlaps tells whether an end of f lies in a fragment that is there.
func (d *datagram) overlaps(f fragment) bool {
	for _, g := range d.fragments {
		if f.first >= g.first && f.first <= g.last || f.last >= g.first && f.last <= g.last {
			return true
		}
	}
	return false
}

func (d *datagram) add(f fragment) {
	d.fragments = append(d.fragments, f)
	word := packet.Word(f.packet.Frame, f.packet.L3+6)
	more, offset := word&0x2000 != 0, word&0x1fff
	d.haveHead = d.haveHead || more && offset == 0
	d.haveEnd = d.haveEnd || !more && offset != 0
}

// whole tells whether the fragments, once sorted, leave no gap.
func (d *datagram) whole() bool {
	if !d.haveHead || !d.haveEnd {
		return false
	}
	slices.SortStableFunc(d.fragments, func(a, b fragment) int { return int(a.first) - int(b.first) })
	for i, f := range d.fragments[1:] {
		if d.fragments[i].last+1 != f.first {
			return false
		}
	}
	return true
}

// finish puts the datagram together, if it is not too long to be one.
func (w *fragments) finish(d *datagram) {
	head := &d.fragments[0].packet
	v, _ := head.view()
	rest := int(d.fragments[len(d.fragments)-1].last) - int(d.fragments[1].first) + 1
	if rest < 0 || v.end-v.l3+rest > maxDatagram {
		d.state = failed
		if rest < 0 { // a number of OVS ran over, and with it a buffer
			w.aborts++
		}
		return
	}
	d.state = complete
	w.pending = slices.DeleteFunc(w.pending, func(o *datagram) bool { return o == d })
	d.joined = bytes.Clone(head.Frame[:v.end])
	for i := range d.fragments[1:] {
		fv, _ := d.fragments[i+1].packet.view()
		d.joined = append(d.joined, fv.payload()...)
	}
	unfragment(d.joined[v.l3:])
}

// unfragment turns the first fragment's header into the datagram's.
func unfragment(ip []byte) {
	mend := func(at int, to uint16) {
		put16(ip, 10, packet.Update16(packet.Word(ip, 10), packet.Word(ip, at), to))
		put16(ip, at, to)
	}
	mend(6, packet.Word(ip, 6)&^0x2000)
	mend(2, uint16(len(ip)))
}

// trackDatagram tracks the whole and passes on what came of it.
func (t *Table) trackDatagram(now int64, d *datagram, r *Request) {
	whole := d.fragments[0].packet
	whole.Frame = d.joined
	t.track(now, &whole, r, nil)
	from, _ := whole.view()
	for i := range d.fragments {
		p := &d.fragments[i].packet
		v, _ := p.view()
		if i == 0 {
			copy(v.payload(), from.payload())
		}
		v.copyAddrs(&from)
		p.Meta.inherit(&whole.Meta)
	}
}

// copyAddrs gives a fragment the addresses of its datagram.
func (v *view) copyAddrs(from *view) {
	h := v.header()
	for at := 12; at <= 16; at += 4 {
		addr := from.addr(at)
		put16(h, 10, packet.Update32(packet.Word(h, 10), v.addr(at), addr))
		binary.BigEndian.PutUint32(h[at:], addr)
	}
}

// inherit takes over all that a later ct() and the flow tables see.
func (m *Meta) inherit(from *Meta) {
	m.State, m.Zone, m.Mark, m.Label, m.Orig = from.State, from.Zone, from.Mark, from.Label, from.Orig
}

// release lets fragments go, as far as there is room: those of complete datagrams, then, as invalid, those
// of one datagram that has waited too long.
func (w *fragments) release(now int64, room int) []Packet {
	if w.idle() {
		return nil
	}
	var out []Packet
	for len(w.finished) > 0 {
		d := w.finished[0]
		if !w.send(now, d, &out, room) {
			return out
		}
		w.finished = slices.Delete(w.finished, 0, 1)
	}
	if len(w.pending) == 0 || now <= w.pending[0].expires {
		return out
	}
	d := w.pending[0]
	from := len(out)
	if w.send(now, d, &out, room) {
		w.pending = slices.Delete(w.pending, 0, 1)
	}
	for i := range out[from:] {
		out[from+i].Meta.State = StateInv
	}
	return out
}

// send appends d's fragments to out while there is room, and forgets d after the last.
// It returns whether that happened. A datagram that is far too old is dropped.
func (w *fragments) send(now int64, d *datagram, out *[]Packet, room int) bool {
	if w.tooOld(now, d) {
		w.forget(d)
		return true
	}
	for d.released < len(d.fragments) && len(*out) < room {
		*out = append(*out, d.fragments[d.released].packet)
		d.released++
		w.count--
	}
	if d.released < len(d.fragments) {
		return false
	}
	w.forget(d)
	return true
}

func (w *fragments) tooOld(now int64, d *datagram) bool { return now >= d.expires+fragmentPurge }

func (w *fragments) forget(d *datagram) {
	w.count -= len(d.fragments) - d.released
	delete(w.byKey, d.key)
}

// purge drops fragments that waited so long that nobody asks for them any more.
func (w *fragments) purge(now int64) {
	old := func(d *datagram) bool {
		if w.tooOld(now, d) {
			w.forget(d)
			return true
		}
		return false
	}
	w.pending = slices.DeleteFunc(w.pending, old)
	w.finished = slices.DeleteFunc(w.finished, old)
}
