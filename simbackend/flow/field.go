package flow

import (
	"math/bits"

	of "hpnn/datapath/openflow"
)

// place is where a Key keeps a field: width bits of a word, the lowest being bit shift. A
// field of 128 bits has two whole words, the high one first. width may be less than the
// field's: OVS keeps 8 bits of arp_op and of ct_state.
type place struct{ word, shift, width uint8 }

func (p place) ones() uint64 { return 1<<p.width - 1 }

// places is the layout of a Key. VLANVID and VLANPCP are here for reading; writing them goes
// through vlan.go.
var places = [...]place{
	of.PktMark:   {wordMark, 32, 32},
	of.CTState:   {wordCT, 56, 8},
	of.CTZone:    {wordCT, 32, 16},
	of.CTMark:    {wordMark, 0, 32},
	of.CTLabel:   {wordCTLabel, 0, 128},
	of.CTNwSrc:   {wordCTv4, 32, 32},
	of.CTIPv6Src: {wordCTv6, 0, 128},
	of.CTNwDst:   {wordCTv4, 0, 32},
	of.CTIPv6Dst: {wordCTv6 + 2, 0, 128},
	of.CTNwProto: {wordCT, 48, 8},
	of.CTTpSrc:   {wordCT, 16, 16},
	of.CTTpDst:   {wordCT, 0, 16},

	of.Reg0: {0, 32, 32}, of.Reg1: {0, 0, 32}, of.Reg2: {1, 32, 32}, of.Reg3: {1, 0, 32},
	of.Reg4: {2, 32, 32}, of.Reg5: {2, 0, 32}, of.Reg6: {3, 32, 32}, of.Reg7: {3, 0, 32},
	of.Reg8: {4, 32, 32}, of.Reg9: {4, 0, 32}, of.Reg10: {5, 32, 32}, of.Reg11: {5, 0, 32},
	of.Reg12: {6, 32, 32}, of.Reg13: {6, 0, 32}, of.Reg14: {7, 32, 32}, of.Reg15: {7, 0, 32},

	of.TunID:    {wordTun, 0, 64},
	of.Metadata: {wordMeta, 0, 64},
	of.InPort:   {wordL2, shiftInPort, 16},
	of.VLANTCI:  {wordL2, shiftTCI, 16},
	of.EthSrc:   {wordSrc, 0, 48},
	of.EthDst:   {wordDst, 0, 48},
	of.EthType:  {wordL2, shiftType, 16},

	of.IPSrc:     {wordIPv4, 32, 32},
	of.IPDst:     {wordIPv4, 0, 32},
	of.IPv6Src:   {wordIPv6, 0, 128},
	of.IPv6Dst:   {wordIPv6 + 2, 0, 128},
	of.IPv6Label: {wordLabel, 32, 20},
	of.ARPSpa:    {wordIPv4, 32, 32},
	of.ARPTpa:    {wordIPv4, 0, 32},
	of.IPProto:   {wordL2, shiftProto, 8},
	of.ARPOp:     {wordL2, shiftProto, 8},
	of.ARPSha:    {wordSHA, 0, 48},
	of.ARPTha:    {wordTHA, 0, 48},
	of.IPDSCP:    {wordL4, shiftTOS + 2, 6},
	of.IPECN:     {wordL4, shiftTOS, 2},
	of.IPTTL:     {wordL4, shiftTTL, 8},
	of.IPFrag:    {wordL2, 0, 2},

	of.ICMPType:   {wordL4, shiftTpSrc, 8},
	of.ICMPCode:   {wordL4, shiftTpDst, 8},
	of.ICMPv6Type: {wordL4, shiftTpSrc, 8},
	of.ICMPv6Code: {wordL4, shiftTpDst, 8},
	of.NDTarget:   {wordND, 0, 128},
	of.NDSll:      {wordSHA, 0, 48},
	of.NDTll:      {wordTHA, 0, 48},
	of.TCPSrc:     {wordL4, shiftTpSrc, 16},
	of.TCPDst:     {wordL4, shiftTpDst, 16},
	of.TCPFlags:   {wordL4, 0, 12},
	of.UDPSrc:     {wordL4, shiftTpSrc, 16},
	of.UDPDst:     {wordL4, shiftTpDst, 16},
	of.SCTPSrc:    {wordL4, shiftTpSrc, 16},
	of.SCTPDst:    {wordL4, shiftTpDst, 16},

	of.VLANVID: {wordL2, shiftTCI, 12},
	of.VLANPCP: {wordL2, shiftTCI + 13, 3},
	of.XReg0:   {0, 0, 64}, of.XReg1: {1, 0, 64}, of.XReg2: {2, 0, 64}, of.XReg3: {3, 0, 64},
	of.XReg4: {4, 0, 64}, of.XReg5: {5, 0, 64}, of.XReg6: {6, 0, 64}, of.XReg7: {7, 0, 64},
	of.XXReg0: {0, 0, 128}, of.XXReg1: {2, 0, 128}, of.XXReg2: {4, 0, 128}, of.XXReg3: {6, 0, 128},
}

// Get is the value of f, 0 for FieldNone.
func (k *Key) Get(f of.Field) of.Value {
	p := places[f]
	if p.width == 128 {
		return of.Value{Hi: k[p.word], Lo: k[p.word+1]}
	}
	return of.Value{Lo: k[p.word] >> p.shift & p.ones()}
}

// Set makes f exactly v. Bits of v beyond what a Key keeps of f are lost.
func (k *Key) Set(f of.Field, v of.Value) {
	k.SetMasked(f, v, of.Value{Hi: ^uint64(0), Lo: ^uint64(0)})
}

// SetMasked makes the bits of f under mask those of v. Writing VLAN fields may put a tag on
// the frame or take it off: see PushVLAN.
func (k *Key) SetMasked(f of.Field, v, mask of.Value) {
	s := NewStore(of.SetField{Field: f, Value: v, Mask: mask})
	s.Apply(k)
}

// GetSub is the value of a subfield, its lowest bit as bit 0.
func (k *Key) GetSub(s of.Subfield) of.Value {
	v := k.Get(s.Field)
	if v.Hi == 0 && s.Width < 64 {
		return of.Value{Lo: v.Lo >> s.Offset & (1<<s.Width - 1)}
	}
	return v.Shr(int(s.Offset)).And(of.Ones(int(s.Width)))
}

// SetSub makes a subfield v, whose lowest bit is bit 0.
func (k *Key) SetSub(s of.Subfield, v of.Value) { k.SetMasked(s.Field, v.Shl(int(s.Offset)), s.Mask()) }

// Store is a masked write to one field, worked out in advance: word w becomes
// k[w]&^mask | value, for one word or two.
type Store struct {
	field  of.Field
	n      uint8 // words written, 0 to 2
	word   [2]uint8
	value  [2]uint64
	mask   [2]uint64
	fixTag bool // the field is part of the VLAN tag
}

// NewStore works out a SetField. Whether the frame has the field is for the caller to ask of
// Present when the frame is there.
func NewStore(a of.SetField) Store {
	p := places[a.Field]
	s := Store{field: a.Field}
	switch {
	case p.width == 128:
		s.add(p.word, a.Value.Hi, a.Mask.Hi)
		s.add(p.word+1, a.Value.Lo, a.Mask.Lo)
	case partOfTag(a.Field):
		s.fixTag = true
		value, mask := tagBits(a)
		s.add(p.word, value<<shiftTCI, mask<<shiftTCI)
	default:
		s.add(p.word, a.Value.Lo&p.ones()<<p.shift, a.Mask.Lo&p.ones()<<p.shift)
	}
	return s
}

func (s *Store) add(word uint8, value, mask uint64) {
	if mask == 0 {
		return
	}
	s.word[s.n], s.value[s.n], s.mask[s.n] = word, value&mask, mask
	s.n++
}

// Field is the field that s writes.
func (s *Store) Field() of.Field { return s.field }

// Apply writes to k.
func (s *Store) Apply(k *Key) {
	for i := range s.n {
		w := s.word[i]
		k[w] = k[w]&^s.mask[i] | s.value[i]
	}
	if s.fixTag {
		k.fixTPID()
	}
}

// AddTo adds the bits that s writes to a mask.
func (s *Store) AddTo(mask *Key) {
	for i := range s.n {
		mask[s.word[i]] |= s.mask[i]
	}
}

// Mask is the bits of a Key that hold f.
func Mask(f of.Field) (m Key) {
	p := places[f]
	switch p.width {
	case 0:
	case 128:
		m[p.word], m[p.word+1] = ^uint64(0), ^uint64(0)
	default:
		m[p.word] = p.ones() << p.shift
	}
	return m
}

// Compile turns a match into a value and a mask: a frame k satisfies it if
// k[i]&mask[i] == value[i] for every word i.
func Compile(m of.Match) (value, mask Key) {
	CompileTo(m, &value, &mask)
	return value, mask
}

// CompileTo is Compile into Keys of the caller's that are zero.
func CompileTo(m of.Match, value, mask *Key) {
	terms := m.Terms()
	for i := range terms {
		t := &terms[i]
		p := places[t.Field]
		if p.width == 128 {
			value[p.word], value[p.word+1] = value[p.word]|t.Value.Hi, value[p.word+1]|t.Value.Lo
			mask[p.word], mask[p.word+1] = mask[p.word]|t.Mask.Hi, mask[p.word+1]|t.Mask.Lo
			continue
		}
		value[p.word] |= t.Value.Lo & p.ones() << p.shift
		mask[p.word] |= t.Mask.Lo & p.ones() << p.shift
	}
}

// Used is the set of words of a mask that are not 0, word i as bit i.
func (k *Key) Used() uint64 {
	var used uint64
	for i, w := range k {
		if w != 0 {
			used |= 1 << i
		}
	}
	return used
}

// UsedWords lists the words of a mask that are not 0, in ascending order.
func (k *Key) UsedWords() []uint8 {
	words := make([]uint8, 0, 8)
	for used := k.Used(); used != 0; used &= used - 1 {
		words = append(words, uint8(bits.TrailingZeros64(used)))
	}
	return words
}
