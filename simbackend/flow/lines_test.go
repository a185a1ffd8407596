package flow

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
)

// TestLinesAreThoseOfAppendPass writes lines of which each has most in common with the one before.
func TestLinesAreThoseOfAppendPass(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	types := []uint64{of.EthTypeIPv4, of.EthTypeIPv4, of.EthTypeIPv4, of.EthTypeIPv6, of.EthTypeARP, ethTypeMPLS, 0x1234}
	protos := []uint64{of.ProtoTCP, of.ProtoUDP, of.ProtoICMP, of.ProtoICMPv6, of.ProtoSCTP, protoIGMP, 99}
	values := func() of.Value {
		v := of.Value{Hi: r.Uint64() >> r.IntN(64), Lo: r.Uint64() >> r.IntN(64)}
		return [...]of.Value{{}, v, v, {Lo: v.Lo}, {Lo: 1}, {Hi: ^uint64(0), Lo: ^uint64(0)}}[r.IntN(6)]
	}
	fields := func() of.Field { return of.Field(1 + r.IntN(len(places)-1)) }
	var lines, other Lines
	k, recirc := tcpKey(), uint32(0)
	for n := range 100_000 {
		for range r.IntN(4) {
			k.Set(fields(), values())
		}
		switch r.IntN(10) {
		case 0:
			k.Set(of.EthType, of.U64(types[r.IntN(len(types))]))
			k.Set(of.IPProto, of.U64(protos[r.IntN(len(protos))]))
		case 1:
			k[r.IntN(Words)] = values().Lo
		case 2:
			recirc = uint32(r.IntN(3)) * 0x1234
		case 3:
			k.Set(of.ICMPv6Type, of.U64(ndSolicit+r.Uint64N(2)))
			k.Set(of.ICMPv6Code, of.Value{})
		case 4:
			k = tcpKey()
		case 5:
			lines.Follow(&other)
		case 6:
			lines = Lines{}
		case 7:
			other.Append(nil, &k, recirc)
		case 8:
			k.Set(of.IPFrag, of.U64(r.Uint64N(4)))
		}
		before := []byte("before"[:r.IntN(7)])
		want := string(AppendPass(before, &k, recirc))
		require.Equal(t, want, string(lines.Append(before, &k, recirc)), "line %d", n)
	}
}

// BenchmarkLines writes what a frame has on entry, and what it has in the end.
func BenchmarkLines(b *testing.B) {
	var k Key
	Extract(sample(false), 1, &k)
	end := k
	translation(&end)
	text := make([]byte, 0, 1000)
	b.Run("whole", func(b *testing.B) {
		for b.Loop() {
			AppendPass(text, &k, 0)
		}
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			var lines Lines
			lines.Append(text, &k, 0)
		}
	})
	b.Run("next", func(b *testing.B) {
		var lines Lines
		for b.Loop() {
			lines.Append(text, &k, 0)
			lines.Append(text, &end, 0)
		}
	})
}
