package packet_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
)

// The worked example of RFC 1071 section 3.
func TestChecksumOfTheRFC(t *testing.T) {
	b := []byte{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}
	require.Equal(t, ^uint16(0xddf2), packet.Checksum(b))
	require.Equal(t, packet.Checksum([]byte{1, 2, 3, 0}), packet.Checksum([]byte{1, 2, 3}), "an odd byte is padded")
	require.Equal(t, uint16(0xffff), packet.Checksum(nil))
}

// Updating agrees with summing again, except that zero has two spellings.
func TestUpdateAgainstSummingAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		b := make([]byte, 20)
		for i := range b {
			b[i] = byte(rng.Uint32() & rng.Uint32() & rng.Uint32()) // zeros are the corner
		}
		before := packet.Checksum(b)
		at := rng.IntN(9) * 2
		old := binary.BigEndian.Uint32(b[at:])
		fresh := rng.Uint32()
		binary.BigEndian.PutUint32(b[at:], fresh)
		require.Equal(t, packet.Checksum(b)%0xffff, packet.Update32(before, old, fresh)%0xffff)
		require.Equal(t, packet.Update32(before, old, fresh),
			packet.Update16(packet.Update16(before, uint16(old>>16), uint16(fresh>>16)), uint16(old), uint16(fresh)))
	}
}

// RFC 1624 section 4: the case its equation 3 gets right and older ones did not.
func TestUpdateOfTheRFC(t *testing.T) {
	require.Equal(t, uint16(0x0000), packet.Update16(0xdd2f, 0x5555, 0x3285))
}

func TestUpdateKeepsAWrongChecksumWrong(t *testing.T) {
	b := []byte{0x45, 0, 0, 20, 9, 9}
	wrong := packet.Checksum(b) - 7
	after := packet.Update16(wrong, 0x0909, 0x0a0a)
	b[4], b[5] = 10, 10
	require.Equal(t, packet.Checksum(b)-7, after)
}

func TestPseudoSum(t *testing.T) {
	segment := syn.Bytes()[34:]
	sum := packet.PseudoSum(client.As4(), vip.As4(), packet.ProtoTCP, len(segment))
	require.Zero(t, packet.Fold(packet.Sum(segment, sum)))
}

// TestSumAgainstWordByWord: however the bytes are taken, the sum is that of the 16-bit words.
func TestSumAgainstWordByWord(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 200 {
		b := make([]byte, n)
		for i := range b {
			b[i] = []byte{0, 0xff, byte(r.Uint32())}[r.IntN(3)]
		}
		for _, start := range []uint32{0, 1, 0xffff, 0x10001, 0x1fffe} {
			want := start
			for i, v := range b {
				want += uint32(v) << (8 * (1 - i%2))
			}
			require.Equal(t, packet.Fold(want), packet.Fold(packet.Sum(b, start)), "%d bytes from %#x", n, start)
		}
	}
}
