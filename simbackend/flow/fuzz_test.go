package flow

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
)

// FuzzExtractRewrite: any bytes and any change of fields are survived, the frame keeps its length but for
// tags, what follows the IP packet is not touched, and a second extraction is stable.
func FuzzExtractRewrite(f *testing.F) {
	m := newMaker(1)
	for i := range 60 {
		f.Add(m.frame(), uint64(i), i%3 == 0)
	}
	f.Add([]byte{}, uint64(0), false)
	f.Fuzz(func(t *testing.T, frame []byte, seed uint64, masked bool) {
		original := bytes.Clone(frame)
		var base Key
		l, ok := Extract(frame, 1, &base)
		require.Equal(t, original, frame, "extraction writes")
		require.Equal(t, len(frame) >= ethLen, ok)
		if !ok {
			return
		}
		within(t, frame, l)
		survives(t, frame, l, base, seed, masked)
	})
}

// within checks that a layout lies inside the frame.
func within(t *testing.T, frame []byte, l Layout) {
	require.Equal(t, len(frame), l.Len)
	require.LessOrEqual(t, int(l.L3), len(frame))
	if l.HasL4() {
		require.GreaterOrEqual(t, l.L4, l.L3+ipv4Len)
		require.GreaterOrEqual(t, l.L4Len(), 0)
	}
}

func survives(t *testing.T, frame []byte, l Layout, base Key, seed uint64, masked bool) {
	m := newMaker(seed)
	want, mask := base, (*Key)(nil)
	if masked {
		mask = new(Key)
		for i := range mask {
			mask[i] = m.Uint64()
		}
	}
	tags := base.tagCount()
	for range 4 {
		for range m.IntN(6) {
			m.scribble(&want)
		}
		var p Packet
		p.Load(frame, l)
		p.buffer = append(p.buffer, "beyond"...)[:len(p.buffer)]
		before := base
		p.Rewrite(&before, &want, mask)
		require.Equal(t, "beyond", string(p.buffer[len(p.buffer):][:6]), "writes beyond the frame")
		require.Len(t, p.Bytes(), p.Len)
		require.Equal(t, len(frame)+vlanLen*(want.tagCount()-tags), p.Len)
		require.Equal(t, frame[len(frame)-int(l.Pad):], p.Bytes()[p.Len-int(p.Pad):], "padding")
		within(t, p.Bytes(), p.Layout)
	}
}

// scribble writes anything anywhere that a frame has.
func (m maker) scribble(k *Key) {
	switch f := pick(m, of.Fields()...); {
	case m.chance(10):
		k.PushVLAN(pick[uint16](m, of.EthTypeVLAN, of.EthTypeQinQ))
	case m.chance(10):
		k.PopVLAN()
	case f == of.EthType || f == of.IPProto || f == of.IPFrag: // no action can
	case Present(k, f):
		k.SetMasked(f, randomValue(m.Rand), randomValue(m.Rand))
	}
}

// FuzzPrint: any Key and any mask can be printed.
func FuzzPrint(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		r := newMaker(a)
		var k, mask Key
		for i := range k {
			k[i], mask[i] = r.Uint64()&r.Uint64(), r.Uint64()&r.Uint64()&r.Uint64()>>(b%64)
		}
		k.Set(of.EthType, of.U64(pick[uint64](r, of.EthTypeIPv4, of.EthTypeIPv6, of.EthTypeARP, ethTypeMPLS, 0x88cc)))
		require.NotEmpty(t, Format(&k))
		require.NotEmpty(t, FormatMasked(&k, &mask, uint32(b)))
	})
}
