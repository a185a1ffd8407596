package flow

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// expanded is the Key of a microflow.
func (m *Microflow) expanded() (k Key) {
	m.Headers(&k)
	return k
}

// TestMicroflowIsTheKey: what Read says of a frame is what Extract says.
func TestMicroflowIsTheKey(t *testing.T) {
	m := newMaker(1)
	read := 0
	for range 50_000 {
		frame := m.frame()
		if m.chance(30) && len(frame) > 0 {
			frame = frame[:m.IntN(len(frame))]
		}
		if m.chance(30) && len(frame) > 0 {
			frame[m.IntN(len(frame))] ^= 1 << m.IntN(8)
		}
		var micro Microflow
		l, ok := micro.Read(frame, 7)
		if !ok {
			continue
		}
		read++
		var k Key
		want, ok := Extract(frame, 7, &k)
		require.True(t, ok)
		require.Equal(t, want, l, "%x", frame)
		require.Equal(t, k, micro.expanded(), "%x", frame)
	}
	require.Greater(t, read, 2_000)
}

// TestPatchIsTheRewrite changes the fields of microflows several times over, and of what conntrack has translated, by Patches and by
// Rewrite.
func TestPatchIsTheRewrite(t *testing.T) {
	m := newMaker(2)
	made := 0
	for range 50_000 {
		frame := m.frame()
		var micro Microflow
		l, ok := micro.Read(frame, 1)
		if !ok {
			continue
		}
		var fields Key
		Extract(frame, 1, &fields)
		var one, two Packet
		one.Load(frame, l)
		two.Load(frame, l)
		base := fields
		for range 3 {
			want := base
			for range m.IntN(4) {
				m.scribble(&want)
			}
			before := base
			patch, ok := NewPatch(&base, &want)
			if !ok {
				require.Equal(t, before, base)
				continue
			}
			made++
			two.Rewrite(&before, &want, nil)
			require.Equal(t, before, base)
			one.Apply(&patch)
			require.Equal(t, two.Bytes(), one.Bytes(), "%x", frame)
			require.Equal(t, fields.Endpoints() != before.Endpoints(), patch.MovesEndpoints())
			if patch.IsEmpty() {
				require.True(t, sameHeaders(&fields, &base))
			}
			fields = base
			if m.chance(20) { // the tracker writes, and the fields do not know
				at, v := 26+m.IntN(8), byte(m.Uint32())
				one.Bytes()[at], two.Bytes()[at] = v, v
			}
		}
	}
	require.Greater(t, made, 5_000)
}

// TestPatchLeavesTheRestAlone: no patch writes beyond a frame.
func TestPatchLeavesTheRestAlone(t *testing.T) {
	m := newMaker(3)
	for range 5_000 {
		frame := m.frame()
		var micro Microflow
		l, ok := micro.Read(frame, 1)
		if !ok {
			continue
		}
		base := micro.expanded()
		want := base
		m.scribble(&want)
		patch, ok := NewPatch(&base, &want)
		if !ok {
			continue
		}
		var p Packet
		p.Load(frame, l)
		p.buffer = append(p.buffer, "beyond"...)[:len(p.buffer)]
		p.Apply(&patch)
		require.Len(t, p.Bytes(), len(frame))
		require.Equal(t, "beyond", string(p.buffer[len(p.buffer):][:6]))
		require.True(t, bytes.Equal(frame[l.Len-int(l.Pad):], p.Bytes()[l.Len-int(l.Pad):]), "padding")
	}
}
