package flow

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"

	of "hpnn/datapath/openflow"
	"hpnn/internal/packet"
)

// maker makes frames: sound ones by default, damaged ones by its will.
type maker struct{ *rand.Rand }

func newMaker(seed uint64) maker { return maker{rand.New(rand.NewPCG(seed, 42))} }

func (m maker) chance(percent int) bool { return m.IntN(100) < percent }

func (m maker) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(m.Uint32())
	}
	return b
}

func pick[T any](m maker, choices ...T) T { return choices[m.IntN(len(choices))] }

// be appends the low n bytes of v.
func be(b []byte, n int, v uint64) []byte {
	for i := n - 1; i >= 0; i-- {
		b = append(b, byte(v>>(8*i)))
	}
	return b
}

func (m maker) mac() []byte {
	return pick(m, []byte{2, 0, 0, 0, 0, 1}, []byte{2, 0, 0, 0, 0, 2}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, make([]byte, 6), m.bytes(6))
}

// frame is a random frame, seldom damaged.
func (m maker) frame() []byte {
	f := m.whole()
	for m.chance(15) {
		f = m.damage(f)
	}
	return f
}

// whole is a random frame whose lengths and checksums agree.
func (m maker) whole() []byte {
	f := append(m.mac(), m.mac()...)
	for m.chance(25) {
		f = be(f, 2, pick[uint64](m, 0x8100, 0x8100, 0x88a8, 0x9100))
		f = be(f, 2, m.Uint64())
	}
	ethType, payload := m.payload()
	if m.chance(5) { // RFC 1042
		header := be(nil, 8, 0xaaaa03_000000<<16|ethType)
		payload = append(header, payload...)
		ethType = uint64(len(payload))
	}
	f = append(be(f, 2, ethType), payload...)
	return append(f, m.bytes(pick(m, 0, 0, m.IntN(30)))...)
}

// damage cuts, extends or scribbles.
func (m maker) damage(f []byte) []byte {
	switch m.IntN(4) {
	case 0:
		return f[:max(ethLen, m.IntN(len(f)+1))]
	case 1:
		return append(f, m.bytes(m.IntN(20))...)
	case 2:
		f[m.IntN(len(f))] ^= 1 << m.IntN(8)
	default:
		at := max(0, min(len(f)-1, ethLen-2+m.IntN(60)))
		f[at] = pick(m, 0, 1, 0x45, 0xff, byte(m.Uint32()))
	}
	return f
}

func (m maker) payload() (ethType uint64, payload []byte) {
	switch n := m.IntN(100); {
	case n < 50:
		return of.EthTypeIPv4, m.ipv4()
	case n < 82:
		return of.EthTypeIPv6, m.ipv6()
	case n < 94:
		return pick[uint64](m, of.EthTypeARP, of.EthTypeARP, of.EthTypeRARP), m.arp()
	case n < 96:
		return pick[uint64](m, ethTypeMPLS, ethTypeMPLSm), m.bytes(m.IntN(40))
	}
	return pick[uint64](m, 0x88cc, 0x0027, 0x8899, 0x0600, 0x05ff, m.Uint64()), m.bytes(m.IntN(60))
}

func (m maker) arp() []byte {
	b := be(nil, 8, 0x0001_0800_0604_0000|pick[uint64](m, 1, 2, 1, 2, 0, 3, 0x101, 0xff))
	b = append(append(b, m.mac()...), m.ipv4Addr()...)
	return append(append(b, m.mac()...), m.ipv4Addr()...)
}

func (m maker) ipv4Addr() []byte {
	return pick(m, []byte{10, 0, 0, 1}, []byte{10, 0, 0, 2}, []byte{255, 255, 255, 255}, make([]byte, 4), m.bytes(4))
}

func (m maker) ipv6Addr() []byte {
	a := append([]byte{0xfd}, make([]byte, 15)...)
	a[15] = byte(m.IntN(3))
	return pick(m, a, a, make([]byte, 16), m.bytes(16))
}

func (m maker) ipv4() []byte {
	src, dst := m.ipv4Addr(), m.ipv4Addr()
	proto := pick[uint8](m, 6, 6, 6, 17, 17, 17, 1, 1, 132, 2, 47, 58, 0, byte(m.Uint32()))
	fragment := uint64(pick(m, 0, 0x4000, 0x8000, 0x4000, 0, 0, 0x2000, 0x2010, 0x0001, m.IntN(1<<16)))
	options := m.bytes(4 * pick(m, 0, 0, 0, 0, 1, 10))
	pseudo := packet.PseudoSum([4]byte(src), [4]byte(dst), proto, 0)
	l4 := m.transport(proto, pseudo)
	b := []byte{0x45 + byte(len(options)/4), byte(m.Uint32())}
	b = be(b, 2, uint64(20+len(options)+len(l4)))
	b = be(be(b, 2, m.Uint64()), 2, fragment)
	b = append(b, pick[byte](m, 0, 1, 2, 64, 255, byte(m.Uint32())), proto, 0, 0)
	b = append(append(append(b, src...), dst...), options...)
	binary.BigEndian.PutUint16(b[10:], packet.Checksum(b))
	return append(b, l4...)
}

func (m maker) ipv6() []byte {
	src, dst := m.ipv6Addr(), m.ipv6Addr()
	proto := pick[uint8](m, 6, 6, 17, 17, 58, 58, 58, 58, 132, 47, 59, 1, byte(m.Uint32()))
	body := m.transport(proto, packet.Sum(dst, packet.Sum(src, uint32(proto))))
	for m.chance(25) {
		proto, body = m.extension(proto, body)
	}
	b := be(nil, 4, 6<<28|m.Uint64()&0xfffffff)
	b = append(be(b, 2, uint64(len(body))), proto, pick[byte](m, 0, 1, 64, 255))
	return append(append(append(b, src...), dst...), body...)
}

// extension puts an extension header in front of body.
func (m maker) extension(proto uint8, body []byte) (uint8, []byte) {
	kind := pick[uint8](m, 0, 43, 43, 60, 51, 44, 44, 44)
	var b []byte
	switch kind {
	case 44:
		b = []byte{proto, 0}
		b = be(b, 2, uint64(pick(m, 0, 0, 1, 1, 8, 9, 2, 4, m.IntN(1<<16))))
		b = append(b, m.bytes(4)...)
	case 51:
		n := pick(m, 0, 1, 4)
		b = append([]byte{proto, byte(n)}, m.bytes(4*n+6)...)
	default:
		n := pick(m, 0, 0, 1, 2)
		b = append([]byte{proto, byte(n)}, m.bytes(8*n+6)...)
		b[3] = pick[byte](m, 0, 0, 1, 2)
	}
	return kind, append(b, body...)
}

// transport is the payload of an IP packet, with a right checksum if the protocol has one. pseudo
// is the sum of the pseudo-header but for the length.
func (m maker) transport(proto uint8, pseudo uint32) []byte {
	data := m.bytes(pick(m, 0, 1, 8, m.IntN(40)))
	ports := append(be(nil, 2, uint64(pick(m, 80, 1000, m.IntN(1<<16)))), be(nil, 2, uint64(pick(m, 80, 53, m.IntN(1<<16))))...)
	var b []byte
	at := -1
	switch proto {
	case of.ProtoTCP:
		options := m.bytes(4 * pick(m, 0, 0, 1, 10))
		b = append(ports, m.bytes(8)...)
		b = be(b, 2, uint64(5+len(options)/4)<<12|m.Uint64()&0xfff)
		b = append(append(append(b, m.bytes(2)...), 0, 0, 0, 0), options...)
		at = 16
	case of.ProtoUDP:
		b = append(be(ports, 2, uint64(8+len(data))), 0, 0)
		at = pick(m, 6, 6, 6, -1)
	case of.ProtoICMP:
		b = append([]byte{pick[byte](m, 8, 0, 3, 11, 13), pick[byte](m, 0, 0, 1), 0, 0}, m.bytes(4)...)
		at, pseudo = 2, ^uint32(0)
	case of.ProtoICMPv6:
		b, at = m.icmpv6(), 2
	case of.ProtoSCTP:
		b = append(append(ports, m.bytes(4)...), 0, 0, 0, 0)
		b = append(b, data...)
		binary.LittleEndian.PutUint32(b[8:], crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
		return b
	}
	b = append(b, data...)
	if at < 0 {
		return b
	}
	sum := pseudo + uint32(len(b))
	if pseudo == ^uint32(0) {
		sum = 0
	}
	binary.BigEndian.PutUint16(b[at:], packet.Fold(packet.Sum(b, sum)))
	if proto == of.ProtoUDP && b[6] == 0 && b[7] == 0 {
		b[6], b[7] = 0xff, 0xff
	}
	return b
}

func (m maker) icmpv6() []byte {
	b := []byte{pick[byte](m, 135, 136, 135, 136, 133, 134, 128, 1), pick[byte](m, 0, 0, 0, 1), 0, 0}
	b = append(append(b, m.bytes(4)...), m.ipv6Addr()...)
	for m.chance(60) {
		n := pick(m, 1, 1, 1, 1, 2, 0)
		b = append(b, pick[byte](m, 1, 2, 1, 2, 3, 5), byte(n))
		b = append(b, append(m.mac(), m.bytes(8*max(1, n)-8)...)...)
	}
	return b
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	require.NoError(t, err)
	return b
}
