package flow

import (
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
)

// TestChoiceIsTheMultipath: what a Choice chooses for a microflow is what the multipath chose on its changed fields.
func TestChoiceIsTheMultipath(t *testing.T) {
	m := newMaker(6)
	made, refused := 0, 0
	for range 20_000 {
		frame := m.frame()
		var v View
		if _, ok := v.Read(frame, 3); !ok {
			continue
		}
		var before, written, work Key
		Extract(frame, 3, &before)
		now := before
		for range m.IntN(4) {
			s := NewStore(of.SetField{
				Field: []of.Field{of.EthSrc, of.EthDst, of.IPSrc, of.IPDst, of.TCPSrc, of.TCPDst, of.IPTTL, of.InPort, of.Reg3}[m.IntN(9)],
				Value: of.U64(m.Uint64()), Mask: of.U64(m.Uint64()),
			})
			s.Apply(&now)
			s.AddTo(&written)
		}
		tagged := m.chance(10)
		if tagged {
			now.PushVLAN(of.EthTypeVLAN)
		}
		action := of.Multipath{Fields: of.HashFields(m.IntN(int(of.HashSymmetricL3L4UDP) + 1)), Basis: uint16(m.Uint32()), Algorithm: of.HashThreshold, Links: 1 + m.Uint32N(1<<16)}
		c, ok := NewChoice(action, &before, &now, &written)
		require.Equal(t, !tagged, ok)
		if !ok {
			refused++
			continue
		}
		made++
		c.Apply(&v, &work)
		require.Equal(t, uint64(Multipath(&now, &action)), v[viewLink])
		if now[wordSrc] ^= 1; written[wordSrc]&1 == 0 {
			_, ok = NewChoice(action, &before, &now, &written)
			require.False(t, ok, "what is not written is as before")
		}
	}
	require.Greater(t, made, 1_000)
	require.Greater(t, refused, 50)
}
