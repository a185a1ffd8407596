package flow

// Lines writes lines as AppendPass does, one after the other. What a line has in common with the one before is
// copied from there. The zero Lines is ready.
type Lines struct {
	key    Key
	recirc uint32
	text   []byte      // the line before
	parts  [parts]part // of it
	shown  Key         // room
}

// part is a part of a line, without the commas around it.
type part struct{ from, to int32 }

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
	ordinary, start := k.ordinary(), len(b)
	for i := range l.parts {
		if len(b) > start {
			b = append(b, ',')
		}
		from, done := len(b), false
		if changed&sources[i] == 0 {
			old := l.parts[i]
			b, done = append(b, l.text[old.from:old.to]...), true
		} else if ordinary {
			b, done = k.appendOrdinary(b, i, recirc)
		}
		if !done {
			b = l.appendAny(b, i, k, recirc)
		}
		if len(b) > from {
			l.parts[i] = part{int32(from - start), int32(len(b) - start)}
			continue
		}
		l.parts[i] = part{}
		if from > start {
			b = b[:from-1] // no comma is needed
		}
	}
	l.text = append(l.text[:0], b[start:]...)
	l.key, l.recirc = *k, recirc
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
	l.key, l.recirc, l.parts = o.key, o.recirc, o.parts
	l.text = append(l.text[:0], o.text...)
}
