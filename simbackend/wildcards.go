package simbackend

import (
	"math/bits"

	"hpnn/datapath/openflow"
	"hpnn/simbackend/flow"
)

// wildcards is what a pass has looked at of the fields that its frame began with. A frame that agrees in those
// comes to the same, whatever it has in the others.
type wildcards struct {
	before  flow.Key // the fields at the beginning
	mask    flow.Key // the bits of them that were looked at
	written flow.Key // the bits that hold something else by now, which follows from what was looked at
	choice  *flow.Choice

	untracked bool // the frame comes from no ct()
}

// reset begins a pass with the fields k.
func (w *wildcards) reset(k *flow.Key) {
	*w = wildcards{before: *k, mask: flow.Alike()}
}

// see notes that some bits of a word were looked at.
func (w *wildcards) see(word uint8, mask uint64) { w.mask[word] |= mask &^ w.written[word] }

func (w *wildcards) seeAll(mask *flow.Key) {
	for i, m := range mask {
		w.see(uint8(i), m)
	}
}

func (w *wildcards) read(r *flow.Ref) {
	var m flow.Key
	r.AddTo(&m)
	w.seeAll(&m)
}

// write notes that bits are overwritten. Whether a frame must be rewritten depends on what they were, and what is
// written then is whole fields.
func (w *wildcards) write(mask *flow.Key) {
	whole := *mask
	flow.WholeFields(&whole, &w.before)
	w.seeAll(&whole)
	for i, m := range mask {
		w.written[i] |= m
	}
}

func (w *wildcards) writeRef(r *flow.Ref) {
	var m flow.Key
	r.AddTo(&m)
	w.write(&m)
}

// untrack notes that nothing is left of what the tracker found.
func (w *wildcards) untrack() {
	m := flow.ConnectionMask()
	for i := range m {
		w.written[i] |= m[i]
	}
}

// aside begins something whose writing is undone by what it returns.
func (w *wildcards) aside() (undo func()) {
	written := w.written
	return func() { w.written = written }
}

// act notes what an action looks at and writes. What fields a frame has, and its in_port, is looked at always
// (flow.Alike). Actions after which a pass cannot be remembered are left out.
func (w *wildcards) act(o *op, k *flow.Key) {
	switch o.code {
	case opOutputField, opPush:
		w.read(&o.src)
	case opPop:
		w.writeRef(&o.dst)
	case opSet, opStore:
		var m flow.Key
		o.store.AddTo(&m)
		w.write(&m)
	case opMove, opCopy:
		w.read(&o.src)
		w.writeRef(&o.dst)
	case opMultipath:
		w.choose(o, k)
		w.writeRef(&o.dst)
	case opDecTTL:
		m := flow.Mask(openflow.IPTTL)
		w.write(&m)
	case opCT:
		w.read(&o.more.ct.zone)
		for i := range o.more.ct.exec.ops {
			w.act(&o.more.ct.exec.ops[i], k)
		}
	case opLearn:
		w.learn(&o.more.learn)
	}
}

// choose notes a multipath. The link that the first of a pass chooses is as good as a field: it can be worked out
// for other frames. For the others, the fields are what was looked at.
func (w *wildcards) choose(o *op, k *flow.Key) {
	if w.choice == nil {
		if c, ok := flow.NewChoice(o.more.multipath, &w.before, k, &w.written); ok {
			w.choice = &c
			return
		}
	}
	m := flow.HashedBy()
	w.seeAll(&m)
}

// learn notes the fields that a learned flow is made of.
func (w *wildcards) learn(c *learnCode) {
	see := func(s openflow.Subfield) {
		r := flow.NewRef(s)
		w.read(&r)
	}
	for _, s := range c.action.Specs {
		switch s := s.(type) {
		case openflow.LearnMatchField:
			see(s.Src)
		case openflow.LearnLoadField:
			see(s.Src)
		case openflow.LearnOutput:
			see(s.Src)
		}
	}
	r := flow.NewRef(c.action.ResultDst)
	w.writeRef(&r)
}

// lookupSeen is lookup, and notes in w what of k the result depends on.
func (c *classifier) lookupSeen(k *flow.Key, w *wildcards) *rule {
	var best *rule
	for i := range c.probes {
		p := &c.probes[i]
		if best != nil && best.priority > p.highest {
			break
		}
		r := p.find(k)
		if r == nil {
			p.refute(k, w)
			continue
		}
		for _, m := range p.words {
			w.see(m.word, m.mask)
		}
		if best == nil || r.beats(best) {
			best = r
		}
	}
	return best
}

// mostRefuted bounds how many values of a subtable are refuted one by one.
const mostRefuted = 128

// refute notes bits that suffice to tell that no rule of the subtable matches k: as few as are easily found, so
// that many frames come to the same.
func (s *subtable) refute(k *flow.Key, w *wildcards) {
	var d difference
	for i, m := range s.words {
		if d.look(k, m.word, s.shared[i].value, s.shared[i].mask, w) {
			return
		}
	}
	if d.note(w) {
		return
	}
	if s.used > mostRefuted {
		for _, m := range s.words {
			w.see(m.word, m.mask)
		}
		return
	}
	for i := range s.buckets {
		if r := s.buckets[i].head; r != nil {
			s.refuteValue(r.value, k, w)
		}
	}
}

func (s *subtable) refuteValue(value []uint64, k *flow.Key, w *wildcards) {
	var d difference
	for i, m := range s.words {
		if d.look(k, m.word, value[i], m.mask, w) {
			return
		}
	}
	d.note(w)
}

// difference is a bit in which a key is unlike a value; none if it is zero.
type difference struct {
	word uint8
	bit  uint64
}

// look compares a word, and reports whether it differs in what was looked at already. Of other bits the highest is
// preferred, for addresses have prefixes.
func (d *difference) look(k *flow.Key, word uint8, value, mask uint64, w *wildcards) (known bool) {
	bits := (k[word] ^ value) & mask
	if bits&(w.mask[word]|w.written[word]) != 0 {
		return true
	}
	if bits != 0 && d.bit == 0 {
		*d = difference{word, highest(bits)}
	}
	return false
}

// note notes the difference, if there is one.
func (d *difference) note(w *wildcards) bool {
	if d.bit != 0 {
		w.see(d.word, d.bit)
	}
	return d.bit != 0
}

func highest(v uint64) uint64 { return 1 << (bits.Len64(v) - 1) }
