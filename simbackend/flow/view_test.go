package flow

import (
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
)

// TestViewIsTheKey: what a View tells of a frame is what its Key tells, and the mask of a View what is left of a Key's.
func TestViewIsTheKey(t *testing.T) {
	m := newMaker(4)
	read := 0
	for range 20_000 {
		frame := m.frame()
		var k Key
		var told, view, mask, masked View
		if _, ok := told.Read(frame, uint16(m.Uint32())); !ok {
			continue
		}
		read++
		Extract(frame, uint16(told[0]), &k)
		view.Of(&k)
		require.Equal(t, told, view)
		c := Connection{
			State: uint8(m.Uint32()), Proto: 6, Zone: uint16(m.Uint32()), Mark: m.Uint32(),
			Label: of.Value{Hi: m.Uint64(), Lo: m.Uint64()}, Src: m.Uint32(), Dst: m.Uint32(), SrcPort: 3, DstPort: 4,
		}
		k.SetConnection(&c)
		told.SetConnection(&c)
		view.Of(&k)
		require.Equal(t, told, view)
		keyMask := Mask(of.Field(1 + m.IntN(int(of.XXReg3))))
		mask.Of(&keyMask)
		for i := range k {
			k[i] &= keyMask[i]
		}
		masked.Of(&k)
		for i := range told {
			require.Equal(t, masked[i], told[i]&mask[i])
		}
	}
	require.Greater(t, read, 1_000)
}

// TestRefCoversWhatItWrites: the bits that a Ref adds to a mask are those that it writes.
func TestRefCoversWhatItWrites(t *testing.T) {
	m := newMaker(5)
	for range 20_000 {
		f := of.Field(1 + m.IntN(int(of.XXReg3)))
		if partOfTag(f) || places[f].width == 0 {
			continue
		}
		width := 1 + m.IntN(int(places[f].width))
		sub := of.Subfield{Field: f, Offset: uint8(m.IntN(int(places[f].width) - width + 1)), Width: uint8(width)}
		r := NewRef(sub)
		var written, mask Key
		written.SetSub(sub, of.Ones(width))
		r.AddTo(&mask)
		for i := range written {
			require.Zero(t, written[i]&^mask[i], "%v", sub)
			if width <= 64 && r.read != 0 {
				require.Equal(t, written[i], mask[i], "%v", sub)
			}
		}
	}
}
