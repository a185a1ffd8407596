package flow

// Lines writes lines as AppendPass does, one after the other. What a line has in common with the one before is
// copied from there. The zero Lines is ready.
type Lines struct {
	key    Key
	recirc uint32
	text   []byte     // the line before
	ends   [parts]int // where its parts end; each begins with the comma before it
	shown  Key        // room
}

// Parts of a line.
const (
	partMeta = iota
	partKeyword
	partRegs
	partPort
	partEther
	partAddresses
	partIP
	partTransport
	parts
)

// hopBits are the part of wordL4 that partIP is about, the rest is of partTransport.
const hopBits = 0xff<<shiftTOS | 0xff<<shiftTTL

// Bits beside those of words for the two parts of wordL4, and the recirculation id.
const (
	changedHop = 1 << (Words + iota)
	changedTransport
	changedRecirc
)

// sources is what each part is made of: a bit for each word.
var sources = [parts]uint64{
	partMeta:      1<<wordL2 | 0x1ff<<wordMark | changedRecirc,
	partKeyword:   1<<wordL2 | changedRecirc,
	partRegs:      0x3ff << wordReg,
	partPort:      1<<wordL2 | 1<<wordTags,
	partEther:     1<<wordL2 | 1<<wordDst | 1<<wordSrc,
	partAddresses: 1<<wordL2 | 0x1f<<wordIPv4 | 1<<wordLabel,
	partIP:        1<<wordL2 | 1<<wordSHA | 1<<wordTHA | 3<<wordND | changedHop | changedTransport,
	partTransport: 1<<wordL2 | 1<<wordSHA | 1<<wordTHA | 3<<wordND | changedTransport,
}

// changed is the bits of what is not as it was in the line before.
func (l *Lines) changed(k *Key, recirc uint32) uint64 {
	changed := k.Changed(&l.key)
	if both := k[wordL4] ^ l.key[wordL4]; both != 0 {
		if both&hopBits != 0 {
			changed |= changedHop
		}
		if both&^hopBits != 0 {
			changed |= changedTransport
		}
	}
	if recirc != l.recirc {
		changed |= changedRecirc
	}
	return changed
}

// Append appends the line of k, as AppendPass does.
func (l *Lines) Append(b []byte, k *Key, recirc uint32) []byte {
	changed := ^uint64(0)
	if len(l.text) > 0 {
		changed = l.changed(k, recirc)
	}
	start, old := len(b), 0
	for i := 0; i < parts; {
		if from := i; changed&sources[i] == 0 {
			for i++; i < parts && changed&sources[i] == 0; i++ {
			}
			b, old = l.repeat(b, start, old, from, i)
			continue
		}
		b = l.write(b, start, i, k, recirc)
		l.ends[i], old = len(b)-start, l.ends[i]
		i++
	}
	l.text = append(l.text[:0], b[start:]...)
	l.key, l.recirc = *k, recirc
	return b
}

// repeat appends parts of the line before, from one on up to another, the first of which begins at old there. It
// returns where the last ends there.
func (l *Lines) repeat(b []byte, start, old, from, to int) (_ []byte, end int) {
	end = l.ends[to-1]
	none := len(b) - start
	if copied := l.text[old:end]; len(copied) > 0 {
		switch comma := copied[0] == ','; {
		case comma && len(b) == start:
			copied = copied[1:]
		case !comma && len(b) > start:
			b = append(b, ',')
		}
		b = append(b, copied...)
	}
	moved := len(b) - start - end
	for i := from; i < to; i++ {
		if l.ends[i] > old {
			l.ends[i] += moved
		} else {
			l.ends[i] = none
		}
	}
	return b, end
}

// write appends a part, and the comma before it.
func (l *Lines) write(b []byte, start, i int, k *Key, recirc uint32) []byte {
	before := len(b)
	if before > start {
		b = append(b, ',')
	}
	from := len(b)
	written := false
	if k.ordinary() {
		b, written = k.appendOrdinary(b, i, recirc)
	}
	if !written {
		b = l.appendAny(b, i, k, recirc)
	}
	if len(b) == from {
		return b[:before]
	}
	return b
}

// appendAny appends a part of any line, as AppendPass does.
func (l *Lines) appendAny(b []byte, i int, k *Key, recirc uint32) []byte {
	l.shown = k.shown()
	t := text{k: k, m: &l.shown, b: b, start: len(b)}
	word, saysType, saysProto := t.keyword()
	switch i {
	case partMeta:
		t.metadata(recirc, recirc != 0)
	case partKeyword:
		if recirc != 0 {
			t.add("eth")
		}
		t.add(word)
	case partRegs:
		t.registers()
	case partPort:
		t.port()
		t.tags()
	case partEther:
		t.ether(saysType)
	case partAddresses:
		t.addresses()
	case partIP:
		t.network(saysProto)
	case partTransport:
		t.transport()
	}
	return t.b
}

// Follow makes the line before that of o.
func (l *Lines) Follow(o *Lines) {
	l.key, l.recirc, l.ends = o.key, o.recirc, o.ends
	l.text = append(l.text[:0], o.text...)
}
