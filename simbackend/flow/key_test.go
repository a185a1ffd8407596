package flow

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
)

func randomValue(r *rand.Rand) of.Value { return of.Value{Hi: r.Uint64(), Lo: r.Uint64()} }

// kept is the bits of a field that a Key keeps: OVS has 8 bits of arp_op and ct_state, which OpenFlow
// calls wider.
func kept(f of.Field) of.Value { return of.Ones(int(places[f].width)) }

func TestPlacesCoverEveryField(t *testing.T) {
	narrow := map[of.Field]uint8{of.ARPOp: 8, of.CTState: 8}
	for _, f := range of.Fields() {
		want, ok := narrow[f]
		if !ok {
			want = uint8(f.Width())
		}
		require.Equal(t, want, places[f].width, f.String())
		if p := places[f]; p.width < 128 {
			require.LessOrEqual(t, p.shift+p.width, uint8(64), f.String())
		}
	}
}

// shares lists the fields that a Key may keep in the same bits.
var shares = map[of.Field][]of.Field{
	of.IPSrc: {of.ARPSpa}, of.IPDst: {of.ARPTpa}, of.IPProto: {of.ARPOp},
	of.ARPSha: {of.NDSll}, of.ARPTha: {of.NDTll},
	of.TCPSrc:  {of.UDPSrc, of.SCTPSrc, of.ICMPType, of.ICMPv6Type},
	of.TCPDst:  {of.UDPDst, of.SCTPDst, of.ICMPCode, of.ICMPv6Code},
	of.VLANTCI: {of.VLANVID, of.VLANPCP},
}

func TestFieldsShareBitsOnlyAsInOVS(t *testing.T) {
	group := map[of.Field]of.Field{}
	for f, others := range shares {
		group[f] = f
		for _, o := range others {
			group[o] = f
		}
	}
	owner := map[[2]int]of.Field{}
	for _, f := range of.Fields() {
		if f >= of.XReg0 {
			continue
		}
		m := Mask(f)
		for w := range m {
			for b := range 64 {
				if m[w]>>b&1 == 0 {
					continue
				}
				o, taken := owner[[2]int{w, b}]
				require.True(t, !taken || group[f] == group[o] && group[f] != 0, "%v and %v share bits", f, o)
				owner[[2]int{w, b}] = f
			}
		}
	}
}

func TestSetThenGet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range of.Fields() {
		if f == of.VLANTCI || f == of.VLANVID || f == of.VLANPCP {
			continue // TestVLAN...
		}
		for range 50 {
			var k Key
			for i := range k {
				k[i] = r.Uint64()
			}
			before, v, mask := k, randomValue(r).And(f.Mask()), randomValue(r).And(f.Mask())
			k.SetMasked(f, v, mask)
			want := before.Get(f).AndNot(mask).Or(v.And(mask)).And(kept(f))
			require.Equal(t, want, k.Get(f), f.String())
			m := Mask(f)
			for i := range k {
				require.Equal(t, before[i]&^m[i], k[i]&^m[i], "%v changes other bits of word %d", f, i)
			}
		}
	}
}

func TestSubfields(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, f := range of.Fields() {
		if f == of.VLANTCI || f == of.VLANVID || f == of.VLANPCP || f == of.ARPOp || f == of.CTState {
			continue
		}
		for range 50 {
			width := 1 + r.IntN(f.Width())
			s := of.Subfield{Field: f, Offset: uint8(r.IntN(f.Width() - width + 1)), Width: uint8(width)}
			var k Key
			k.Set(f, randomValue(r))
			before, v := k.Get(f), randomValue(r).And(of.Ones(width))
			k.SetSub(s, v)
			require.Equal(t, v, k.GetSub(s), "%v[%d..%d]", f, s.Offset, int(s.Offset)+width-1)
			require.Equal(t, before.AndNot(s.Mask()), k.Get(f).AndNot(s.Mask()))
			sameByRef(t, s, k, randomValue(r).And(of.Ones(width)))
		}
	}
}

func TestWideRegistersOverlayNarrowOnes(t *testing.T) {
	var k Key
	k.Set(of.XXReg1, of.Value{Hi: 0x44444444_55555555, Lo: 0x66666666_77777777})
	require.Equal(t, of.U64(0x44444444), k.Get(of.Reg4))
	require.Equal(t, of.U64(0x55555555), k.Get(of.Reg5))
	require.Equal(t, of.U64(0x66666666), k.Get(of.Reg6))
	require.Equal(t, of.U64(0x77777777), k.Get(of.Reg7))
	require.Equal(t, of.U64(0x66666666_77777777), k.Get(of.XReg3))
	k.Set(of.XReg2, of.U64(1))
	require.Equal(t, of.Value{Hi: 1, Lo: 0x66666666_77777777}, k.Get(of.XXReg1))
}

// TestCompile holds k[i]&mask[i] == value[i] against the meaning of a match, term by term.
func TestCompile(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	all := of.Fields()
	for range 3000 {
		var k Key
		for i := range k {
			k[i] = r.Uint64()
		}
		var m of.Match
		for range 1 + r.IntN(4) {
			f := all[r.IntN(int(of.SCTPDst))]
			mask := f.Mask()
			if r.IntN(2) == 0 {
				mask = mask.And(randomValue(r)).And(randomValue(r))
			}
			v := k.Get(f)
			if r.IntN(8) == 0 {
				v = randomValue(r).And(mask)
			}
			m = m.WithMask(f, v.And(mask), mask)
		}
		want := true
		for _, term := range m.Terms() {
			bits := term.Mask.And(kept(term.Field))
			want = want && k.Get(term.Field).And(bits) == term.Value.And(bits)
		}
		value, mask := Compile(m)
		got := true
		for _, i := range mask.UsedWords() {
			got = got && k[i]&mask[i] == value[i]
		}
		require.Equal(t, want, got, "%v", m)
	}
}

func TestHidePorts(t *testing.T) {
	whole, fragment, arp := Key{}, Key{}, Key{}
	whole.Set(of.EthType, of.U64(of.EthTypeIPv4))
	fragment.Set(of.EthType, of.U64(of.EthTypeIPv4))
	arp.Set(of.EthType, of.U64(of.EthTypeARP))
	fragment.Set(of.IPFrag, of.U64(of.FragFirst))
	for _, k := range []*Key{&whole, &fragment, &arp} {
		k.Set(of.TCPSrc, of.U64(1000))
		k.Set(of.TCPDst, of.U64(80))
		k.Set(of.TCPFlags, of.U64(2))
		before := *k
		saved := k.HidePorts()
		if k == &fragment {
			require.Zero(t, k.tpSrc()|k.tpDst())
			require.Equal(t, of.U64(2), k.Get(of.TCPFlags))
		} else {
			require.Equal(t, before, *k)
		}
		k.ShowPorts(saved)
		require.Equal(t, before, *k)
	}
}

// sameByRef checks that a Ref does as GetSub and SetSub do.
func sameByRef(t *testing.T, s of.Subfield, k Key, v of.Value) {
	ref, other := NewRef(s), k
	require.Equal(t, k.GetSub(s), ref.Get(&k))
	k.SetSub(s, v)
	ref.Set(&other, v)
	require.Equal(t, k, other, "%v[%d..%d]", s.Field, s.Offset, s.Offset+s.Width-1)
}

func TestRefOfTag(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, f := range []of.Field{of.VLANTCI, of.VLANVID, of.VLANPCP} {
		for range 100 {
			width := 1 + r.IntN(f.Width())
			s := of.Subfield{Field: f, Offset: uint8(r.IntN(f.Width() - width + 1)), Width: uint8(width)}
			var k Key
			k.Set(of.VLANTCI, randomValue(r).And(of.Ones(16)))
			sameByRef(t, s, k, randomValue(r).And(of.Ones(width)))
		}
	}
}
